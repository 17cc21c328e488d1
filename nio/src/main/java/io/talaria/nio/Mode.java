// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

/** The road on which a connection's bytes travel. */
public enum Mode {
  /**
   * The JDK's own socket: the road every connection starts on, and the one nothing can take away.
   */
  TCP(1, "tcp"),
  /** Rings in memory shared by two processes of one host. */
  SHM(2, "shm"),
  /** UCX: RDMA between hosts. */
  UCX(3, "ucx");

  private static final Mode[] VALUES = values();

  private final int number;
  private final String code;

  Mode(int number, String code) {
    this.number = number;
    this.code = code;
  }

  /**
   * The number that stands for this mode in binary layouts; it never changes.
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
   * Finds a mode by its number.
   *
   * @param number as {@link #number()} gives it
   * @return the mode, or null if this version knows none of that number
   */
  public static Mode ofNumber(int number) {
    for (Mode mode : VALUES) {
      if (mode.number == number) {
        return mode;
      }
    }
    return null;
  }
}
