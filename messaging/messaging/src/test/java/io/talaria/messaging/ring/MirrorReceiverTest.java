// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A mirror of which parts are copied and parts are lent. */
class MirrorReceiverTest {
  private static final int CAPACITY = 16 << 10;
  private static final int MAX_FRAME = 2048;
  private static final int ROUNDS = 50_000;

  private final Random random = new Random(11);
  private final MemorySegment own = Arena.ofAuto().allocate(CAPACITY, 8);
  private final MirrorReceiver mirror = new MirrorReceiver(own);
  private final Queue<Integer> expected = new ArrayDeque<>();
  private final TreeSet<Integer> lent = new TreeSet<>();
  private int next;
  private int buffers;

  /** Records of random sizes, of at most so many bytes together. */
  private MemorySegment frame(int most) {
    MemorySegment frame = Arena.ofAuto().allocate(MAX_FRAME, 8);
    int at = 0;
    do {
      int bytes = 8 + 8 * random.nextInt(Math.max(1, Math.min(16, (most - at) / 8)));
      if (at + bytes > most) {
        break;
      }
      frame.set(ValueLayout.JAVA_INT, at, bytes - random.nextInt(4));
      frame.set(ValueLayout.JAVA_INT, at + 4L, next);
      expected.add(next++);
      at += bytes;
    } while (random.nextInt(8) != 0);
    return frame.asSlice(0, at);
  }

  private void receive() {
    int left = CAPACITY - mirror.writeOffset();
    int skipped = left <= MAX_FRAME && random.nextInt(3) == 0 ? 8 : 0;
    int most = Math.min(left, MAX_FRAME) - skipped;
    if (most < 8 || !mirror.accepts(most, skipped)) {
      return;
    }
    MemorySegment frame = frame(most);
    int bytes = (int) frame.byteSize();
    if (random.nextInt(3) != 0 && mirror.lend(lent::remove, buffers, frame, 0, bytes, skipped)) {
      lent.add(buffers++);
      return;
    }
    own.asSlice(mirror.writeOffset(), bytes).copyFrom(frame);
    mirror.wrote(bytes, skipped);
  }

  private void remove() {
    int bytes = mirror.peek();
    if (bytes == 0) {
      assertThat(expected).isEmpty();
      return;
    }
    int value = mirror.memory().get(ValueLayout.JAVA_INT, mirror.offset() + 4);
    assertThat(value).isEqualTo(expected.remove());
    mirror.advance();
  }

  @Test
  void allArrivesInOrderWhereverItIs() {
    int most = 0;
    for (int round = 0; round < ROUNDS; round++) {
      receive();
      most = Math.max(most, lent.size());
      for (int i = random.nextInt(24); i > 0; i--) {
        remove();
      }
      if (random.nextBoolean()) {
        mirror.publish();
      }
    }
    while (!expected.isEmpty()) {
      remove();
    }
    assertThat(lent).isEmpty();
    assertThat(most).isEqualTo(MirrorReceiver.MAX_LENT);
    assertThat(buffers).isGreaterThan(1000);
    assertThat(next).isGreaterThan(ROUNDS);
  }

  @Test
  void loansThatAreLeftAreGivenBackOnce() {
    for (int i = 0; i < 3; i++) {
      MemorySegment frame = frame(64);
      assertThat(mirror.lend(lent::remove, i, frame, 0, (int) frame.byteSize(), 0)).isTrue();
    }
    List<Integer> back = new ArrayList<>();
    mirror.returnLoans(back::add);
    mirror.returnLoans(back::add);
    assertThat(back).containsExactly(0, 1, 2);
  }

  @Test
  void aRecordThatReachesOverItsBufferIsRefused() {
    for (int length : new int[] {-8, 0, 24, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      MirrorReceiver victim = new MirrorReceiver(Arena.ofAuto().allocate(CAPACITY, 8));
      MemorySegment frame = Arena.ofAuto().allocate(64, 8);
      frame.set(ValueLayout.JAVA_INT, 0, length);
      assertThat(victim.lend(buffer -> {}, 0, frame, 0, 16, 0)).isTrue();
      assertThatThrownBy(victim::peek).isInstanceOf(RingBrokenException.class);
    }
  }
}
