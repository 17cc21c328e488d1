// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Implements transport verbs: one RDMA port a node, and one queue pair for each connection.
 *
 * <ul>
 *   <li>{@link io.talaria.messaging.verbs.VerbsTransport} owns all, and exchanges with other nodes
 *       what their queue pairs must know ({@link io.talaria.messaging.verbs.VerbsLayout}). {@link
 *       io.talaria.verbs.ActivePort} is the port.
 *   <li>{@link io.talaria.messaging.verbs.VerbsReceiver} has the shared receive queue and its
 *       buffers, {@link io.talaria.messaging.verbs.VerbsSender} the thread that sends, with the
 *       {@link io.talaria.messaging.verbs.InterestList}.
 *   <li>{@link io.talaria.messaging.verbs.VerbsChannel} is a queue pair, {@link
 *       io.talaria.messaging.verbs.VerbsLink} the rings of the connection on it. {@link
 *       io.talaria.messaging.verbs.ChannelTable} finds them.
 * </ul>
 *
 * <p>Only this package uses {@code io.talaria.verbs}, which may be absent. Nothing here is used
 * before {@link io.talaria.messaging.verbs.VerbsTransport#open}, which says what is missing.
 */
package io.talaria.messaging.verbs;
