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
 * @param failed receivers and answerers that threw, and consumers and executors of {@link
 *     Call#whenDone}
 * @param lateAnswers answers for which nobody waited any more
 * @param forgotten questions that answerers have kept and thrown away without an answer
 * @param stalled claims of room in a ring that were found open for a millisecond or longer
 * @param openCalls questions under way from here
 */
public record NodeCounters(
    int connections,
    long connected,
    long lost,
    long received,
    long dropped,
    long failed,
    long lateAnswers,
    long forgotten,
    long stalled,
    int openCalls) {}
