// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both ends of connections at once, with sizes, pauses, sleeps, growth and ends at random: four
 * threads a connection, beside the two of the negotiation. Seeded; a failure names its seed.
 */
@Timeout(120)
class RingStressTest {
  private static final long DEADLINE_S = 60;
  private static final int MIN_SIZE = ConnectionLayout.MIN_RING_BYTES;
  private static final long ROUNDS_NS = Length.ns(4);

  @TempDir Path dir;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  private OwnMappings mappings;

  @BeforeEach
  void countMappings() throws Exception {
    mappings = new OwnMappings(dir);
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  /** How one direction ends. */
  private enum Ending {
    FINISHED,
    ABORTED,
    KILLED
  }

  /** One direction of a connection. */
  private static final class Direction {
    final End from;
    final End to;
    final long seed;

    /** Whether its writer was told of a reset. */
    volatile boolean writerTold;

    Direction(End from, End to, long seed) {
      this.from = from;
      this.to = to;
      this.seed = seed;
    }
  }

  // ---- threads
  // -------------------------------------------------------------------------------------

  /** Writes a number of bytes; returns early if the peer is gone. */
  private static long write(Direction d, long bytes, boolean mayBreak) throws Exception {
    Random random = new Random(d.seed);
    long done = 0;
    while (done < bytes) {
      int size = (int) Math.min(bytes - done, Pattern.size(random, 200_000));
      ByteBuffer[] sources = sources(random, size, d.seed, done);
      while (sources[sources.length - 1].hasRemaining()) {
        long before = remaining(sources);
        long n = sources.length == 1 ? d.from.write(sources[0]) : d.from.write(sources);
        if (mayBreak && (n == TransportStream.BROKEN || n == TransportStream.RESET)) {
          d.writerTold = n == TransportStream.RESET;
          return done;
        }
        assertThat(n).as("written").isBetween(0L, before);
        assertThat(before - remaining(sources)).as("taken from the sources").isEqualTo(n);
        done += n;
        if (n == 0) {
          d.from.sleep(TransportStream.WRITE);
        }
      }
      Pattern.jitter(random);
    }
    return done;
  }

  private static ByteBuffer[] sources(Random random, int size, long seed, long position) {
    if (random.nextInt(3) != 0 || size < 3) {
      ByteBuffer one = Pattern.buffer(random, size);
      Pattern.fill(one, seed, position);
      return new ByteBuffer[] {one};
    }
    List<ByteBuffer> sources = new ArrayList<>();
    int left = size;
    while (left > 0) {
      int part = sources.size() == 5 ? left : random.nextInt(left + 1);
      ByteBuffer one = Pattern.buffer(random, part);
      Pattern.fill(one, seed, position + size - left);
      sources.add(one);
      left -= part;
    }
    return sources.toArray(ByteBuffer[]::new);
  }

  private static long remaining(ByteBuffer[] sources) {
    long bytes = 0;
    for (ByteBuffer source : sources) {
      bytes += source.remaining();
    }
    return bytes;
  }

  /** Reads to the end and checks every byte; returns how many came, with the end's code. */
  private static long[] read(Direction d) throws Exception {
    Random random = new Random(~d.seed);
    long done = 0;
    while (true) {
      ByteBuffer buffer = Pattern.buffer(random, Pattern.size(random, 200_000));
      int start = buffer.position();
      int room = buffer.remaining();
      int n = d.to.read(buffer);
      if (n < 0) {
        assertThat(buffer.position()).isEqualTo(start);
        return new long[] {done, n};
      }
      assertThat(n).as("read").isBetween(0, room);
      assertThat(buffer.position()).isEqualTo(start + n);
      Pattern.check(buffer, start, start + n, d.seed, done);
      done += n;
      if (n == 0) {
        d.to.sleep(TransportStream.READ);
      }
      Pattern.jitter(random);
    }
  }

  private <T> Future<T> start(Callable<T> work) {
    return threads.submit(work);
  }

  private static <T> T join(Future<T> work) throws Exception {
    return work.get(DEADLINE_S, TimeUnit.SECONDS);
  }

  // ---- rounds
  // --------------------------------------------------------------------------------------

  @FunctionalInterface
  private interface Round {
    void run(PeerPair pair, Random random, long seed) throws Exception;
  }

  /** Repeats a round with new seeds for a while, then looks for what was left behind. */
  private int rounds(int ringBytes, int maxRingBytes, Round round) throws Exception {
    Path shm = dir.resolve("shm");
    long start = System.nanoTime();
    int count = 0;
    try (PeerPair pair = new PeerPair(shm, ringBytes, maxRingBytes)) {
      for (long seed = Seed.next(); System.nanoTime() - start < ROUNDS_NS; seed++, count++) {
        try {
          round.run(pair, new Random(seed), seed);
          pair.settle();
          pair.assertHealthy();
        } catch (Exception | AssertionError e) {
          throw new AssertionError("with seed " + seed + ": " + e, e);
        }
      }
      assertThat(shm).as("files that both sides have mapped").isEmptyDirectory();
    }
    assertThat(mappings.count()).as("mappings").isZero();
    return count;
  }

  private void finishBothWays(PeerPair pair, Random random, long seed, int most) throws Exception {
    Connection c = pair.connect();
    Direction there = new Direction(c.client, c.server, seed);
    Direction back = new Direction(c.server, c.client, -seed);
    List<Future<Long>> writers = new ArrayList<>();
    List<Future<long[]>> readers = new ArrayList<>();
    List<Long> totals = new ArrayList<>();
    for (Direction d : List.of(there, back)) {
      long bytes = random.nextInt(8) == 0 ? random.nextInt(most) : random.nextInt(most / 16);
      totals.add(bytes);
      writers.add(
          start(
              () -> {
                long done = write(d, bytes, false);
                d.from.stream.finishOutput();
                return done;
              }));
      readers.add(start(() -> read(d)));
    }
    Future<?> looking = start(() -> lookOn(c, readers));
    for (int i = 0; i < 2; i++) {
      assertThat(join(writers.get(i))).isEqualTo(totals.get(i));
      assertThat(join(readers.get(i))).containsExactly(totals.get(i), TransportStream.END);
    }
    join(looking);
    c.release();
  }

  /** Looks at both ends as a selecting thread may, which can ask for larger rings too. */
  private static Void lookOn(Connection c, List<Future<long[]>> readers) {
    Random random = new Random(1);
    while (!readers.get(0).isDone() || !readers.get(1).isDone()) {
      for (End end : List.of(c.client, c.server)) {
        end.stream.readiness(TransportStream.READ | TransportStream.WRITE);
        assertThat(end.stream.available()).isNotNegative();
        Pattern.jitter(random);
      }
      Thread.yield();
    }
    return null;
  }

  @Test
  void nothingIsLostWhileRingsStaySmall() throws Exception {
    rounds(MIN_SIZE, MIN_SIZE, (pair, random, seed) -> finishBothWays(pair, random, seed, 1 << 20));
  }

  @Test
  void nothingIsLostWhileRingsGrow() throws Exception {
    rounds(MIN_SIZE, 4 << 20, (pair, random, seed) -> finishBothWays(pair, random, seed, 32 << 20));
  }

  /** As often as possible, and not once a second. */
  private Void restOn(PeerPair pair, List<? extends Future<?>> work) throws Exception {
    while (!work.stream().allMatch(Future::isDone)) {
      pair.rest();
    }
    return null;
  }

  @Test
  void nothingIsLostWhileDirectionsRest() throws Exception {
    rounds(
        MIN_SIZE,
        1 << 16,
        (pair, random, seed) -> {
          Future<Void> round =
              start(
                  () -> {
                    finishBothWays(pair, random, seed, 1 << 20);
                    return null;
                  });
          join(start(() -> restOn(pair, List.of(round))));
          join(round);
        });
  }

  @Test
  void whatWasWrittenIsReadBeforeAnyEnd() throws Exception {
    rounds(MIN_SIZE, 1 << 16, this::endAtRandom);
  }

  /** One end writes and then ends in some way at some instant; the other writes on and reads. */
  private void endAtRandom(PeerPair pair, Random random, long seed) throws Exception {
    Connection c = pair.connect();
    boolean client = random.nextBoolean();
    End ending = client ? c.client : c.server;
    Direction out = new Direction(ending, ending.other, seed);
    Direction in = new Direction(ending.other, ending, -seed);
    Ending how = Ending.values()[random.nextInt(3)];
    boolean resetByKernel = random.nextBoolean();
    long bytes = random.nextInt(200_000);

    Future<long[]> survivingReader = start(() -> read(out));
    Future<Long> survivingWriter = start(() -> write(in, 4 << 20, true));
    long written = join(start(() -> write(out, bytes, false)));
    assertThat(written).isEqualTo(bytes);
    Pattern.jitter(random);
    boolean finishedFirst = false;
    switch (how) {
      case FINISHED -> {
        ending.stream.abandonInput(false);
        ending.stream.finishOutput();
      }
      case ABORTED -> {
        ending.stream.abandonInput(false);
        ending.stream.abort();
      }
      case KILLED -> {
        finishedFirst = random.nextInt(3) == 0;
        if (finishedFirst) {
          ending.stream.finishOutput();
        }
        ending.other.controlEnded(resetByKernel);
      }
    }

    long[] seen = join(survivingReader);
    long taken = join(survivingWriter);
    assertThat(seen[0]).as("bytes before the end").isEqualTo(bytes);
    boolean clean = how == Ending.FINISHED || finishedFirst;
    boolean readerTold = seen[1] == TransportStream.RESET;
    assertThat(seen[1]).isIn((long) TransportStream.END, (long) TransportStream.RESET);
    if (clean) {
      assertThat(readerTold || in.writerTold).isFalse();
    } else if (how == Ending.ABORTED || resetByKernel) {
      assertThat(readerTold).as("told of the reset once").isNotEqualTo(in.writerTold);
    }
    assertThat(taken).as("bytes accepted for nobody").isLessThan(4 << 20);
    assertThat(ending.other.stream.write(ByteBuffer.allocate(1))).isEqualTo(TransportStream.BROKEN);
    c.release();
  }
}
