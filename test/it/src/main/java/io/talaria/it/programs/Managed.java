// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.programs;

/** A {@link Talk} that shows Talaria in JMX. Names it only as text: it is not there at build. */
public final class Managed {
  private Managed() {}

  /**
   * Runs the program.
   *
   * @param arguments see {@link Talk}
   * @throws ReflectiveOperationException if Talaria is not switched on
   */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    Object registered =
        Class.forName("io.talaria.nio.TalariaManagement").getMethod("register").invoke(null);
    if (!Boolean.TRUE.equals(registered)) {
      throw new IllegalStateException("the bean is not registered");
    }
    Talk.main(arguments);
  }
}
