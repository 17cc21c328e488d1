// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.verbs.Access;
import io.talaria.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class LargeMessagesTest {
  private static final String[] COUNTERS = {
    "sent", "taken", "offered", "done", "started", "reported"
  };

  /** As if so many had gone each way. */
  private static void set(LargeMessages large, int count) throws ReflectiveOperationException {
    for (String counter : COUNTERS) {
      Field field = LargeMessages.class.getDeclaredField(counter);
      field.setAccessible(true);
      field.setInt(large, count);
    }
  }

  @Test
  void theirCountersMayOverflow() throws Exception {
    AtomicReference<Connection> peer = new AtomicReference<>();
    AtomicInteger seen = new AtomicInteger();
    ConnectionHandler handler =
        (c, m) -> {
          peer.set(c);
          seen.incrementAndGet();
        };
    try (Pair pair = new Pair(Pair.options(), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      Pair.send(connection, 1, 1);
      Pair.await("the message", () -> seen.get() == 1);
      set(connection.large, Integer.MAX_VALUE - 2);
      set(peer.get().large, Integer.MAX_VALUE - 2);
      RegisteredMemory memory = pair.left.allocate(1 << 16, Access.REMOTE_READ);
      AtomicInteger done = new AtomicInteger();
      for (int i = 0; i < 12; i++) {
        long token = i;
        assertThat(
                connection.sendLarge(
                    memory,
                    0,
                    1 << 16,
                    token,
                    (c, t, status) -> {
                      if (t == token && status == OperationListener.DONE) {
                        done.incrementAndGet();
                      }
                    }))
            .isEqualTo(Connection.SENT);
        int sent = i + 1;
        Pair.await("large message " + i, () -> done.get() == sent);
      }
      assertThat(seen.get()).isEqualTo(13);
      assertThat(connection.isOpen()).isTrue();
    }
  }

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
