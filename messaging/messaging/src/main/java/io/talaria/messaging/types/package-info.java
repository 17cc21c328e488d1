// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The types that a program has registered with a node: {@link Types} has a {@link TypeEntry} of
 * each, with its codec, and with the {@link Target}s to which its messages and requests are
 * delivered. Fixed when the node starts.
 */
package io.talaria.messaging.types;
