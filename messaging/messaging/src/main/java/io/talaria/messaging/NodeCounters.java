// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * A snapshot of what a node has counted since its start.
 *
 * @param connections connections that are open now
 * @param connected connections made since the start
 * @param lost connections that ended without an orderly close
 * @param received messages and requests handed to receivers and request handlers, from other nodes
 *     and from this one
 * @param dropped messages and requests dropped: no receiver, another type, or bytes that cannot be
 *     read
 * @param failed exceptions thrown by receivers, by request handlers, and by consumers and executors
 *     of {@link ResponseFuture#whenDone}
 * @param lateResponses responses that arrived after their request had ended
 * @param unanswered requests that became unreachable without a response
 * @param stalled claims of ring space that stayed open for a millisecond or longer
 * @param openRequests requests of this node that wait for a response now
 */
public record NodeCounters(
    int connections,
    long connected,
    long lost,
    long received,
    long dropped,
    long failed,
    long lateResponses,
    long unanswered,
    long stalled,
    int openRequests) {}
