// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The engine of a node: its peers and connections, the poller that receives, the dispatch to
 * receivers, and requests and their responses. It uses the transports through {@link
 * io.talaria.messaging.transport.Link}.
 *
 * <p>The classes, by job:
 *
 * <ul>
 *   <li>The node: {@link LocalNode} creates its parts and connects them. {@link Networks} opens the
 *       network transports, each a {@link Network}, {@link NodeEvents} reports events and {@link
 *       Counts} counts them, {@link Shutdown} closes the node. {@link Thrown} makes texts of
 *       throwables.
 *   <li>Connections: {@link RemotePeer} is a node to send to, and has one {@link Connection} at a
 *       time. A {@link Connector} makes, watches and ends them, and runs tasks later by {@link
 *       Timers}. {@link Closing} is how one closes, and {@link Positions} remembers what ended
 *       connections had delivered.
 *   <li>Sending: {@link Sender} puts records into rings, with {@link Waiters}; {@link MultiSend}
 *       sends to several nodes. {@link LargeSend} and {@link LargeTransfers} send in slices, {@link
 *       Outbox} sends later. {@link StallDetector} reports threads that do not finish a record.
 *   <li>Receiving: {@link Poller} has all connections receive, or {@link Leading} has a thread that
 *       waits for a response do so. {@link RecordReceiver} reads the records, and {@link
 *       Reassembly} joins slices, within {@link LargeMemory}.
 *   <li>Delivering: {@link Delivery} calls receivers and request handlers, at once or through an
 *       {@link Inbox} of {@link Envelope}s, whose bytes {@link SlabWriter} copies into a {@link
 *       Slab} of the {@link SlabPool}. {@link Holds} slows senders down, {@link DeliveryTracker}
 *       computes what was delivered, {@link Rejections} reports what cannot be.
 *   <li>Requests: {@link PendingResponse} is the future of the requester, which waits in a {@link
 *       ResponseSlot} of the {@link ResponseSlots}; {@link ReceivedRequest} is what a request
 *       handler gets. {@link Responses} carries responses in both directions.
 * </ul>
 *
 * <p>They are one package because the jobs meet in two classes: a {@link Connection} has a part for
 * each job, {@link LocalNode} has the parts that all connections share, and the parts reach each
 * other through these two.
 *
 * <p>Of the API, {@link io.talaria.messaging.Nodes} alone names this package.
 */
package io.talaria.messaging.engine;
