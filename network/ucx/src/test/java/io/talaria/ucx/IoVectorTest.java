// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several pieces of memory in one operation. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class IoVectorTest {
  private final Arena arena = Arena.ofConfined();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.TAG, Feature.STREAM, Feature.ACTIVE_MESSAGE);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  /** Cuts memory into four pieces, one of them empty. */
  private static IoVector cut(MemorySegment whole, long first, long second) {
    long size = whole.byteSize();
    return IoVector.of(
        whole.asSlice(0, first),
        whole.asSlice(first, 0),
        whole.asSlice(first, second - first),
        whole.asSlice(second, size - second));
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 3000, 100_000, 4 << 20})
  void messagesByTagAreGatheredAndScattered(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    IoVector from = cut(sent, 1, size / 2);
    assertThat(from.lengthBytes()).isEqualTo(size);
    assertThat(from).hasToString("IoVector[3 pieces, " + size + " bytes]");
    long receive = pair.right.receiveTag(cut(received, size / 4, size - 1), 5, -1);
    long send = pair.toRight.sendTag(from, 5, 0);
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    assertThat(pair.right.receivedTag(receive)).isEqualTo(5);
    pair.right.release(receive);
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 3000, 100_000, 4 << 20})
  void streamsAreGatheredAndScattered(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long receive = pair.toLeft.receiveStreamFully(cut(received, size / 4, size - 1));
    long send = pair.toRight.sendStream(cut(sent, 1, size / 2), 0);
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    pair.right.release(receive);
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
  }

  @Test
  void aReceiveTakesWhatIsThere() {
    MemorySegment sent = Pair.pattern(arena, 10);
    MemorySegment received = arena.allocate(100);
    long receive = pair.toLeft.receiveStream(cut(received, 3, 50));
    assertThat(pair.finish(pair.left, pair.toRight.sendStream(cut(sent, 1, 2), 0))).isZero();
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(10);
    assertThat(received.asSlice(0, 10).mismatch(sent)).isEqualTo(-1);
    pair.right.release(receive);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 3000, 100_000, 4 << 20})
  void activeMessagesAreGathered(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long[] receive = new long[1];
    pair.right.onMessage(0, message -> receive[0] = message.receive(received, 0));
    long send = pair.toRight.sendMessage(0, sent, 3, cut(sent, 1, size / 2), 0);
    pair.until(() -> receive[0] > 0 && pair.right.status(receive[0]) != Status.IN_PROGRESS);
    assertThat(pair.right.poll(receive[0])).isZero();
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
  }

  /** As eager messages and as such whose data the receiver asks for; into more room than needed. */
  @ParameterizedTest
  @CsvSource({"8, 0", "3000, 0", "3000, 64", "100000, 32", "100000, 64", "4194304, 0"})
  void activeMessagesAreScattered(int size, int flags) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size + 100);
    long[] receive = new long[1];
    pair.right.onMessage(
        0,
        message -> {
          IoVector cramped = IoVector.of(received.asSlice(0, size - 1));
          assertThatIllegalArgumentException()
              .isThrownBy(() -> message.receive(cramped))
              .withMessageContaining("no room for a message of " + size + " bytes");
          receive[0] = message.receive(cut(received, size / 4, size - 1));
          assertThat(message.isPresent()).isFalse();
        });
    long send = pair.toRight.sendMessage(0, sent, 3, sent, 0, size, flags);
    pair.until(() -> receive[0] > 0 && pair.right.status(receive[0]) != Status.IN_PROGRESS);
    assertThat(pair.right.receivedBytes(receive[0])).isEqualTo(size);
    assertThat(pair.right.poll(receive[0])).isZero();
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.asSlice(0, size).mismatch(sent)).isEqualTo(-1);
  }

  @Test
  void anEmptyVectorIsAnEmptyMessage() {
    IoVector empty = IoVector.of();
    MemorySegment header = arena.allocate(8);
    assertThat(pair.toRight.sendStream(empty, 0)).isZero();
    long stream = pair.toLeft.receiveStreamFully(empty);
    assertThat(pair.right.poll(stream)).isZero();
    long tag = pair.right.receiveTag(empty, 9, -1);
    assertThat(pair.finish(pair.left, pair.toRight.sendTag(empty, 9, 0))).isZero();
    pair.until(() -> pair.right.status(tag) != Status.IN_PROGRESS);
    assertThat(pair.right.receivedBytes(tag)).isZero();
    assertThat(pair.right.poll(tag)).isZero();
    long[] lengths = {-1};
    pair.right.onMessage(0, message -> lengths[0] = message.length());
    long send = pair.toRight.sendMessage(0, header, 8, empty, 0);
    pair.until(() -> lengths[0] == 0);
    assertThat(pair.finish(pair.left, send)).isZero();
  }

  @Test
  void piecesThatAreNotToBeUsedThrow() {
    MemorySegment buffer = arena.allocate(8);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IoVector.of(buffer, MemorySegment.ofArray(new byte[8])));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.right.receiveTag(IoVector.of(buffer.asReadOnly()), 0, 0))
        .withMessageContaining("read-only");
    Arena brief = Arena.ofConfined();
    IoVector dead = IoVector.of(brief.allocate(8));
    brief.close();
    assertThatIllegalStateException().isThrownBy(() -> pair.toRight.sendTag(dead, 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendStream(IoVector.of(buffer), 16));
  }
}
