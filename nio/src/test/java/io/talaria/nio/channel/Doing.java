// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Work on a thread of its own, and how it ended. */
final class Doing<T> {
  private static final long LIMIT_S = 20;

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

  static <T> Doing<T> start(Callable<T> work) {
    Doing<T> doing = new Doing<>(work, Doing::platform);
    doing.thread.start();
    return doing;
  }

  /** Gives the work time to come to where it waits; there is no way to see that from outside. */
  Doing<T> whenWaiting() throws InterruptedException {
    thread.join(150);
    assertThat(task.isDone()).as("waits").isFalse();
    return this;
  }

  void interrupt() {
    thread.interrupt();
  }

  boolean done() {
    return task.isDone();
  }

  /** Whether the interrupt status was set when the work ended. */
  boolean wasInterrupted() throws Exception {
    join();
    return interrupted;
  }

  private void join() throws Exception {
    thread.join(TimeUnit.SECONDS.toMillis(LIMIT_S));
    if (thread.isAlive()) {
      throw hanging();
    }
  }

  private AssertionError hanging() {
    AssertionError hangs = new AssertionError("still in progress after " + LIMIT_S + " s");
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
      throw hanging();
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
      throw hanging();
    }
  }
}
