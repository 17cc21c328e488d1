// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two selecting threads, one a process, echo over many connections at once and sleep as selectors
 * do: watch what is idle, arm the ready set, sleep until rung. Slots and ready sets are used again
 * and again.
 */
@Timeout(120)
class SelectingStressTest {
  private static final long DEADLINE_S = 20;
  private static final long RUN_NS = Length.ns(5);
  private static final int CONNECTIONS = 7;
  private static final int RINGS = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  /** What one thread does with one stream until its bytes are through. */
  private abstract static class Task {
    final End end;
    final Random random;
    boolean done;

    Task(End end, Random random) {
      this.end = end;
      this.random = random;
    }

    /** What it waits for now. */
    abstract int ops();

    abstract void run(int ready);

    @Override
    public String toString() {
      return done
          ? "done"
          : getClass().getSimpleName()
              + " over "
              + end.stream.detail()
              + " waits for "
              + ops()
              + ", of READ+WRITE ready is "
              + end.stream.readiness(TransportStream.READ | TransportStream.WRITE)
              + ", unread "
              + end.stream.available();
    }
  }

  /** Sends so many bytes, and wants them all back. */
  private static final class Client extends Task {
    private final long seed;
    private final long bytes;
    private long written;
    private long read;

    Client(End end, Random random, long seed, long bytes) {
      super(end, random);
      this.seed = seed;
      this.bytes = bytes;
    }

    @Override
    int ops() {
      return TransportStream.READ | (written < bytes ? TransportStream.WRITE : 0);
    }

    @Override
    void run(int ready) {
      if ((ready & TransportStream.WRITE) != 0 && written < bytes) {
        ByteBuffer next =
            ByteBuffer.allocate((int) Math.min(bytes - written, Pattern.size(random, 3 * RINGS)));
        Pattern.fill(next, seed, written);
        int n = end.stream.write(next);
        assertThat(n).isBetween(0, next.limit());
        written += n;
        if (written == bytes) {
          end.stream.finishOutput();
        }
      }
      if ((ready & TransportStream.READ) != 0) {
        ByteBuffer into = ByteBuffer.allocate(Pattern.size(random, 2 * RINGS));
        int n = end.stream.read(into);
        if (n < 0) {
          assertThat(n).isEqualTo(TransportStream.END);
          assertThat(read).as("bytes that came back").isEqualTo(bytes);
          done = true;
        } else {
          Pattern.check(into, 0, n, seed, read);
          read += n;
        }
      }
    }
  }

  /** Sends back what comes. */
  private static final class Echo extends Task {
    private final ByteBuffer kept = ByteBuffer.allocate(RINGS);
    private boolean ended;

    Echo(End end, Random random) {
      super(end, random);
      kept.limit(0);
    }

    @Override
    int ops() {
      return kept.hasRemaining() ? TransportStream.WRITE : TransportStream.READ;
    }

    @Override
    void run(int ready) {
      if ((ready & TransportStream.READ) != 0 && !kept.hasRemaining()) {
        kept.clear().limit(1 + random.nextInt(RINGS));
        int n = end.stream.read(kept);
        kept.flip();
        if (n < 0) {
          assertThat(n).isEqualTo(TransportStream.END);
          ended = true;
        }
      }
      if (kept.hasRemaining()) {
        assertThat(end.stream.write(kept)).isNotNegative();
      }
      if (ended && !kept.hasRemaining()) {
        end.stream.finishOutput();
        done = true;
      }
    }
  }

  /** A selector in small. */
  private static final class Selecting {
    private final ShmReadySet readySet;
    private final Semaphore doorbell = new Semaphore(0);
    private final List<Task> tasks;
    private final Set<Task> active = new LinkedHashSet<>();
    long sleeps;

    Selecting(ShmReadySet readySet, List<Task> tasks) {
      this.readySet = readySet;
      this.tasks = tasks;
      for (Task task : tasks) {
        task.end.selectorDoorbell = doorbell;
        task.end.stream.moveTo(readySet);
      }
      active.addAll(tasks);
    }

    void run() throws Exception {
      int left = tasks.size();
      while (left > 0) {
        readySet.drainReady(this::hinted, 1 + left);
        for (Task task : List.copyOf(active)) {
          int ready = task.end.stream.readiness(task.ops());
          if (ready != 0) {
            task.run(ready);
            if (task.done) {
              active.remove(task);
              left--;
            }
          } else if (watch(task)) {
            active.remove(task);
          }
        }
        if (active.isEmpty() && left > 0) {
          sleep();
        }
      }
      for (Task task : tasks) {
        task.end.stream.moveTo(null);
      }
      readySet.close();
    }

    private static boolean watch(Task task) {
      TransportStream stream = task.end.stream;
      return task.random.nextInt(4) == 0 ? stream.watch(task.ops()) : stream.watchEvery(task.ops());
    }

    private void hinted(TransportStream stream) {
      for (Task task : tasks) {
        if (task.end.stream == stream && !task.done) {
          active.add(task);
        }
      }
    }

    private void sleep() throws InterruptedException {
      doorbell.drainPermits();
      if (readySet.arm()) {
        sleeps++;
        if (!doorbell.tryAcquire(DEADLINE_S, TimeUnit.SECONDS)) {
          throw new AssertionError("no doorbell in " + DEADLINE_S + " s");
        }
      }
      readySet.disarm();
    }
  }

  @Test
  void everySelectorWakesForEveryConnection() throws Exception {
    OwnMappings mappings = new OwnMappings(dir);
    long start = System.nanoTime();
    long sleeps = 0;
    int rounds = 0;
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RINGS, 4 * RINGS)) {
      for (long seed = Seed.next(); System.nanoTime() - start < RUN_NS; seed++, rounds++) {
        Random random = new Random(seed);
        List<Connection> connections = new ArrayList<>();
        List<Task> clients = new ArrayList<>();
        List<Task> echoes = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(CONNECTIONS); i++) {
          Connection made = pair.connect();
          connections.add(made);
          long bytes = 1L + random.nextInt(60_000);
          clients.add(new Client(made.client, new Random(seed + i), seed + i, bytes));
          echoes.add(new Echo(made.server, new Random(seed - i)));
        }
        pair.dialler.transport.summarizedFrom = random.nextBoolean() ? 1 : Integer.MAX_VALUE;
        pair.dialled.transport.summarizedFrom = random.nextBoolean() ? 1 : Integer.MAX_VALUE;
        Selecting here =
            new Selecting((ShmReadySet) pair.dialler.transport.openReadySet(), clients);
        Selecting there =
            new Selecting((ShmReadySet) pair.dialled.transport.openReadySet(), echoes);
        Future<?> server =
            threads.submit(
                () -> {
                  there.run();
                  return null;
                });
        Future<?> client =
            threads.submit(
                () -> {
                  here.run();
                  return null;
                });
        try {
          client.get(2 * DEADLINE_S, TimeUnit.SECONDS);
          server.get(2 * DEADLINE_S, TimeUnit.SECONDS);
        } catch (Exception e) {
          throw new AssertionError(
              "with seed " + seed + ": " + e + "; here " + clients + ", there " + echoes, e);
        }
        sleeps += here.sleeps + there.sleeps;
        connections.forEach(Connection::release);
        here.readySet.close(); // their doorbells go to the next round, of which there are hundreds
        there.readySet.close();
        pair.assertHealthy();
      }
    }
    assertThat(sleeps).as("sleeps in " + rounds + " rounds").isPositive();
    assertThat(mappings.count()).as("mappings").isZero();
  }
}
