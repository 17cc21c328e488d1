// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Messages and requests between the nodes of a Java cluster, at most once and in order: {@link
 * io.talaria.messaging.Node} is where to begin.
 */
package io.talaria.messaging;
