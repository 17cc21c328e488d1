// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

/** Whether this JVM is exiting: its shutdown hooks run, and end the children. Any thread. */
public final class JvmExit {
  private JvmExit() {}

  /** Returns whether the shutdown hooks run already. */
  public static boolean begun() {
    Thread probe = new Thread(() -> {});
    try {
      Runtime.getRuntime().addShutdownHook(probe);
    } catch (IllegalStateException e) {
      return true;
    }
    return !withdraw(probe);
  }

  /**
   * Removes a shutdown hook that is registered.
   *
   * @return whether it will not run; false: this JVM is exiting, and the hook runs
   */
  public static boolean withdraw(Thread hook) {
    try {
      return Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return false;
    }
  }
}
