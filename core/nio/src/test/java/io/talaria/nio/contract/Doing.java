// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Work on a thread of its own, and how it ended. */
final class Doing<T> {
  private static final long LIMIT_S = 60;
  private static final int CALM_LOOKS = 3;

  private final FutureTask<T> task;
  private final Thread thread;
  private volatile boolean interrupted;

  private Doing(Callable<T> work, Function<Runnable, Thread> made) {
    task =
        new FutureTask<>(
            () -> {
              try {
                return work.call();
              } finally {
                interrupted = Thread.currentThread().isInterrupted();
              }
            });
    thread = made.apply(task);
  }

  private static Thread platform(Runnable task) {
    Thread thread = new Thread(task, "doing");
    thread.setDaemon(true);
    return thread;
  }

  static <T> Doing<T> start(Callable<T> work) {
    Doing<T> doing = new Doing<>(work, Doing::platform);
    doing.thread.start();
    return doing;
  }

  /** Runs work on a virtual thread, where there are any. */
  static <T> Doing<T> startVirtual(Callable<T> work) {
    Doing<T> doing = new Doing<>(work, Doing::virtual);
    doing.thread.start();
    return doing;
  }

  private static Thread virtual(Runnable task) {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      return (Thread)
          Class.forName("java.lang.Thread$Builder")
              .getMethod("unstarted", Runnable.class)
              .invoke(builder, task);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Comes back once the work sleeps: parked, at a monitor, or in a system call of NIO or a
   * doorbell.
   */
  Doing<T> whenWaiting() throws InterruptedException {
    long start = System.nanoTime();
    int calm = 0;
    while (calm < CALM_LOOKS) {
      if (task.isDone()) {
        throw new AssertionError("ended instead of waiting", ended());
      }
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(LIMIT_S)) {
        throw hanging("does not come to wait");
      }
      calm = waits() ? calm + 1 : 0;
      Thread.sleep(1);
    }
    return this;
  }

  private boolean waits() {
    Thread.State state = thread.getState();
    if (state == Thread.State.WAITING
        || state == Thread.State.TIMED_WAITING
        || state == Thread.State.BLOCKED) {
      return true;
    }
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0
        && stack[0].isNativeMethod()
        && (stack[0].getClassName().startsWith("sun.nio.ch.")
            || stack[0].getClassName().equals("java.io.FileInputStream"));
  }

  private Throwable ended() throws InterruptedException {
    try {
      return new IllegalStateException("the result was " + task.get());
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean done() {
    return task.isDone();
  }

  /** Whether the interrupt status was set when the work ended. */
  boolean wasInterrupted() throws Exception {
    thread.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
    if (thread.isAlive()) {
      throw hanging("still in progress");
    }
    return interrupted;
  }

  private AssertionError hanging(String what) {
    AssertionError hangs = new AssertionError(what + " after " + LIMIT_S + " s");
    hangs.setStackTrace(thread.getStackTrace());
    return hangs;
  }

  T result() throws Exception {
    try {
      return task.get(LIMIT_S, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw (Error) e.getCause();
    } catch (TimeoutException e) {
      throw hanging("still in progress");
    }
  }

  /** What the work threw, or null. */
  Throwable failure() throws Exception {
    try {
      task.get(LIMIT_S, TimeUnit.SECONDS);
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (TimeoutException e) {
      throw hanging("still in progress");
    }
  }
}
