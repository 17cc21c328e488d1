// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.verbs.Gid;
import io.talaria.verbs.QueuePairAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Describes what the queue pair of a connection carries, and what the two sides tell each other of
 * it, little-endian. Each message is one frame, or nothing.
 *
 * <pre>
 *   frames  length 4 | skipped 4 | kind 1 | priority 1 | 0 2 | number 4 | length bytes
 *   DATA, CREDIT   as on a stream of TCP, with the connection's number for the magic
 *   END     3   nothing more is sent on this connection
 *
 *   immediate word   of each message: how many frames of the other side were received, and their
 *                    receive requests posted again, since the connection began
 *
 *   introduction   queue pair 4 | first packet 4 | LID 4 | longest packet 4 | window 4 | frame 4 | GID 16
 *     window   frames that the other side may send before it has heard of their receipt
 *     frame    bytes of the longest one
 * </pre>
 */
final class VerbsLayout {
  static final int HEADER_BYTES = 16;
  static final int CREDIT_FRAME_BYTES = 40;
  static final int KIND = 8;
  static final int NUMBER = 12;

  static final byte DATA = 1;
  static final byte CREDIT = 2;
  static final byte END = 3;

  /** The maximum bytes of records in a frame; the largest record has as many. */
  static final int MAX_DATA = 32 << 10;

  static final int MAX_FRAME_BYTES = HEADER_BYTES + MAX_DATA;

  /** Frames on their way whose receipt the sender has not heard of. */
  static final int WINDOW = 16;

  /**
   * Messages without a frame, which only carry the word, that may be on their way: the receiver
   * sends one for half a window, and two at most before it hears of the sender again.
   */
  static final int WORDS = 3;

  static final int INTRODUCTION_BYTES = 24 + Gid.BYTES;
  private static final int MAX_24_BITS = 0xffffff;
  private static final int MAX_LID = 0xffff;

  private VerbsLayout() {}

  /**
   * What one side tells the other.
   *
   * @param address of its queue pair
   * @param mtuBytes the longest packet of its port
   */
  record Introduction(QueuePairAddress address, int mtuBytes) {
    byte[] bytes() {
      ByteBuffer to = ByteBuffer.allocate(INTRODUCTION_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      to.putInt(address.number()).putInt(address.packetNumber()).putInt(address.lid());
      to.putInt(mtuBytes).putInt(WINDOW).putInt(MAX_FRAME_BYTES);
      return to.put(address.gid().toBytes()).array();
    }

    static Introduction of(byte[] bytes) throws ProtocolException {
      if (bytes.length != INTRODUCTION_BYTES) {
        throw new ProtocolException(bytes.length + " bytes about verbs");
      }
      ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      int number = from.getInt();
      int packet = from.getInt();
      int lid = from.getInt();
      int mtu = from.getInt();
      int window = from.getInt();
      int frame = from.getInt();
      if (window != WINDOW || frame != MAX_FRAME_BYTES) {
        throw new ProtocolException(
            "it sends "
                + window
                + " frames of "
                + frame
                + " bytes at a time, here it is "
                + WINDOW
                + " of "
                + MAX_FRAME_BYTES);
      }
      if (Integer.bitCount(mtu) != 1 || mtu < 256 || mtu > 4096) {
        throw new ProtocolException("packets of " + mtu + " bytes");
      }
      if (outside(number, MAX_24_BITS) || outside(packet, MAX_24_BITS) || outside(lid, MAX_LID)) {
        throw new ProtocolException("queue pair " + number + ", " + packet + " at LID " + lid);
      }
      byte[] gid = new byte[Gid.BYTES];
      from.get(gid);
      return new Introduction(new QueuePairAddress(number, packet, lid, Gid.of(gid)), mtu);
    }

    private static boolean outside(int value, int most) {
      return value < 0 || value > most;
    }
  }
}
