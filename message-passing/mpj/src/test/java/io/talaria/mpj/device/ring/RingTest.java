// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.device.frame.Frames;
import io.talaria.testsupport.Seed;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Frames of random lengths come out of a ring as they went in, in whatever order both sides act.
 */
@Timeout(60)
class RingTest {
  private static final int WRITER = 0;
  private static final int READER = 1;
  private static final int STEPS = 40_000;

  /** The length word of a frame is not the test's. */
  private static final int LENGTH_BYTES = 4;

  private final MemorySegment memory = Arena.ofAuto().allocate(RingLayout.bytes(64 << 10), 64);

  private static Random seeded() {
    long seed = Seed.next();
    return new Random(seed);
  }

  /** A ring of so many bytes, both ends of which are here. */
  private final class Ring {
    final RingWriter writer;
    final RingReader reader;

    Ring(int capacity) {
      MemorySegment ring = memory.asSlice(0, RingLayout.bytes(capacity));
      RankPages pages = new RankPages(Arena.ofAuto().allocate(RankPages.bytes(2), 64), 2);
      writer = new RingWriter(ring, pages, READER);
      reader = new RingReader(ring, pages, WRITER);
    }

    /** Mostly short ones, several of which share a cache line. */
    int length(Random random) {
      int longest = writer.longestPayload() + Frames.HEADER;
      int most = random.nextInt(4) == 0 ? longest : Math.min(longest, 3 * Frames.HEADER);
      return Frames.HEADER + random.nextInt(most - Frames.HEADER + 1);
    }

    boolean write(int length, int number) {
      long at = writer.claim(Frames.room(length - Frames.HEADER));
      if (at < 0) {
        return false;
      }
      for (int i = LENGTH_BYTES; i < length; i++) {
        writer.segment().set(ValueLayout.JAVA_BYTE, at + i, (byte) (number + i));
      }
      writer.publish(at, length);
      return true;
    }

    /** Returns the length of the frame that was there, or 0. */
    int read(int number) {
      long at = reader.poll();
      if (at < 0) {
        return 0;
      }
      int length = Frames.length(reader.segment(), at);
      for (int i = LENGTH_BYTES; i < length; i++) {
        byte found = reader.segment().get(ValueLayout.JAVA_BYTE, at + i);
        if (found != (byte) (number + i)) {
          throw new AssertionError("frame " + number + " of " + length + " bytes, at " + i);
        }
      }
      reader.consume(length);
      return length;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4096, 64 << 10})
  void framesComeOutInAnyOrderOfSteps(int capacity) {
    Random random = seeded();
    Ring ring = new Ring(capacity);
    Deque<Integer> lengths = new ArrayDeque<>();
    int written = 0;
    int read = 0;
    int inRow = 1;
    for (int step = 0; step < STEPS; step++) {
      if (random.nextInt(50) == 0) {
        inRow = 1 + random.nextInt(200); // from one at a time to a full ring
      }
      boolean writes = random.nextInt(inRow) != 0 ? lengths.size() < inRow : random.nextBoolean();
      int length = ring.length(random);
      if (writes && ring.write(length, written)) {
        written++;
        lengths.add(length);
        continue;
      }
      assertThat(writes && lengths.isEmpty()).as("no room in an empty ring").isFalse();
      int expected = lengths.isEmpty() ? 0 : lengths.remove();
      assertThat(ring.read(read)).isEqualTo(expected);
      read += expected == 0 ? 0 : 1;
    }
    assertThat(read).isGreaterThan(STEPS / 10);
  }

  @Test
  void framesComeOutWhileOthersAreWritten() throws Exception {
    long seed = seeded().nextLong();
    Ring ring = new Ring(4096);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread reader =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    Random random = new Random(seed);
                    for (int number = 0; number < STEPS; number++) {
                      int expected = ring.length(random);
                      int found;
                      while ((found = ring.read(number)) == 0) {
                        Thread.onSpinWait();
                      }
                      assertThat(found).isEqualTo(expected);
                    }
                  } catch (Throwable e) {
                    failure.set(e);
                  }
                });
    Random random = new Random(seed);
    for (int number = 0; number < STEPS && failure.get() == null; number++) {
      int length = ring.length(random);
      while (!ring.write(length, number) && failure.get() == null) {
        Thread.onSpinWait();
      }
    }
    reader.join();
    assertThat(failure.get()).isNull();
  }
}
