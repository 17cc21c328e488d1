// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.Gid;
import io.talaria.verbs.QueuePairAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * What each side tells the other, in 64 bytes: node 8, queue pair 4, packet number 4, LID 4, GID
 * 16, MTU 4, slice 4, window 4, reads 4, longest large message 8, zero 4.
 *
 * @param node a random number
 * @param address of the queue pair
 * @param mtuBytes the longest packet of the port
 * @param sliceBytes the longest message that is not large
 * @param window how many messages may be sent at first
 * @param reads how many reads and atomics are worked on at once
 * @param largeBytes the longest large message
 */
record Offer(
    long node,
    QueuePairAddress address,
    int mtuBytes,
    int sliceBytes,
    int window,
    int reads,
    long largeBytes) {
  static final int BYTES = 64;

  byte[] toBytes() {
    ByteBuffer body = ByteBuffer.allocate(BYTES);
    body.putLong(node).putInt(address.number()).putInt(address.packetNumber());
    body.putInt(address.lid()).put(address.gid().toBytes()).putInt(mtuBytes).putInt(sliceBytes);
    body.putInt(window).putInt(reads).putLong(largeBytes);
    return body.array();
  }

  static Offer of(ByteBuffer body) throws ExchangeException {
    try {
      long node = body.getLong();
      int number = body.getInt();
      int packetNumber = body.getInt();
      int lid = body.getInt();
      byte[] gid = new byte[Gid.BYTES];
      body.get(gid);
      Offer offer =
          new Offer(
              node,
              new QueuePairAddress(number, packetNumber, lid, Gid.of(gid)),
              body.getInt(),
              body.getInt(),
              body.getInt(),
              body.getInt(),
              body.getLong());
      offer.check();
      return offer;
    } catch (IllegalArgumentException | BufferUnderflowException e) {
      throw new ExchangeException("the peer offers nonsense: " + e.getMessage(), e);
    }
  }

  /** Throws IllegalArgumentException if it makes no sense. */
  void check() {
    if (Integer.bitCount(mtuBytes) != 1 || mtuBytes < 256 || mtuBytes > 4096) {
      throw new IllegalArgumentException("an MTU of " + mtuBytes + " bytes");
    }
    if (sliceBytes < LargeMessages.HEADER_BYTES || sliceBytes > 1 << 20) {
      throw new IllegalArgumentException("slices of " + sliceBytes + " bytes");
    }
    if (window < 1 || window > Immediate.MAX_CREDITS) {
      throw new IllegalArgumentException("a window of " + window + " messages");
    }
    if (reads < 0 || reads > 255) {
      throw new IllegalArgumentException(reads + " reads at once");
    }
    if (largeBytes < 0) {
      throw new IllegalArgumentException("large messages of " + largeBytes + " bytes");
    }
  }
}
