// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

/** The text of what the program's code has thrown, which is the program's code, too. */
final class Thrown {
  private Thrown() {}

  /** Its class and message; the class alone if asking for more throws. */
  static String text(Throwable thrown) {
    try {
      return String.valueOf(thrown);
    } catch (Throwable e) {
      return thrown.getClass().getName();
    }
  }
}
