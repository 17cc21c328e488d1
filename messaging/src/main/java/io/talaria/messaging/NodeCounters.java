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
 * @param failed receivers and answerers that threw
 * @param lateAnswers answers for which nobody waited any more
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
    int openCalls) {}
