// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The connections of a node: the poller that receives, the dispatch to receivers, and requests and
 * their responses. It uses the transports through {@link io.talaria.messaging.transport.Link}, and
 * knows the node as the {@link ConnectionOwner} and its peers as {@link ConnectionPeer}s.
 *
 * <p>The classes, by job:
 *
 * <ul>
 *   <li>A {@link Connection} has a part for each job. {@link Closing} is how it ends. {@link
 *       NodeEvents} reports what happens to connections and messages.
 *   <li>Sending: {@link Sender} puts records into rings. {@link LargeTransfers} counts what goes in
 *       slices, {@link Outbox} sends later.
 *   <li>Receiving: {@link Poller} has all connections receive, or {@link Leading} has a thread that
 *       waits for a response do so; {@link Gathering} lets messages gather. {@link RecordReceiver}
 *       reads the records, and {@link Reassembly} joins slices, within {@link LargeMemory}.
 *   <li>Delivering: {@link Delivery} calls receivers and request handlers, at once or through an
 *       {@link Inbox} of {@link Envelope}s, whose bytes {@link SlabWriter} copies. {@link Holds}
 *       slows senders down, {@link Rejections} reports what cannot be delivered.
 *   <li>Requests: {@link Responses} carries responses in both directions. The requester waits at a
 *       {@link ResponseSlot} of the {@link ResponseSlots}; {@link ReceivedRequest} is what a
 *       request handler gets.
 * </ul>
 *
 * <p>They are one package because the jobs meet in the {@link Connection}: its parts reach each
 * other through it.
 */
package io.talaria.messaging.engine;
