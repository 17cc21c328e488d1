// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class LargeMessagesTest {
  @Test
  void theMemoryOfABufferThatIsDroppedIsFreeThoughConnectionsAreOpen() throws Exception {
    NetOptions.Builder options = Pair.options().largeBytes(1 << 20).largeMemoryBytes(1 << 20);
    try (Pair pair = new Pair(options, (c, m) -> {})) {
      Connection connection = pair.connect((c, m) -> {});
      WeakReference<MemorySegment> memory = dropped(pair.left.largeBuffers);
      Pair.await(
          "its memory is collected",
          () -> {
            System.gc();
            return memory.refersTo(null);
          });
      assertThat(connection.isOpen()).isTrue();
    }
  }

  /** The memory of a buffer that had to make room for a smaller one. */
  private static WeakReference<MemorySegment> dropped(LargeBuffers buffers) {
    MemoryRegion large = buffers.take(1 << 20);
    WeakReference<MemorySegment> memory = new WeakReference<>(large.memory());
    buffers.give(large);
    buffers.give(buffers.take(1));
    return memory;
  }
}
