// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.privileged.Privileged;

/** Threads of Talaria in a process that belongs to a program. */
public final class TalariaThread {
  private TalariaThread() {}

  /**
   * A daemon thread that takes nothing from the thread of the program which happens to need it
   * first. It is in the root thread group, since programs interrupt, count and destroy groups of
   * their own; it has the system's class loader, so that it keeps no loader of an application; and
   * it inherits no thread-locals.
   *
   * @param name its name
   * @param body what it runs
   * @return the thread, not started
   */
  public static Thread daemon(String name, Runnable body) {
    return Privileged.get(
        () -> {
          Thread thread = new Thread(rootGroup(), body, name, 0, false);
          thread.setDaemon(true);
          thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
          return thread;
        });
  }

  private static ThreadGroup rootGroup() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }
}
