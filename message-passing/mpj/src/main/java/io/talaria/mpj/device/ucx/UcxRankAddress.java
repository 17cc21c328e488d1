// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import io.talaria.ucx.WorkerAddress;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * How a rank is reached by UCX, as one line that others are given.
 *
 * <pre>ucx RELEASE BYTE-ORDER ADDRESS-IN-HEXADECIMAL</pre>
 *
 * @param release of UCX there, such as 1.13.1
 * @param order of bytes in memory there
 * @param address of its worker
 */
record UcxRankAddress(String release, String order, WorkerAddress address) {
  private static final String KIND = "ucx";

  static UcxRankAddress of(String release, WorkerAddress address) {
    return new UcxRankAddress(release, ByteOrder.nativeOrder().toString(), address);
  }

  String write() {
    return KIND + " " + release + " " + order + " " + HexFormat.of().formatHex(address.toBytes());
  }

  /**
   * Reads one.
   *
   * @param line of {@link #write}
   * @throws IllegalArgumentException if it is none, or not whole
   */
  static UcxRankAddress read(String line) {
    String[] words = line.trim().split(" ");
    if (words.length != 4 || !words[0].equals(KIND)) {
      throw new IllegalArgumentException("a rank address that is not of ucxdev: " + line);
    }
    byte[] address = HexFormat.of().parseHex(words[3]);
    return new UcxRankAddress(words[1], words[2], WorkerAddress.of(address));
  }

  /**
   * Checks that this rank can exchange frames with that one.
   *
   * @param rank whose rank address it is
   * @param mine of this rank
   * @throws IllegalArgumentException naming what differs
   */
  void check(int rank, UcxRankAddress mine) {
    if (!release.equals(mine.release)) {
      throw new IllegalArgumentException(
          "rank "
              + rank
              + " has UCX "
              + release
              + ", this rank "
              + mine.release
              + ": install the same release on all hosts, or use -dev nio");
    }
    if (!order.equals(mine.order)) {
      throw new IllegalArgumentException(
          "rank " + rank + "'s memory is " + order + ", this rank's " + mine.order);
    }
  }
}
