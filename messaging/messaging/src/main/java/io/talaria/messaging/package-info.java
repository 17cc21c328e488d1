// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Sends messages and requests between the nodes of a Java cluster, at most once and in order. Start
 * with {@link io.talaria.messaging.Node}.
 */
package io.talaria.messaging;
