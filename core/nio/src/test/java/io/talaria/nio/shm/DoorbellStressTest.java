// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.doorbell.DoorbellAudit;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.doorbell.ThreadDoorbell;
import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads that sleep on doorbells of real pipes, without anybody who looks after them, while peers
 * ring for every message in turn: four connections, each read by one thread and written by another,
 * share few doorbells, so that late bytes of one's sleep meet another's. The audit is off: a
 * doorbell that is missed shows as a thread that hangs.
 */
@Timeout(120)
class DoorbellStressTest {
  private static final long RUN_NS = TimeUnit.SECONDS.toNanos(3);
  private static final long HANGS_NS = Length.ns(15);
  private static final int RING = 4096;
  private static final int CONNECTIONS = 4;

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong sleeps = new AtomicLong();
  private final DoorbellPool pool = DoorbellPool.ofProcess();
  private final long seed = Seed.next();
  private PeerPair pair;

  private static final ThreadDoorbell.Sleeper ALONE =
      new ThreadDoorbell.Sleeper() {
        private final DoorbellAudit off =
            new DoorbellAudit(DoorbellPool.ofProcess(), () -> {}, () -> {});

        @Override
        public DoorbellAudit audit() {
          return off;
        }

        @Override
        public boolean ready(int waitsFor) {
          return false;
        }
      };

  @BeforeEach
  void open() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), RING, RING);
    pair.pid = ProcessHandle.current().pid();
  }

  @AfterEach
  void close() {
    over.set(true);
    threads.shutdownNow();
    pair.close();
  }

  /** One thread's call that waits. */
  private final class Waiter {
    private final ShmStream stream;
    private final boolean drainsTooLate;
    private final Random random;
    private volatile ThreadDoorbell last;
    volatile long sleepingSinceNs;

    Waiter(ShmStream stream, boolean drainsTooLate, Random random) {
      this.stream = stream;
      this.drainsTooLate = drainsTooLate;
      this.random = random;
    }

    void sleep(int op) throws Exception {
      ThreadDoorbell doorbell = pool.lease(random.nextInt(4) == 0 ? null : last); // often another's
      while (doorbell == null || !stream.rings(doorbell.number())) {
        if (doorbell != null) {
          doorbell.giveBack();
        }
        Thread.onSpinWait();
        doorbell = pool.lease(doorbell);
      }
      last = doorbell;
      try {
        if (stream.await(op, doorbell.number())) {
          if (drainsTooLate) { // a sleep that is over at once takes what is there
            doorbell.sleep(ALONE, op, 1);
          }
          sleeps.incrementAndGet();
          sleepingSinceNs = System.nanoTime();
          doorbell.sleep(ALONE, op, 0);
          sleepingSinceNs = 0;
        }
        stream.awake(op);
      } finally {
        doorbell.giveBack();
      }
    }

    boolean hangs() {
      long since = sleepingSinceNs;
      return since != 0 && System.nanoTime() - since > HANGS_NS;
    }

    /** Gets it out, to end the test. */
    void ring() {
      ThreadDoorbell doorbell = last;
      if (doorbell != null) {
        doorbell.ring();
      }
    }
  }

  /** About as long as it takes to fall asleep, or far shorter. */
  private static void jitter(Random random) {
    for (int i = random.nextInt(3) == 0 ? random.nextInt(4000) : random.nextInt(30); i > 0; i--) {
      Thread.onSpinWait();
    }
  }

  /** Echoes messages of up to three rings; both sides sleep when they have nothing to do. */
  private void talk(ShmStream stream, Waiter waiter, Random random, AtomicLong done, boolean asks)
      throws Exception {
    ByteBuffer bytes = ByteBuffer.allocate(3 * RING);
    int length = 0;
    while (!over.get()) {
      if (asks) {
        length = 1 + random.nextInt(random.nextInt(8) == 0 ? 3 * RING - 1 : 64);
        jitter(random);
        send(stream, waiter, bytes.clear().limit(length));
        take(stream, waiter, bytes.clear().limit(length));
        done.incrementAndGet();
      } else {
        bytes.clear();
        int n = stream.read(bytes);
        if (n > 0) {
          jitter(random);
          send(stream, waiter, bytes.flip());
        } else {
          waiter.sleep(TransportStream.READ);
        }
      }
    }
  }

  private void send(ShmStream stream, Waiter waiter, ByteBuffer bytes) throws Exception {
    while (bytes.hasRemaining() && !over.get()) {
      if (stream.write(bytes) == 0) {
        waiter.sleep(TransportStream.WRITE);
      }
    }
  }

  private void take(ShmStream stream, Waiter waiter, ByteBuffer into) throws Exception {
    while (into.hasRemaining() && !over.get()) {
      if (stream.read(into) == 0) {
        waiter.sleep(TransportStream.READ);
      }
    }
  }

  /** Runs until the time is over or a thread hangs. Returns whether one did. */
  private boolean hangs(boolean drainsTooLate, long runNs) throws Exception {
    AtomicLong done = new AtomicLong();
    List<Waiter> waiters = new ArrayList<>();
    List<Future<?>> talks = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      Connection connection = pair.connect();
      for (boolean asks : new boolean[] {true, false}) {
        ShmStream stream = (asks ? connection.client : connection.server).stream;
        Random random = new Random(seed + talks.size());
        Waiter waiter = new Waiter(stream, drainsTooLate, random);
        waiters.add(waiter);
        talks.add(
            threads.submit(
                () -> {
                  talk(stream, waiter, random, done, asks);
                  return null;
                }));
      }
    }
    long start = System.nanoTime();
    boolean hangs = false;
    while (!hangs && System.nanoTime() - start < runNs) {
      Thread.sleep(5);
      hangs = waiters.stream().anyMatch(Waiter::hangs);
    }
    over.set(true);
    for (Future<?> talk : talks) {
      while (!talk.isDone()) {
        waiters.forEach(Waiter::ring);
        Thread.sleep(1);
      }
      talk.get();
    }
    System.out.println(done + " messages, " + sleeps + " sleeps");
    assertThat(sleeps).hasPositiveValue();
    assertThat(done).hasPositiveValue();
    return hangs;
  }

  @Test
  void nobodySleepsOverNews() throws Exception {
    assertThat(hangs(false, RUN_NS + HANGS_NS)).as("hangs, with seed %d", seed).isFalse();
  }

  /**
   * The control: who drains between the last look and the sleep takes the doorbell of that sleep.
   */
  @Test
  void whoDrainsAfterTheLastLookDoes() throws Exception {
    assertThat(hangs(true, TimeUnit.SECONDS.toNanos(60))).as("hangs").isTrue();
  }
}
