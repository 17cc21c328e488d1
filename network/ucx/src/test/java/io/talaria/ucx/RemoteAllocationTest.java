// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Remote memory, atomics and active messages allocate nothing once they are warm. */
@ExtendWith(NeedsUcx.class)
@Timeout(120)
class RemoteAllocationTest {
  private static final long SLACK_BYTES = 4_000;

  @Test
  void remoteMemoryAllocatesNothing() {
    try (Pair pair = pair();
        Arena arena = Arena.ofConfined();
        MemoryRegion region = MemoryRegion.allocate(pair.context, 64);
        MemoryRegion ordinary = MemoryRegion.register(pair.context, arena.allocate(64, 8));
        RemoteMemory shared = pair.toRight.unpack(region.pack());
        RemoteMemory emulated = pair.toRight.unpack(ordinary.pack())) {
      MemorySegment buffer = arena.allocate(64);
      Runnable access =
          () -> {
            access(pair, shared, buffer);
            access(pair, emulated, buffer);
          };
      assertThat(AllocationTest.allocatedBy(access)).isLessThan(SLACK_BYTES);
    }
  }

  private static void access(Pair pair, RemoteMemory memory, MemorySegment buffer) {
    finish(pair, memory.put(buffer, 0, 8, 0, 0));
    finish(pair, memory.get(buffer, 8, 8, 0));
    finish(pair, memory.addLong(16, 3));
    finish(pair, memory.orInt(24, 3));
    finish(pair, memory.fetchAddLong(16, 3));
    finish(pair, memory.compareAndSwapInt(24, 3, 3));
    finish(pair, memory.fetchXorLong(32, 3));
    finish(pair, pair.toRight.flush());
  }

  private static void finish(Pair pair, long request) {
    int status = (int) request;
    if (request > 0) {
      while ((status = pair.left.poll(request)) == Status.IN_PROGRESS) {
        pair.progress();
      }
    }
    if (status != Status.OK) {
      throw new AssertionError(Status.text(status));
    }
  }

  @Test
  void activeMessagesAllocateNothing() {
    try (Pair pair = pair();
        Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(256);
      long[] state = new long[2];
      pair.right.onMessage(
          1,
          message -> {
            state[0] += message.headerLongAt(0) + message.longAt(8);
            state[1] = message.reply().sendMessage(2, buffer, 0, buffer, 64, 8, 0);
          });
      int[] answers = new int[1];
      pair.left.onMessage(2, message -> answers[0]++);
      Runnable ping =
          () -> {
            int before = answers[0];
            finish(
                pair, pair.toRight.sendMessage(1, buffer, 8, buffer, 0, 100, MessageFlags.REPLY));
            while (answers[0] == before) {
              pair.progress();
            }
            if (state[1] > 0) {
              while (pair.right.poll(state[1]) == Status.IN_PROGRESS) {
                pair.progress();
              }
            }
          };
      assertThat(AllocationTest.allocatedBy(ping)).isLessThan(SLACK_BYTES);
    }
  }

  private static Pair pair() {
    return new Pair(
        ErrorHandling.PEER,
        Feature.RMA,
        Feature.ATOMIC_32,
        Feature.ATOMIC_64,
        Feature.ACTIVE_MESSAGE);
  }
}
