// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.dispatch;

/** Makes a text of a throwable of the program, whose own methods may throw as well. */
public final class Thrown {
  private Thrown() {}

  /** The class and message of a throwable; the class alone if its {@code toString} throws. */
  public static String text(Throwable thrown) {
    try {
      return String.valueOf(thrown);
    } catch (Throwable e) {
      return thrown.getClass().getName();
    }
  }
}
