// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.UcxBinding;

/**
 * Finds the binding by name: not by a service, because being on the class path must change nothing,
 * and because its classes may be of a newer Java than this one.
 */
final class Bindings {
  private static final String FFM = "io.talaria.nio.ucx.ffm.FfmBinding";

  private Bindings() {}

  /**
   * Makes the binding of this process.
   *
   * @return a binding that is not started
   * @throws BindingException if there is none, with a sentence for the log
   */
  static UcxBinding open() {
    try {
      return Class.forName(FFM, true, Bindings.class.getClassLoader())
          .asSubclass(UcxBinding.class)
          .getConstructor()
          .newInstance();
    } catch (UnsupportedClassVersionError e) {
      throw new BindingException(
          "It needs Java 25 or newer; this is Java " + Runtime.version().feature() + ".", e);
    } catch (ClassNotFoundException e) {
      throw new BindingException("Its classes are not on the class path.", e);
    } catch (ReflectiveOperationException | LinkageError e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new BindingException("It could not be started: " + cause, e);
    }
  }
}
