// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * How a connected queue pair reaches its peer, and how patient it is. Immutable; each {@code with}
 * gives a changed copy.
 *
 * @param port of this host, from 1
 * @param gidIndex of this host's own identifier in the table of the port
 * @param mtuBytes the longest packet: 256, 512, 1024, 2048 or 4096, the same at both ends
 * @param serviceLevel from 0 to 15
 * @param trafficClass from 0 to 255
 * @param timeout how long to wait for an answer: 4.096 µs · 2^n, from 0, which is for ever, to 31
 * @param retries how often to send again, from 0 to 7. Soft-RoCE takes 7 as endless
 * @param notReadyRetries how often to send again to a peer without receive request, from 0 to 7,
 *     which is endless
 * @param notReadyTimer how long a peer waits that found no receive request here, a code from 0 to
 *     31; 12 is 0.64 ms
 * @param readsOut how many reads and atomics may be under way from here
 * @param readsIn how many of the peer's are worked on at once
 */
public record Path(
    int port,
    int gidIndex,
    int mtuBytes,
    int serviceLevel,
    int trafficClass,
    int timeout,
    int retries,
    int notReadyRetries,
    int notReadyTimer,
    int readsOut,
    int readsIn) {
  /** Checks the ranges. */
  public Path {
    Bits.inRange(port, 1, 255, "the port");
    Bits.inRange(gidIndex, 0, 255, "the index of the GID");
    int ignored = PortAttributes.mtuCode(mtuBytes);
    Bits.inRange(serviceLevel, 0, 15, "the service level");
    Bits.inRange(trafficClass, 0, 255, "the traffic class");
    Bits.inRange(timeout, 0, 31, "the time-out");
    Bits.inRange(retries, 0, 7, "the number of retries");
    Bits.inRange(notReadyRetries, 0, 7, "the number of retries when the receiver is not ready");
    Bits.inRange(notReadyTimer, 0, 31, "the timer of a receiver that is not ready");
    Bits.inRange(readsOut, 0, 255, "the number of reads under way");
    Bits.inRange(readsIn, 0, 255, "the number of reads worked on");
  }

  /**
   * By a port, with an answer expected after 67 ms, 6 retries, endless patience with a receiver
   * that is not ready, and one read at a time.
   *
   * @param port of this host, from 1
   * @param gidIndex of this host's own identifier; see {@link Context#preferredGid}
   * @return the path
   */
  public static Path by(int port, int gidIndex) {
    return new Path(port, gidIndex, 1024, 0, 0, 14, 6, 7, 12, 1, 1);
  }

  /**
   * With longer or shorter packets.
   *
   * @param bytes 256, 512, 1024, 2048 or 4096
   * @return a copy
   */
  public Path withMtu(int bytes) {
    return new Path(
        port,
        gidIndex,
        bytes,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        notReadyRetries,
        notReadyTimer,
        readsOut,
        readsIn);
  }

  /**
   * With more or less patience.
   *
   * @param exponent of the time-out: 4.096 µs · 2^n
   * @param again how often to send again
   * @param notReady how often to send again to a peer without receive request; 7: endless
   * @return a copy
   */
  public Path withPatience(int exponent, int again, int notReady) {
    return new Path(
        port,
        gidIndex,
        mtuBytes,
        serviceLevel,
        trafficClass,
        exponent,
        again,
        notReady,
        notReadyTimer,
        readsOut,
        readsIn);
  }

  /**
   * With more reads and atomics at once.
   *
   * @param out under way from here
   * @param in of the peer, worked on at once
   * @return a copy
   */
  public Path withReads(int out, int in) {
    return new Path(
        port,
        gidIndex,
        mtuBytes,
        serviceLevel,
        trafficClass,
        timeout,
        retries,
        notReadyRetries,
        notReadyTimer,
        out,
        in);
  }

  AddressVector to(QueuePairAddress peer) {
    return new AddressVector(
        port, peer.lid(), peer.gid(), gidIndex, serviceLevel, trafficClass, 64);
  }
}
