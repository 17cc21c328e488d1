// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * A node as its program uses it: the API's {@link io.talaria.messaging.Node}, {@link
 * io.talaria.messaging.Peer} and {@link io.talaria.messaging.ResponseFuture}, made of the parts of
 * {@link io.talaria.messaging.engine}, which does not know this package.
 *
 * <ul>
 *   <li>{@link LocalNode} creates the node's parts and connects them. {@link Networks} opens the
 *       network transports, each a {@link Network}; {@link Shutdown} closes the node.
 *   <li>{@link RemotePeer} is a node to send to, and has one connection at a time. A {@link
 *       Connector} makes, watches and ends connections.
 *   <li>{@link MultiSend} sends to several nodes, {@link LargeSend} sends in slices. {@link
 *       StallDetector} reports threads that do not finish a record.
 *   <li>{@link PendingResponse} is the future of a request.
 * </ul>
 *
 * <p>Of the API, {@link io.talaria.messaging.Nodes} alone names this package.
 */
package io.talaria.messaging.node;
