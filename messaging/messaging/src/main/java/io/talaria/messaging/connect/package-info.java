// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Makes, watches and ends the connections of a node, on the one thread of the {@link Conductor}.
 *
 * <ul>
 *   <li>{@link Dialer} calls other nodes, {@link Acceptor} is called at the {@link Listeners}; both
 *       have {@link Handshakes}, each a {@link PendingHandshake} on a channel.
 *   <li>{@link NodeSecurity}, {@link TransportChoice} and {@link PeerTypes} decide what comes of a
 *       handshake; {@link Identity}, {@link PeerStates}, {@link PeerState} and {@link
 *       RunDirectories} serve them.
 *   <li>{@link ConnectionTable} keeps the connections that came of them, and closes those that are
 *       idle or dead ({@link Liveness}).
 *   <li>{@link StatePublisher} writes the counters file, {@link PublishedState} formats it.
 * </ul>
 *
 * <p>It uses {@link io.talaria.messaging.node}, which knows it as a {@link
 * io.talaria.messaging.node.Connector} only.
 */
package io.talaria.messaging.connect;
