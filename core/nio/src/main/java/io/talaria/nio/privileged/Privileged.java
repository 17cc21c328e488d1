// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.privileged;

import java.security.AccessController;
import java.security.AllPermission;
import java.security.PrivilegedAction;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;

/**
 * What Talaria does for itself while the program's code is on the stack, such as reading a file
 * below {@code /proc}: under a security manager it needs Talaria's permissions, not the program's.
 * What the JDK would check without Talaria, such as a connect, is never done through this class.
 *
 * <p>A callee's missing permission still counts, so that no action of the program's gains anything
 * here. Where the JDK has no security manager any more, an action is just run.
 */
@SuppressWarnings("removal") // Java 17 to 23 have security managers, and offer nothing else.
public final class Privileged {
  private Privileged() {}

  /**
   * An action that may fail.
   *
   * @param <T> what it gives
   * @param <E> what it throws
   */
  @FunctionalInterface
  public interface Call<T, E extends Exception> {
    /**
     * Does it.
     *
     * @return its result
     * @throws E if it fails
     */
    T run() throws E;
  }

  /**
   * Runs an action with Talaria's permissions.
   *
   * @param action what to do
   */
  public static void run(Runnable action) {
    get(
        () -> {
          action.run();
          return null;
        });
  }

  /**
   * Runs an action with Talaria's permissions.
   *
   * @param action what to do
   * @param <T> what it gives
   * @return its result
   */
  public static <T> T get(PrivilegedAction<T> action) {
    return AccessController.doPrivileged(action);
  }

  /**
   * Runs an action that may fail with Talaria's permissions.
   *
   * @param action what to do
   * @param <T> what it gives
   * @param <E> what it throws
   * @return its result
   * @throws E what the action throws
   */
  public static <T, E extends Exception> T call(Call<T, E> action) throws E {
    try {
      return AccessController.doPrivileged((PrivilegedExceptionAction<T>) action::run);
    } catch (PrivilegedActionException e) {
      @SuppressWarnings("unchecked") // the action throws no other checked exception
      E thrown = (E) e.getException();
      throw thrown;
    }
  }

  /** Whether this process has a security manager now. */
  public static boolean guarded() {
    return System.getSecurityManager() != null;
  }

  /** Whether the security manager's policy, if there is one, lets Talaria do what it needs. */
  public static boolean granted() {
    SecurityManager manager = System.getSecurityManager();
    if (manager == null) {
      return true;
    }
    try {
      run(() -> manager.checkPermission(new AllPermission()));
      return true;
    } catch (SecurityException e) {
      return false;
    }
  }
}
