// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * What a queue pair is set to ({@code ibv_query_qp}).
 *
 * @param state where it is
 * @param mtuBytes the longest packet
 * @param receivePacketNumber what it expects next
 * @param sendPacketNumber what it sends next
 * @param peerNumber the number of the peer's queue pair
 * @param key of datagrams
 * @param port of this host
 * @param timeout exponent of the time-out
 * @param retries how often it sends again
 * @param notReadyRetries how often it sends again to a peer without receive request
 */
public record QueuePairAttributes(
    QueuePair.State state,
    int mtuBytes,
    int receivePacketNumber,
    int sendPacketNumber,
    int peerNumber,
    int key,
    int port,
    int timeout,
    int retries,
    int notReadyRetries) {}
