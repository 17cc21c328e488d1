// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

/** The transport on which a connection's bytes travel. */
public enum NioTransport {
  /**
   * The JDK's own socket: the transport every connection starts on, and the one nothing can take
   * away.
   */
  TCP(1, "tcp"),
  /** Rings in memory shared by two processes of one host. */
  SHM(2, "shm"),
  /** UCX: RDMA between hosts. */
  UCX(3, "ucx");

  private static final NioTransport[] VALUES = values();

  private final int number;
  private final String code;

  NioTransport(int number, String code) {
    this.number = number;
    this.code = code;
  }

  /**
   * The number that stands for this transport in binary layouts; it never changes.
   *
   * @return a number greater than zero
   */
  public int number() {
    return number;
  }

  /**
   * The name used in logs, tables and JSON; it never changes.
   *
   * @return a lower-case word
   */
  public String code() {
    return code;
  }

  /**
   * Finds a transport by its number.
   *
   * @param number as {@link #number()} gives it
   * @return the transport, or null if this version knows none of that number
   */
  public static NioTransport ofNumber(int number) {
    for (NioTransport transport : VALUES) {
      if (transport.number == number) {
        return transport;
      }
    }
    return null;
  }
}
