// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/**
 * What a node has counted since its start.
 *
 * @param connections open now
 * @param connected connections ever made
 * @param lost connections that ended otherwise than in order
 * @param received messages and requests taken from other nodes and this one
 * @param dropped messages that nobody could take
 * @param failed receivers and request handlers that threw, and consumers and executors of {@link
 *     ResponseFuture#whenDone}
 * @param lateResponses responses for which nobody waited any more
 * @param forgotten requests that request handlers have kept and thrown away without a response
 * @param stalled claims of room in a ring that were found open for a millisecond or longer
 * @param openRequests requests under way from here
 */
public record NodeCounters(
    int connections,
    long connected,
    long lost,
    long received,
    long dropped,
    long failed,
    long lateResponses,
    long forgotten,
    long stalled,
    int openRequests) {}
