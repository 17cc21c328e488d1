// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NeedsUcx.class)
@Timeout(240)
class ManyEndpointsTest {
  private static final int COUNT = 1000;

  @Test
  void aThousandEndpointsLiveOnOneWorker() {
    try (Context context = Pair.context(Feature.STREAM);
        Worker left = Worker.open(context, Worker.Options.defaults());
        Worker right = Worker.open(context, Worker.Options.defaults());
        Arena arena = Arena.ofConfined()) {
      Endpoint[] there = new Endpoint[COUNT];
      Endpoint[] here = new Endpoint[COUNT];
      for (int i = 0; i < COUNT; i++) {
        there[i] = left.connect(Endpoint.Options.to(right.address()));
        here[i] = right.connect(Endpoint.Options.to(left.address()));
        here[i].attach(i);
      }
      MemorySegment numbers = arena.allocate(ValueLayout.JAVA_LONG, COUNT);
      for (int i = 0; i < COUNT; i++) {
        numbers.setAtIndex(ValueLayout.JAVA_LONG, i, i);
        assertThat(there[i].sendStream(numbers, i * 8L, 8, 0)).isNotNegative();
      }
      // Pairs are made in the order of creation, so each number arrives at its own.
      boolean[] seen = new boolean[COUNT];
      int[] count = new int[1];
      Endpoint[] ready = new Endpoint[16];
      StreamChunk chunk = new StreamChunk();
      Pair.until(
          () -> {
            int found = right.pollStreams(ready);
            for (int i = 0; i < found; i++) {
              long length = ready[i].receiveStream(chunk);
              if (length > 0) {
                assertThat(length).isEqualTo(8);
                int number = (int) chunk.longAt(0);
                assertThat(ready[i].attachment()).isEqualTo(number);
                assertThat(seen[number]).isFalse();
                seen[number] = true;
                count[0]++;
                chunk.release();
              }
            }
            return count[0] == COUNT;
          },
          () -> {
            left.progress();
            right.progress();
          });
      for (int i = 0; i < COUNT; i += 2) {
        assertThat(there[i].closeForced()).isNotNegative();
      }
      assertThat(left.pollFailures(ready)).isZero();
    }
  }
}
