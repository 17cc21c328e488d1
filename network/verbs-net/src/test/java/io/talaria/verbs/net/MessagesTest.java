// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Provider.class)
@Timeout(300)
class MessagesTest {
  @Test
  void whatIsWrittenInPlaceArrivesAndIsAnswered() throws Exception {
    AtomicLong answered = new AtomicLong();
    try (Pair pair =
        new Pair(Pair.options(), (c, m) -> Pair.answer(c, m.longAt(0) + m.longAt(8)))) {
      Connection connection = pair.connect((c, m) -> answered.set(m.longAt(0)));
      for (int i = 1; i <= 100; i++) {
        Pair.send(connection, i, 1000);
        long expected = i + 1000L;
        Pair.await("an answer", () -> answered.get() == expected);
      }
    }
  }

  @Test
  void messagesOfAnyLengthComeWholeAndInOrder() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    int[] lengths = {0, 1, 7, 63, 64, 65, 1000, 4095, 4096};
    ConnectionHandler handler =
        (c, m) -> {
          long sum = 0;
          for (long i = 0; i < m.length(); i++) {
            sum += m.byteAt(i);
          }
          seen.add(m.length() + ":" + sum);
        };
    try (Pair pair = new Pair(Pair.options(), handler);
        Arena arena = Arena.ofConfined()) {
      Connection connection = pair.connect((c, m) -> {});
      StringBuilder expected = new StringBuilder();
      for (int round = 0; round < 20; round++) {
        for (int length : lengths) {
          MemorySegment bytes = arena.allocate(Math.max(1, length)).asSlice(0, length);
          byte fill = (byte) (round + length);
          bytes.fill(fill);
          assertThat(connection.sendCopy(bytes, Pair.LIMIT_NS)).isEqualTo(Connection.SENT);
          expected.append(length).append(':').append((long) length * fill).append(' ');
        }
      }
      Pair.await("all messages", () -> seen.size() == 20 * lengths.length);
      assertThat(String.join(" ", seen) + " ").isEqualTo(expected.toString());
    }
  }

  @Test
  void whatIsNotAllowedIsRefusedByName() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    try (Pair pair = new Pair(Pair.options(), (c, m) -> seen.incrementAndGet());
        Pair other = new Pair(Pair.options(), (c, m) -> {})) {
      Connection connection = pair.connect((c, m) -> {});
      Connection foreign = other.connect((c, m) -> {});
      Slice slice = connection.awaitSlice(Pair.LIMIT_NS);
      assertThat(slice.capacity()).isEqualTo(4096);
      assertThatThrownBy(() -> connection.send(slice, 4097))
          .hasMessageContaining("4097 bytes, but slices hold 4096");
      assertThatThrownBy(() -> connection.send(slice, -1)).hasMessageContaining("-1 bytes");
      assertThatThrownBy(() -> foreign.send(slice, 1)).hasMessage("the slice is of another node");
      assertThat(connection.send(slice, 1)).isEqualTo(Connection.SENT);
      assertThatThrownBy(() -> connection.send(slice, 1)).hasMessageContaining("not borrowed");
      assertThatThrownBy(slice::release).hasMessageContaining("not borrowed");
      assertThatThrownBy(slice::memory).hasMessageContaining("not borrowed");
      Slice again = connection.awaitSlice(Pair.LIMIT_NS);
      again.release();
      Pair.await("the message", () -> seen.get() == 1);
    }
  }

  @Test
  void aMessageIsOverWhenTheHandlerReturns() throws Exception {
    List<Message> kept = new CopyOnWriteArrayList<>();
    List<Message> over = new CopyOnWriteArrayList<>();
    ConnectionHandler handler =
        (c, m) -> {
          if (m.longAt(0) == 1) {
            m.keep();
            kept.add(m);
          } else {
            over.add(m);
          }
          assertThatThrownBy(() -> m.longAt(9)).isInstanceOf(IndexOutOfBoundsException.class);
        };
    try (Pair pair = new Pair(Pair.options(), handler)) {
      Connection connection = pair.connect((c, m) -> {});
      Pair.send(connection, 1, 7);
      Pair.send(connection, 2, 8);
      Pair.await("both", () -> kept.size() == 1 && over.size() == 1);
      Pair.await("its end", () -> isOver(over.getFirst()));
      Message message = kept.getFirst();
      assertThat(message.longAt(8)).isEqualTo(7);
      assertThat(message.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 8)).isEqualTo(7);
      assertThatThrownBy(message::keep).isInstanceOf(IllegalStateException.class);
      message.release();
      assertThatThrownBy(() -> message.longAt(8)).hasMessageContaining("the message is over");
      assertThatThrownBy(message::release).hasMessage("the message is not kept");
    }
  }

  private static boolean isOver(Message message) {
    try {
      byte ignored = message.byteAt(0);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }
}
