// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NeedsUcx.class)
@Timeout(60)
class TagTest {
  private static final long ALL = -1;

  private final Arena arena = Arena.ofConfined();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.TAG);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16, 90, 4096, 65537, 1 << 20, 20_000_003})
  void aMessageIsReceived(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size + 10L);
    long receive = pair.right.receiveTag(received, 10, size, 42, ALL);
    long send = pair.toRight.sendTag(sent, 0, size, 42, 0);
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    assertThat(pair.right.receivedTag(receive)).isEqualTo(42);
    pair.right.release(receive);
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.asSlice(10).mismatch(sent)).isEqualTo(-1);
  }

  @Test
  void aMessageThatIsThereIsReceivedAtOnce() {
    MemorySegment sent = Pair.pattern(arena, 100);
    MemorySegment received = arena.allocate(200);
    long send = pair.toRight.sendTag(sent, 0, 100, 0xab01, 0);
    pair.until(() -> pair.right.probeTag(0xab00, 0xff00) != Status.NO_MESSAGE);
    assertThat(pair.right.probeTag(0xab00, 0xff00)).isEqualTo(100);
    assertThat(pair.right.probeTag(0xac00, 0xff00)).isEqualTo(Status.NO_MESSAGE);
    long receive = pair.right.receiveTag(received, 0, 200, 0xab00, 0xff00);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(100);
    assertThat(pair.right.receivedTag(receive)).isEqualTo(0xab01);
    pair.right.release(receive);
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.asSlice(0, 100).mismatch(sent)).isEqualTo(-1);
  }

  /** Puts two messages there, and looks at the second last, whose length is another. */
  private void twoAreThere(MemorySegment sent, int size) {
    assertThat(pair.toRight.sendTag(sent, 0, size, 0xab01, 0)).isGreaterThanOrEqualTo(0);
    assertThat(pair.toRight.sendTag(sent, 0, 7, 0xcd02, 0)).isGreaterThanOrEqualTo(0);
    pair.until(() -> pair.right.probeTag(0xab00, 0xff00) != Status.NO_MESSAGE);
    pair.until(() -> pair.right.probeTag(0xcd00, 0xff00) == 7);
  }

  private void isReceived(long receive, int size, int tag) {
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    assertThat(pair.right.receivedTag(receive)).isEqualTo(tag);
    pair.right.release(receive);
  }

  /** Ends as truncated, and knows whose message it was. */
  private void isTruncated(long receive, int tag) {
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isEqualTo(Status.MESSAGE_TRUNCATED);
    assertThat(pair.right.receivedBytes(receive)).isZero();
    assertThat(pair.right.receivedTag(receive)).isEqualTo(tag);
    pair.right.release(receive);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16, 90, 200, 5000, 100_000, 1 << 20})
  void aReceiveOfAMessageThatIsThereKnowsItsOwnLengthAndTag(int size) {
    MemorySegment sent = Pair.pattern(arena, Math.max(7, size));
    MemorySegment received = arena.allocate(size + 100L);
    twoAreThere(sent, size);
    isReceived(pair.right.receiveTag(received, 0, size + 100L, 0xab00, 0xff00), size, 0xab01);
    assertThat(received.asSlice(0, size).mismatch(sent.asSlice(0, size))).isEqualTo(-1);
    isReceived(pair.right.receiveTag(received, 0, size + 100L, 0, 0), 7, 0xcd02);
    twoAreThere(sent, size);
    IoVector pieces = IoVector.of(received.asSlice(0, 1), received.asSlice(1));
    isReceived(pair.right.receiveTag(pieces, 0xab00, 0xff00), size, 0xab01);
    isReceived(pair.right.receiveTag(pieces, 0, 0), 7, 0xcd02);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 90, 5000, 1 << 20})
  void aReceiveOfATakenMessageKnowsItsOwnLengthAndTag(int size) {
    MemorySegment sent = Pair.pattern(arena, Math.max(7, size));
    MemorySegment received = arena.allocate(Math.max(7, size));
    twoAreThere(sent, size);
    TagMessage first = new TagMessage();
    TagMessage second = new TagMessage();
    assertThat(pair.right.probeTag(0xab00, 0xff00, first)).isEqualTo(size);
    assertThat(pair.right.probeTag(0, 0, second)).isEqualTo(7);
    isReceived(pair.right.receiveTag(first, received, 0), size, 0xab01);
    isReceived(pair.right.receiveTag(second, received, 0), 7, 0xcd02);
  }

  @Test
  void aMessageThatIsThereAndTooLongIsTruncated() {
    MemorySegment sent = Pair.pattern(arena, 50);
    MemorySegment received = arena.allocate(100);
    twoAreThere(sent, 50);
    isTruncated(pair.right.receiveTag(received, 0, 10, 0xab00, 0xff00), 0xab01);
    isReceived(pair.right.receiveTag(received, 0, 100, 0, 0), 7, 0xcd02);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5000, 3_000_000})
  void aMessageIsTakenAndThenReceived(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    long send = pair.toRight.sendTag(sent, 0, size, 7, 0);
    TagMessage message = new TagMessage();
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.right.receiveTag(message, sent, 0))
        .withMessageContaining("probe first");
    pair.until(() -> pair.right.probeTag(0, 0, message) != Status.NO_MESSAGE);
    assertThat(message.length()).isEqualTo(size);
    assertThat(message.tag()).isEqualTo(7);
    assertThat(pair.right.probeTag(0, 0)).isEqualTo(Status.NO_MESSAGE);
    MemorySegment received = arena.allocate(message.length());
    long receive = pair.right.receiveTag(message, received, 0);
    assertThat(message.isPresent()).isFalse();
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    pair.right.release(receive);
    assertThat(pair.finish(pair.left, send)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 1 << 20})
  void aSynchronousSendWaitsForItsReceive(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long send = pair.toRight.sendTagSync(sent, 0, size, 5, 0);
    assertThat(send).isGreaterThan(1);
    pair.until(() -> pair.right.probeTag(5, ALL) != Status.NO_MESSAGE);
    for (int i = 0; i < 1000; i++) {
      pair.progress();
    }
    assertThat(pair.left.status(send)).isEqualTo(Status.IN_PROGRESS);
    long receive = pair.right.receiveTag(received, 0, size, 5, ALL);
    pair.until(() -> pair.left.status(send) != Status.IN_PROGRESS);
    assertThat(pair.left.poll(send)).isZero();
    assertThat(pair.finish(pair.right, receive)).isZero();
    assertThat(received.mismatch(sent)).isEqualTo(-1);
  }

  @Test
  void aMessageThatIsTooLongIsTruncated() {
    MemorySegment buffer = arena.allocate(100);
    long receive = pair.right.receiveTag(buffer, 0, 10, 0xab00, 0xff00);
    long send = pair.toRight.sendTag(buffer, 0, 100, 0xab01, 0);
    isTruncated(receive, 0xab01);
    assertThat(pair.finish(pair.left, send)).isZero();
  }

  /** A message of 100 bytes that has come, and is not received yet. */
  private TagMessage probed() {
    TagMessage message = new TagMessage();
    long send = pair.toRight.sendTag(Pair.pattern(arena, 100), 0, 100, 5, 0);
    pair.until(() -> pair.right.probeTag(5, ALL, message) == 100);
    assertThat(pair.finish(pair.left, send)).isZero();
    return message;
  }

  @Test
  void anEmptyMessageIsNamedAsTheReasonWhateverItHeldBefore() {
    TagMessage message = probed();
    assertThat(pair.finish(pair.right, pair.right.receiveTag(message, arena.allocate(100), 0)))
        .isZero();
    MemorySegment small = arena.allocate(8);
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.right.receiveTag(message, small, 0))
        .withMessage("there is no message: probe first");
  }

  @Test
  void aMessageOfAClosedWorkerCanBeFilledAgain() {
    TagMessage message = probed();
    pair.right.close();
    assertThat(message.isPresent()).isFalse();
    assertThat(pair.left.probeTag(5, ALL, message)).isEqualTo(Status.NO_MESSAGE);
  }

  @Test
  void aReceiveIsCancelled() {
    MemorySegment buffer = arena.allocate(10);
    long receive = pair.right.receiveTag(buffer, 0, 10, 1, ALL);
    pair.progress();
    assertThat(pair.right.status(receive)).isEqualTo(Status.IN_PROGRESS);
    pair.right.cancel(receive);
    assertThat(pair.finish(pair.right, receive)).isEqualTo(Status.CANCELED);
    assertThat(pair.right.requestsHeld()).isZero();
  }

  @Test
  void sendsOfAnEndpointClosedByForceEnd() {
    MemorySegment buffer = arena.allocate(4 << 20);
    long send = pair.toRight.sendTag(buffer, 0, 4 << 20, 1, 0);
    assertThat(send).isGreaterThan(1);
    assertThat(pair.finish(pair.left, pair.toRight.closeForced())).isZero();
    assertThat(pair.finish(pair.left, send)).isEqualTo(Status.CANCELED);
  }

  @Test
  void flushesComplete() {
    MemorySegment buffer = arena.allocate(100);
    long send = pair.toRight.sendTag(buffer, 0, 100, 1, 0);
    assertThat(pair.finish(pair.left, pair.toRight.flush())).isZero();
    assertThat(pair.finish(pair.left, pair.left.flush())).isZero();
    pair.left.fence();
    assertThat(pair.finish(pair.left, send)).isZero();
  }
}
