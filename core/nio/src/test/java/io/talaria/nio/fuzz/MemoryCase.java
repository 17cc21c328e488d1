// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One attacked connection. An input is something the peer does, followed by a call of the victim's;
 * where both are at work at once, as many are counted as the slower of them has done.
 */
final class MemoryCase {
  private static final int MAX_STEPS = 3000;
  private static final int RACING_CALLS = 300;
  private static final long RACING_LIMIT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final int[] INTERESTS = {
    0,
    SelectionKey.OP_READ,
    SelectionKey.OP_READ,
    SelectionKey.OP_WRITE,
    SelectionKey.OP_READ | SelectionKey.OP_WRITE
  };

  private final Variant variant;
  private final Random random;
  private final Foe foe;
  private final Watch watch;

  MemoryCase(Variant variant, Random random, Watch watch) {
    this.variant = variant;
    this.random = random;
    this.watch = watch;
    foe = variant.foe(random.nextBoolean());
  }

  /**
   * Runs it.
   *
   * @return the number of inputs; 0 if the connection has not come about
   */
  int run(Kind kind) throws IOException {
    SocketChannel victim;
    try {
      victim = foe.meet(random);
    } catch (IOException e) {
      return 0; // the session has suffered from the case before
    }
    try {
      if (random.nextInt(8) != 0) {
        foe.shared.agree();
      }
      return switch (kind) {
        case MEMORY_SELECTING -> stepByStep(victim);
        case MEMORY_SELECTING_RACING -> racingSelector(victim);
        default -> racingThreads(victim);
      };
    } finally {
      victim.close();
      foe.hangUp(random);
      foe.check();
      foe.part(random);
    }
  }

  private int stepByStep(SocketChannel victim) throws IOException {
    Program program = new Program(victim, random);
    variant.register(victim, SelectionKey.OP_READ, key -> ready(program));
    int most = 1 + random.nextInt(MAX_STEPS);
    int afterBroken = 20;
    int steps = 0;
    while (steps < most && afterBroken > 0) {
      steps++;
      foe.act(random);
      call(program, victim);
      afterBroken -= program.broken() ? 1 : 0;
    }
    if (random.nextBoolean()) { // the peer goes first
      foe.hangUp(random);
      for (int i = 0; i < 4; i++) {
        call(program, victim);
      }
    }
    return steps;
  }

  private void call(Program program, SocketChannel victim) {
    switch (random.nextInt(16)) {
      case 0, 1, 2 -> program.read();
      case 3, 4, 5 -> program.write();
      case 6 -> program.askOrEnd();
      case 7 -> variant.interest(victim, INTERESTS[random.nextInt(INTERESTS.length)]);
      case 8 -> variant.pump(random.nextInt(10) == 0 ? 1 : 0);
      default -> variant.pump(0);
    }
  }

  private void ready(Program program) {
    if (random.nextInt(3) != 0) {
      program.read();
    } else {
      program.write();
    }
  }

  // ---- both at work at once

  /** A thread of the victim's that does something again and again. */
  private static final class Worker {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Thread thread;

    Worker(String name, Runnable work) {
      thread = new Thread(work, name);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
      thread.start();
    }

    boolean done() {
      return !thread.isAlive();
    }

    /** Waits for its end; who never ends is for the {@link Watch}. */
    void join() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new Finding("a thread of the victim's does not end", e);
      }
      Throwable found = failure.get();
      if (found instanceof Finding finding) {
        throw finding;
      }
      if (found != null) {
        throw new Finding("a call has thrown " + found, found);
      }
    }
  }

  private int racingSelector(SocketChannel victim) throws IOException {
    AtomicInteger calls = new AtomicInteger();
    Random own = new Random(random.nextLong());
    Program program = new Program(victim, own);
    variant.register(
        victim,
        SelectionKey.OP_READ,
        key -> {
          calls.incrementAndGet();
          if (own.nextBoolean()) {
            program.read();
          } else {
            program.write();
          }
        });
    Worker worker =
        new Worker(
            "fuzz-selector",
            () -> {
              while (calls.incrementAndGet() < RACING_CALLS && !program.broken()) {
                variant.pump(2);
                if (own.nextInt(8) == 0) {
                  variant.interest(victim, INTERESTS[own.nextInt(INTERESTS.length)]);
                }
                if (own.nextInt(8) == 0) {
                  program.write();
                }
              }
            });
    int acts = actUntil(worker::done);
    worker.join();
    return Math.min(acts, calls.get());
  }

  private int racingThreads(SocketChannel victim) throws IOException {
    AtomicInteger calls = new AtomicInteger();
    Random ofReader = new Random(random.nextLong());
    Random ofWriter = new Random(random.nextLong());
    Worker reader =
        new Worker(
            "fuzz-reader",
            () -> {
              Program program = new Program(victim, ofReader);
              while (!program.broken() && calls.incrementAndGet() < RACING_CALLS) {
                program.read();
              }
            });
    Worker writer =
        new Worker(
            "fuzz-writer",
            () -> {
              Program program = new Program(victim, ofWriter);
              while (!program.broken() && calls.incrementAndGet() < RACING_CALLS) {
                program.write();
              }
            });
    int acts = actUntil(() -> reader.done() && writer.done());
    if (random.nextBoolean()) {
      foe.hangUp(random); // both are to end of that
    } else {
      victim.close();
    }
    reader.join();
    writer.join();
    return Math.min(acts, calls.get());
  }

  /** Something that comes to be true. */
  @FunctionalInterface
  private interface Condition {
    boolean test();
  }

  private int actUntil(Condition over) throws IOException {
    long start = System.nanoTime();
    int most = RACING_CALLS * (1 + random.nextInt(20));
    int acts = 0;
    while (acts < most && !over.test() && System.nanoTime() - start < RACING_LIMIT_NS) {
      foe.act(random);
      acts++;
      if (random.nextInt(16) == 0) {
        Thread.yield();
      }
      watch.beat();
    }
    return acts;
  }
}
