// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

/** The logical state of a port. */
public enum PortState {
  /** It carries data. */
  ACTIVE,
  /** It is configured and waits to become active. */
  ARMED,
  /** The link is there; an InfiniBand port waits for a subnet manager. */
  INIT,
  /** There is no link. */
  DOWN,
  /** The kernel does not say. */
  UNKNOWN;

  /**
   * Its name for machines.
   *
   * @return lower case
   */
  public String code() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /**
   * The state that the kernel writes for an RDMA port, such as {@code 4: ACTIVE}.
   *
   * @param text the file's content
   * @return the state
   */
  static PortState ofRdma(String text) {
    String word = text.substring(text.indexOf(':') + 1).strip();
    return switch (word) {
      case "ACTIVE", "ACTIVE_DEFER" -> ACTIVE;
      case "ARMED" -> ARMED;
      case "INIT" -> INIT;
      case "DOWN" -> DOWN;
      default -> UNKNOWN;
    };
  }

  /**
   * The state that IBTA numbers so.
   *
   * @param number 1 to 4
   * @return the state
   */
  public static PortState ofNumber(int number) {
    return switch (number) {
      case 1 -> DOWN;
      case 2 -> INIT;
      case 3 -> ARMED;
      case 4 -> ACTIVE;
      default -> UNKNOWN;
    };
  }

  /**
   * The state of a network interface by its {@code operstate} (RFC 2863).
   *
   * @param text the file's content
   * @return the state
   */
  static PortState ofInterface(String text) {
    return switch (text) {
      case "up" -> ACTIVE;
      case "dormant", "testing" -> INIT;
      case "down", "lowerlayerdown", "notpresent" -> DOWN;
      default -> UNKNOWN;
    };
  }
}
