// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

/** What a thread of a library's own does when it fails: nobody else would hear of it. */
final class Failure {
  private static final int STATUS = 1;

  private Failure() {}

  /** Something that may fail. */
  @FunctionalInterface
  interface Task {
    void run() throws Exception;
  }

  /** Prints the stack trace, and ends this JVM. */
  static void end(Throwable failure) {
    failure.printStackTrace();
    System.exit(STATUS);
  }

  /** Starts a daemon thread; if it throws, this JVM ends. */
  static void daemon(String name, Task task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Exception e) {
                end(e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }
}
