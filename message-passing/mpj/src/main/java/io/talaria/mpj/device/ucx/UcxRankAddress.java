// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ucx;

import io.talaria.nio.process.Host;
import io.talaria.ucx.WorkerAddress;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * How a rank is reached by UCX, as one line that others are given.
 *
 * <pre>ucx RELEASE BYTE-ORDER BOOT-ID NETWORK-NAMESPACE ADDRESS-IN-HEXADECIMAL</pre>
 *
 * @param release of UCX there, such as 1.13.1
 * @param order of bytes in memory there
 * @param bootId of the host; «-» if it is not known
 * @param namespace for networks of that process, such as {@code net:[4026531840]}; «-» if it is not
 *     known
 * @param address of its worker
 */
record UcxRankAddress(
    String release, String order, String bootId, String namespace, WorkerAddress address) {
  /** With the version of the frames that such a rank reads. */
  private static final String KIND = "ucx2";

  private static final String UNKNOWN = "-";

  static UcxRankAddress of(String release, WorkerAddress address) {
    return new UcxRankAddress(
        release,
        ByteOrder.nativeOrder().toString(),
        orUnknown(Host.bootId()),
        orUnknown(Host.networkNamespace()),
        address);
  }

  private static String orUnknown(String text) {
    return text.isEmpty() ? UNKNOWN : text;
  }

  String write() {
    return String.join(
        " ", KIND, release, order, bootId, namespace, HexFormat.of().formatHex(address.toBytes()));
  }

  /**
   * Reads one.
   *
   * @param line of {@link #write}
   * @throws IllegalArgumentException if it is none, or not whole
   */
  static UcxRankAddress read(String line) {
    String[] words = line.trim().split(" ");
    if (words.length != 6 || !words[0].equals(KIND)) {
      throw new IllegalArgumentException(
          "a rank address that is not of this version's ucxdev: " + line);
    }
    byte[] address = HexFormat.of().parseHex(words[5]);
    return new UcxRankAddress(words[1], words[2], words[3], words[4], WorkerAddress.of(address));
  }

  /**
   * Whether UCX uses shared memory between the two ranks, but cannot wake the one for the other:
   * the wake-ups are datagrams between sockets without a file, which a network namespace keeps to
   * itself.
   *
   * @param mine of this rank
   */
  boolean losesWakeUps(UcxRankAddress mine) {
    return !bootId.equals(UNKNOWN)
        && bootId.equals(mine.bootId)
        && !namespace.equals(UNKNOWN)
        && !mine.namespace.equals(UNKNOWN)
        && !namespace.equals(mine.namespace);
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
