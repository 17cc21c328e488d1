// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * What a peer must know of a queue pair to connect to it; told by some other way, such as a socket.
 *
 * @param number of the queue pair
 * @param packetNumber of the first packet it sends, 24 bits
 * @param lid the local identifier of its port; 0 on Ethernet
 * @param gid the global identifier of its port; {@link Gid#NONE}: none
 */
public record QueuePairAddress(int number, int packetNumber, int lid, Gid gid) {
  /** Checks the ranges. */
  public QueuePairAddress {
    Bits.inRange(number, 0, 0xffffff, "the number of the queue pair");
    Bits.inRange(packetNumber, 0, 0xffffff, "the packet number");
    Bits.inRange(lid, 0, 0xffff, "the LID");
  }
}
