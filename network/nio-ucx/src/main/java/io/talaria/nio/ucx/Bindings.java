// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;

/**
 * Finds the binding by name: not by a service, because being on the class path must change nothing,
 * and because its classes may be of a newer Java than this one.
 */
final class Bindings {
  /** {@code ffm}, {@code jucx} or {@code auto}; {@code nio} has checked it. */
  static final String PROPERTY = "talaria.ucx.binding";

  private static final String BY_FFM = "ffm";
  private static final String BY_JUCX = "jucx";
  private static final int FFM_JAVA = 25;

  private Bindings() {}

  /**
   * Makes the binding of this process.
   *
   * @return a binding that is not started
   * @throws BindingException if there is none, with a sentence for the log
   */
  static UcxBinding open() {
    int java = Runtime.version().feature();
    String name = chosen(System.getProperty(PROPERTY, "auto"), java);
    if (name.equals(BY_FFM) && java < FFM_JAVA) {
      throw new BindingException(
          PROPERTY
              + " is ffm, which needs Java 25 or newer; this is Java "
              + java
              + ": name jucx, or leave it out.",
          null);
    }
    String found =
        name.equals(BY_FFM)
            ? "io.talaria.nio.ucx.ffm.FfmBinding"
            : "io.talaria.nio.jucx.JucxBinding";
    try {
      return Class.forName(found, true, Bindings.class.getClassLoader())
          .asSubclass(UcxBinding.class)
          .getConstructor()
          .newInstance();
    } catch (ClassNotFoundException e) {
      throw new BindingException(
          "The classes of its binding " + name + " are not on the class path.", e);
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new BindingException("It could not be started: " + cause, e);
    }
  }

  /** Which binding is taken: the faster one where it runs. */
  static String chosen(String wanted, int java) {
    if (wanted.equals(BY_FFM) || wanted.equals(BY_JUCX)) {
      return wanted;
    }
    return java >= FFM_JAVA ? BY_FFM : BY_JUCX;
  }
}
