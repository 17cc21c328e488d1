// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.talaria.verbs.Gid;
import io.talaria.verbs.QueuePairAddress;
import java.lang.foreign.MemorySegment;

/**
 * What two ranks tell each other before their queue pairs are connected, as the payload of a frame.
 *
 * <pre>
 *  0         4          8       12    16           20    24    28      32
 *  | version | QP number | packet | LID | packet bytes | window | frame | reads | GID (16) |
 * </pre>
 *
 * @param address of the queue pair
 * @param mtuBytes the longest packet of the port
 * @param window frames that may be under way to the one who says this
 * @param frameBytes the longest frame
 * @param reads how many reads of the peer are worked on at once
 */
record Introduction(QueuePairAddress address, int mtuBytes, int window, int frameBytes, int reads) {
  /** Bytes of the payload. */
  static final int BYTES = 48;

  private static final int VERSION = 0x54414c01;
  private static final int MAX_READS = 255;

  void write(MemorySegment to, long at) {
    int[] words = {
      VERSION,
      address.number(),
      address.packetNumber(),
      address.lid(),
      mtuBytes,
      window,
      frameBytes,
      reads
    };
    for (int i = 0; i < words.length; i++) {
      to.set(JAVA_INT_UNALIGNED, at + 4L * i, words[i]);
    }
    MemorySegment.copy(address.gid().toBytes(), 0, to, JAVA_BYTE, at + 32, Gid.BYTES);
  }

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Introduction read(MemorySegment from, long at) {
    int[] words = new int[8];
    for (int i = 0; i < words.length; i++) {
      words[i] = from.get(JAVA_INT_UNALIGNED, at + 4L * i);
    }
    if (words[0] != VERSION) {
      throw new IllegalArgumentException("an introduction of another version");
    }
    byte[] gid = new byte[Gid.BYTES];
    MemorySegment.copy(from, JAVA_BYTE, at + 32, gid, 0, Gid.BYTES);
    if (words[7] < 0 || words[7] > MAX_READS) {
      throw new IllegalArgumentException("an introduction with " + words[7] + " reads");
    }
    return new Introduction(
        new QueuePairAddress(words[1], words[2], words[3], Gid.of(gid)),
        words[4],
        words[5],
        words[6],
        words[7]);
  }
}
