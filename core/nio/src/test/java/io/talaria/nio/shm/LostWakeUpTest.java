// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The race between publishing a position and publishing a sleep, in lockstep and as often as
 * possible: nobody goes on before the sleeper has seen the one event that must wake it. Sleepers
 * only look for their doorbell, without parking, to meet the other side at close range. Without one
 * of the fences in {@link ShmStream}, {@link ShmPeer} or {@link ShmReadySet} these tests fail.
 */
@Timeout(60)
class LostWakeUpTest {
  private static final long RUN_NS = Length.ns(3);
  private static final long LOST_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private PeerPair pair;
  private End sleeper;
  private End waker;
  private ShmReadySet readySet;

  /** Steps done by the sleeping side, and whether the waking side will make no more. */
  private final AtomicLong seen = new AtomicLong();

  private volatile boolean full;
  private volatile boolean over;

  @BeforeEach
  void connect() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), RING, RING);
    Connection connection = pair.connect();
    sleeper = connection.server;
    waker = connection.client;
    readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    sleeper.stream.moveTo(readySet);
  }

  @AfterEach
  void close() throws Exception {
    over = true;
    threads.shutdownNow();
    sleeper.stream.release();
    waker.stream.release();
    pair.close();
  }

  @FunctionalInterface
  private interface Sleep {
    void sleep(int op);
  }

  private void asABlockingCall(int op) {
    int before = waker.rung.get();
    if (sleeper.stream.await(op)) {
      awaitDoorbell(before, op);
    }
    sleeper.stream.awake(op);
  }

  private void asASelector(int op) {
    asASelector(op, sleeper.stream.watch(op));
  }

  private void asASelectorOfRareKeys(int op) {
    asASelector(op, sleeper.stream.watchEvery(op));
  }

  private void asASelector(int op, boolean watched) {
    int before = waker.rung.get();
    if (watched) {
      if (readySet.arm()) {
        awaitDoorbell(before, op);
      }
      readySet.disarm();
      readySet.drainReady(stream -> {}, 8);
    }
  }

  private void awaitDoorbell(int before, int op) {
    long start = System.nanoTime();
    while (waker.rung.get() == before && !over) {
      Thread.onSpinWait();
      if (System.nanoTime() - start > LOST_NS) {
        throw new AssertionError(
            "a wake-up was lost after " + seen + "; ready: " + sleeper.stream.readiness(op));
      }
    }
  }

  /** About as long as it takes to fall asleep. */
  private static void jitter(Random random) {
    for (int i = random.nextInt(12); i > 0; i--) {
      Thread.onSpinWait();
    }
  }

  private void awaitSeen(long step) {
    while (seen.get() != step && !over) {
      Thread.onSpinWait();
    }
  }

  // ---- for data ---------------------------------------------------------------------------------

  private void sleepForData(Sleep how) throws Exception {
    Future<?> reader =
        threads.submit(
            () -> {
              try {
                ByteBuffer buffer = ByteBuffer.allocate(8);
                while (!over) {
                  buffer.clear();
                  int n = sleeper.stream.read(buffer);
                  if (n > 0) {
                    seen.addAndGet(n);
                  } else {
                    how.sleep(TransportStream.READ);
                  }
                }
              } finally {
                over = true;
              }
            });
    ByteBuffer one = ByteBuffer.allocate(1);
    Random random = new Random(5);
    long start = System.nanoTime();
    long step = 0;
    while (!over && System.nanoTime() - start < RUN_NS) {
      jitter(random);
      one.clear();
      assertThat(waker.stream.write(one)).isEqualTo(1);
      awaitSeen(++step);
    }
    over = true;
    reader.get(30, TimeUnit.SECONDS);
    assertThat(waker.rung.get()).as("doorbells").isPositive();
  }

  @Test
  void aReaderWhoSleepsInACallIsWokenByEveryWrite() throws Exception {
    sleepForData(this::asABlockingCall);
  }

  @Test
  void aSelectorThatSleepsIsWokenByEveryWrite() throws Exception {
    sleepForData(this::asASelector);
  }

  @Test
  void aSelectorThatWatchesForEveryWriteIsWokenByEveryWrite() throws Exception {
    sleepForData(this::asASelectorOfRareKeys);
  }

  // ---- for space --------------------------------------------------------------------------------

  private void sleepForSpace(Sleep how) throws Exception {
    Future<?> writer =
        threads.submit(
            () -> {
              try {
                ByteBuffer much = ByteBuffer.allocate(RING);
                while (!over) {
                  much.clear();
                  int n = sleeper.stream.write(much);
                  if (n > 0) {
                    seen.incrementAndGet();
                  } else {
                    full = true;
                    how.sleep(TransportStream.WRITE);
                  }
                }
              } finally {
                over = true;
              }
            });
    ByteBuffer quarter = ByteBuffer.allocate(RING / 4);
    Random random = new Random(7);
    long start = System.nanoTime();
    long step = 0;
    awaitSeen(++step);
    while (!over && System.nanoTime() - start < RUN_NS) {
      while (!full && !over) {
        Thread.onSpinWait();
      }
      full = false;
      jitter(random);
      quarter.clear();
      assertThat(waker.stream.read(quarter)).isEqualTo(RING / 4);
      awaitSeen(++step);
    }
    over = true;
    writer.get(30, TimeUnit.SECONDS);
    assertThat(waker.rung.get()).as("doorbells").isPositive();
  }

  @Test
  void aWriterWhoSleepsInACallIsWokenByAQuarterOfSpace() throws Exception {
    sleepForSpace(this::asABlockingCall);
  }

  @Test
  void aSelectorThatSleepsIsWokenByAQuarterOfSpace() throws Exception {
    sleepForSpace(this::asASelector);
  }
}
