// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

/** What a connection's record in the counters stands for. */
public enum Role {
  /** A connection this process opened. */
  CLIENT(1, "client"),
  /** A connection a listener of this process accepted. */
  ACCEPTED(2, "accepted"),
  /** A listening socket. */
  LISTENER(3, "listener");

  private static final Role[] VALUES = values();

  private final int number;
  private final String code;

  Role(int number, String code) {
    this.number = number;
    this.code = code;
  }

  /**
   * The number that stands for this role in binary layouts; it never changes.
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
   * Finds a role by its number.
   *
   * @param number as {@link #number()} gives it
   * @return the role, or null if this version knows none of that number
   */
  public static Role ofNumber(int number) {
    for (Role role : VALUES) {
      if (role.number == number) {
        return role;
      }
    }
    return null;
  }
}
