// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Threads that meet at one moment, over and over, with a little more or less of a start for one of
 * them each time. None may hang: a round that does not end shows where its threads stand.
 */
final class Race {
  /** How often a race is run: {@code talaria.test.rounds}, or what a run of all tests takes. */
  static final int ROUNDS = Integer.getInteger("talaria.test.rounds", 150);

  private static final long LIMIT_S = 30;
  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "racer");
            thread.setDaemon(true);
            return thread;
          });

  private Race() {}

  @FunctionalInterface
  interface Round {
    void run(int round) throws Exception;
  }

  static void rounds(Round each) throws Exception {
    rounds(ROUNDS, each);
  }

  static void rounds(int n, Round each) throws Exception {
    for (int i = 0; i < n; i++) {
      try {
        each.run(i);
      } catch (Exception | AssertionError e) {
        throw new AssertionError("in round " + i + ": " + e.getMessage(), e);
      }
    }
  }

  /** Runs all at once; what each threw, or null where it ended well. */
  static Throwable[] run(int round, Callable<?>... racers) throws Exception {
    CountDownLatch start = new CountDownLatch(racers.length);
    Thread[] threads = new Thread[racers.length];
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < racers.length; i++) {
      int me = i;
      running.add(
          THREADS.submit(
              () -> {
                threads[me] = Thread.currentThread();
                start.countDown();
                start.await();
                delay(me == 0 ? 0 : round % 40 * 1_000L);
                try {
                  return racers[me].call();
                } finally {
                  Thread.interrupted(); // the thread runs others' rounds later
                }
              }));
    }
    Throwable[] thrown = new Throwable[racers.length];
    for (int i = 0; i < racers.length; i++) {
      try {
        running.get(i).get(LIMIT_S, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        thrown[i] = e.getCause();
      } catch (TimeoutException e) {
        AssertionError hangs = new AssertionError("racer " + i + " hangs");
        hangs.setStackTrace(threads[i].getStackTrace());
        throw hangs;
      }
    }
    return thrown;
  }

  /**
   * Interrupts a thread that says who it is, at its own time.
   *
   * <p>Before Java 23 an interrupt can be lost for good between {@link Thread#interrupt}, which
   * looked for something to wake before it set the status, and {@code begin}, which looked at the
   * status before that (JDK-8323782), whatever channel or selector is begun. There it is repeated;
   * newer ones show that none of ours is lost.
   */
  static final class Victim {
    private static final int FIRST_SOUND_JAVA = 23;
    private static final long REPEAT_S = 2;

    private final CountDownLatch known = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private Thread thread;

    <T> Callable<T> of(Callable<T> work) {
      return () -> {
        thread = Thread.currentThread();
        known.countDown();
        try {
          return work.call();
        } finally {
          over.countDown();
        }
      };
    }

    Callable<Void> interrupt() {
      return () -> {
        known.await();
        thread.interrupt();
        if (Runtime.version().feature() < FIRST_SOUND_JAVA) {
          for (long waitedS = 0; waitedS < LIMIT_S; waitedS += REPEAT_S) {
            if (over.await(REPEAT_S, TimeUnit.SECONDS)) {
              break;
            }
            thread.interrupt();
          }
        }
        return null;
      };
    }
  }

  private static void delay(long ns) {
    long until = System.nanoTime() + ns;
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }
}
