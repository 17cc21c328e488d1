// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.cm;

import java.util.Objects;

/**
 * What both sides of a connection agree on ({@code rdma_conn_param}).
 *
 * @param privateData bytes for the peer: at most {@value #CONNECT_BYTES} with a request, {@value
 *     #ACCEPT_BYTES} with an answer. The peer may see zeros after them
 * @param readsIn how many reads and atomics of the peer are worked on at once, from 0 to 255
 * @param readsOut how many may be under way from here, from 0 to 255
 * @param retries how often to send again, from 0 to 7. Soft-RoCE takes 7 as endless
 * @param notReadyRetries how often to send again to a peer without receive request, from 0 to 7,
 *     which is endless
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in and out
public record ConnectionParameters(
    byte[] privateData, int readsIn, int readsOut, int retries, int notReadyRetries) {
  /** The most private data with a request. */
  public static final int CONNECT_BYTES = 56;

  /** The most private data with an answer. */
  public static final int ACCEPT_BYTES = 196;

  /** The most private data with a refusal. */
  public static final int REJECT_BYTES = 148;

  /** Checks the ranges and copies the data. */
  public ConnectionParameters {
    Objects.requireNonNull(privateData, "privateData");
    inRange(readsIn, 255, "the number of reads worked on");
    inRange(readsOut, 255, "the number of reads under way");
    inRange(retries, 7, "the number of retries");
    inRange(notReadyRetries, 7, "the number of retries when the receiver is not ready");
    inRange(privateData.length, ACCEPT_BYTES, "the length of the private data");
    privateData = privateData.clone();
  }

  static void inRange(int value, int most, String what) {
    if (value < 0 || value > most) {
      throw new IllegalArgumentException(what + " is " + value + ", but must be from 0 to " + most);
    }
  }

  /**
   * With private data, one read at a time, 6 retries and endless patience with a receiver that is
   * not ready.
   *
   * @param privateData bytes for the peer
   * @return the parameters
   */
  public static ConnectionParameters with(byte... privateData) {
    return new ConnectionParameters(privateData, 1, 1, 6, 7);
  }

  /**
   * Returns the private data for the peer.
   *
   * @return a copy
   */
  @Override
  public byte[] privateData() {
    return privateData.clone();
  }
}
