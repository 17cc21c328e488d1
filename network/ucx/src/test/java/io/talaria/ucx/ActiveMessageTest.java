// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Active messages within one JVM. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class ActiveMessageTest {
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment header = arena.allocate(256, 8);
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.ACTIVE_MESSAGE);
    header.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  private long send(MemorySegment data, int flags) {
    return pair.toRight.sendMessage(3, header, 8, data, 0, data.byteSize(), flags);
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "1,0",
    "8,0",
    "100,0",
    "5000,0",
    "9000,32",
    "70000,32",
    "4194304,32",
    "8,64",
    "100000,64",
    "4194304,64",
    "4194304,0"
  })
  void messagesArrive(int size, int flags) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(Math.max(1, size));
    long[] receive = new long[1];
    int[] count = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          assertThat(message.isPresent()).isTrue();
          assertThat(message.id()).isEqualTo(3);
          assertThat(message.headerLength()).isEqualTo(8);
          assertThat(message.headerLongAt(0)).isEqualTo(0x1122334455667788L);
          assertThat(message.length()).isEqualTo(size);
          assertThat(message.reply()).isNull();
          if (flags == MessageFlags.RENDEZVOUS) {
            assertThat(message.isRendezvous()).isTrue();
            assertThatIllegalStateException().isThrownBy(() -> message.byteAt(0));
          }
          if (flags == MessageFlags.EAGER) {
            assertThat(message.isRendezvous()).isFalse();
            assertThat(message.byteAt(size - 1)).isEqualTo(Pair.patternAt(size - 1));
          }
          receive[0] = message.receive(received, 0);
          assertThat(message.isPresent()).isFalse();
          count[0]++;
        });
    long request = send(sent, flags);
    pair.until(() -> count[0] > 0);
    pair.until(() -> pair.right.status(receive[0]) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive[0])).isZero();
    assertThat(pair.right.receivedBytes(receive[0])).isEqualTo(size);
    pair.right.release(receive[0]);
    assertThat(received.asSlice(0, size).mismatch(sent)).isEqualTo(-1);
    assertThat(pair.finish(pair.left, request)).isZero();
    assertThat(count[0]).isEqualTo(1);
    assertThat(pair.left.requestsHeld() + pair.right.requestsHeld()).isZero();
  }

  @Test
  void manyMessagesComeInOrder() {
    List<Long> seen = new ArrayList<>();
    pair.right.onMessage(3, message -> seen.add(message.headerLongAt(0)));
    int count = 500;
    for (long i = 0; i < count; i++) {
      header.set(ValueLayout.JAVA_LONG, 0, i);
      long request = send(header.asSlice(8, i % 100), 0);
      // The header is UCX's until then.
      while (request > 0 && pair.left.poll(request) == Status.IN_PROGRESS) {
        pair.progress();
      }
    }
    pair.until(() -> seen.size() == count);
    for (int i = 0; i < count; i++) {
      assertThat(seen.get(i)).isEqualTo(i);
    }
  }

  @Test
  void messagesCanBeKept() {
    ActiveMessage[] kept = new ActiveMessage[6];
    int[] count = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          kept[count[0]] = new ActiveMessage();
          message.moveTo(kept[count[0]++]);
          assertThat(message.isPresent()).isFalse();
          assertThatIllegalStateException()
              .isThrownBy(() -> message.moveTo(new ActiveMessage()))
              .withMessage("there is no message");
        });
    MemorySegment data = Pair.pattern(arena, 100_000);
    long[] requests = new long[6];
    for (int i = 0; i < 6; i++) {
      requests[i] =
          send(data.asSlice(i, i < 3 ? 50 : 100_000 - i), i < 3 ? 0 : MessageFlags.RENDEZVOUS);
    }
    pair.until(() -> count[0] == 6);
    assertThat(kept[1].byteAt(0)).isEqualTo(Pair.patternAt(1));
    assertThatIllegalStateException()
        .isThrownBy(() -> kept[0].moveTo(kept[1]))
        .withMessageContaining("release it first");
    kept[1].release();
    kept[1].release();
    assertThat(kept[1].isPresent()).isFalse();
    assertThatThrownBy(() -> kept[1].byteAt(0)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kept[1].headerByteAt(0)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatIllegalStateException().isThrownBy(() -> kept[1].receive(data, 0));
    kept[0].moveTo(kept[1]);
    assertThat(kept[1].byteAt(0)).isEqualTo(Pair.patternAt(0));
    assertThat(kept[1].headerLongAt(0)).isEqualTo(0x1122334455667788L);
    assertThat(kept[4].isRendezvous()).isTrue();
    MemorySegment to = arena.allocate(100_000);
    assertThat(pair.finish(pair.right, kept[4].receive(to, 4))).isZero();
    assertThat(to.asSlice(4).mismatch(data.asSlice(4))).isEqualTo(-1);
    kept[3].release();
    for (int i = 0; i < 5; i++) {
      assertThat(pair.finish(pair.left, requests[i])).isZero();
    }
    assertThat(kept[5].isPresent()).isTrue();
    pair.right.close();
    assertThat(kept[5].isPresent()).isFalse();
    assertThat(kept[2].length()).isZero();
    kept[2].release();
  }

  @Test
  void aKeptMessageIsNotMovedToAHandlersOwn() {
    List<ActiveMessage> kept = new ArrayList<>();
    int[] refused = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          if (kept.size() < 2) {
            kept.add(new ActiveMessage());
            message.moveTo(kept.getLast());
          } else {
            message.release();
            assertThatIllegalArgumentException()
                .isThrownBy(() -> kept.getFirst().moveTo(message))
                .withMessageContaining("one of your own");
            refused[0]++;
          }
        });
    for (int i = 0; i < 3; i++) {
      assertThat(pair.finish(pair.left, send(header.asSlice(8, 100), 0))).isZero();
    }
    pair.until(() -> refused[0] > 0);
    assertThat(kept.get(0).headerLongAt(0)).isEqualTo(0x1122334455667788L);
    kept.get(1).release();
    kept.get(0).release();
  }

  @Test
  void theReceiverCanReply() {
    long[] answered = new long[1];
    pair.left.onMessage(4, message -> answered[0] = message.headerLongAt(0));
    Endpoint[] reply = new Endpoint[1];
    pair.right.onMessage(
        3,
        message -> {
          reply[0] = message.reply();
          header.set(ValueLayout.JAVA_LONG, 0, message.headerLongAt(0) + 1);
          long request = message.reply().sendMessage(4, header, 8, header, 0, 0, 0);
          assertThat(request).isNotNegative();
        });
    long request = send(header.asSlice(8, 8), MessageFlags.REPLY);
    pair.until(() -> answered[0] != 0);
    assertThat(answered[0]).isEqualTo(0x1122334455667789L);
    assertThat(reply[0]).isSameAs(pair.toLeft);
    assertThat(pair.finish(pair.left, request)).isZero();
  }

  @Test
  void whatAHandlerThrowsComesOutOfProgressAndNothingIsLost() {
    int[] count = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          if (count[0]++ == 0) {
            throw new IllegalStateException("the handler's own");
          }
          // Progress in a handler does not call handlers.
          pair.right.progress();
        });
    assertThat(pair.finish(pair.left, send(header.asSlice(8, 8), 0))).isZero();
    assertThat(pair.finish(pair.left, pair.toRight.flush())).isZero();
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.until(() -> count[0] > 0))
        .withMessage("the handler's own");
    assertThat(pair.finish(pair.left, send(header.asSlice(8, 8), 0))).isZero();
    pair.until(() -> count[0] == 2);
  }

  @Test
  void aHandlerMayCloseTheWorker() {
    int[] count = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          count[0]++;
          pair.right.close();
          assertThat(message.isPresent()).isFalse();
        });
    for (int i = 0; i < 3; i++) {
      long ignored = send(header.asSlice(8, 8), 0);
    }
    while (count[0] == 0) {
      pair.left.progress();
      pair.right.progress();
    }
    assertThat(count[0]).isEqualTo(1);
    assertThatIllegalStateException().isThrownBy(pair.right::progress);
  }

  /** Each handler sends the next message, so that progress always finds something to do. */
  @Test
  void awaitReturnsInTimeThoughMessagesComeAllTheTime() {
    Endpoint toItself = pair.left.connect(Endpoint.Options.to(pair.left.address()));
    long guard = System.nanoTime();
    pair.left.onMessage(
        3,
        message -> {
          if (System.nanoTime() - guard > Pair.LIMIT_NS) {
            throw new AssertionError("await does not end");
          }
          assertThat(toItself.sendMessage(3, header, 8, header, 0, 0, 0)).isNotNegative();
        });
    assertThat(toItself.sendMessage(3, header, 8, header, 0, 0, 0)).isNotNegative();
    // The peer does not progress, so this cannot be over.
    MemorySegment data = Pair.pattern(arena, 1 << 20);
    long request = send(data, MessageFlags.RENDEZVOUS);
    assertThat(pair.left.await(request, 50_000_000)).isEqualTo(Status.IN_PROGRESS);
    pair.left.release(request);
    pair.left.onMessage(3, null);
  }

  enum Closed {
    ENDPOINT,
    WORKER
  }

  /** The message arrives while the endpoint is being closed, which awaits a flush. */
  @ParameterizedTest
  @EnumSource(Closed.class)
  void aHandlerMayCloseWhatIsBeingClosed(Closed closed) {
    int[] count = new int[1];
    pair.right.onMessage(
        3,
        message -> {
          count[0]++;
          switch (closed) {
            case ENDPOINT -> pair.toLeft.close();
            case WORKER -> pair.right.close();
          }
        });
    // The flush of this cannot be over before messages are received: its data are the peer's.
    MemorySegment data = Pair.pattern(arena, 1 << 20);
    assertThat(pair.toLeft.sendMessage(4, header, 8, data, 0, 1 << 20, MessageFlags.RENDEZVOUS))
        .isGreaterThan(1);
    pair.left.onMessage(4, message -> {});
    long sent = send(header.asSlice(8, 8), 0);
    assertThat(pair.left.await(sent, Pair.LIMIT_NS)).isZero();
    assertThat(count[0]).isZero();
    pair.toLeft.close();
    assertThat(count[0]).isEqualTo(1);
    assertThat(pair.toLeft.isOpen()).isFalse();
    assertThat(pair.right.isOpen()).isEqualTo(closed == Closed.ENDPOINT);
  }

  @Test
  void aHandlerThatThrowsInACloseLeavesNoRequest() {
    pair.right.onMessage(
        3,
        message -> {
          throw new IllegalArgumentException("the handler's own");
        });
    MemorySegment data = Pair.pattern(arena, 1 << 20);
    long large = pair.toLeft.sendMessage(4, header, 8, data, 0, 1 << 20, MessageFlags.RENDEZVOUS);
    pair.right.release(large);
    long sent = send(header.asSlice(8, 8), 0);
    assertThat(pair.left.await(sent, Pair.LIMIT_NS)).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(pair.toLeft::close)
        .withMessage("the handler's own");
    assertThat(pair.right.requestsHeld()).isZero();
    pair.toLeft.close();
    assertThat(pair.toLeft.isOpen()).isFalse();
  }

  @Test
  void messagesWithoutAHandlerAreDropped() {
    int[] count = new int[1];
    pair.right.onMessage(3, message -> count[0]++);
    pair.right.onMessage(3, message -> count[0] += 10);
    assertThat(pair.finish(pair.left, send(header.asSlice(8, 8), 0))).isZero();
    pair.until(() -> count[0] > 0);
    pair.right.onMessage(3, null);
    pair.right.onMessage(3, null);
    assertThat(pair.finish(pair.left, send(header.asSlice(8, 8), 0))).isZero();
    assertThat(pair.finish(pair.left, pair.toRight.flush())).isZero();
    for (int i = 0; i < 1000; i++) {
      pair.progress();
    }
    assertThat(count[0]).isEqualTo(10);
  }

  @Test
  void aClosedSendersDataAreNotReceived() {
    ActiveMessage kept = new ActiveMessage();
    pair.right.onMessage(3, message -> message.moveTo(kept));
    MemorySegment data = Pair.pattern(arena, 1 << 20);
    long request = send(data, MessageFlags.RENDEZVOUS);
    pair.until(kept::isPresent);
    assertThat(pair.finish(pair.left, pair.toRight.closeForced())).isZero();
    pair.until(() -> pair.left.status(request) != Status.IN_PROGRESS);
    assertThat(pair.left.poll(request)).isNegative();
    pair.until(() -> pair.toLeft.failure() != 0);
    pair.toLeft.close();
    kept.release();
  }

  @Test
  void aCancelledSendEndsOneWayOrTheOther() {
    ActiveMessage kept = new ActiveMessage();
    pair.right.onMessage(3, message -> message.moveTo(kept));
    MemorySegment data = Pair.pattern(arena, 1 << 20);
    long request = send(data, MessageFlags.RENDEZVOUS);
    pair.until(kept::isPresent);
    pair.left.cancel(request);
    for (int i = 0; i < 1000; i++) {
      pair.progress();
    }
    MemorySegment room = arena.allocate(1 << 20);
    long receive = kept.receive(room, 0);
    assertThat(pair.finish(pair.right, receive)).isIn(Status.OK, Status.CANCELED);
    assertThat(pair.finish(pair.left, request)).isIn(Status.OK, Status.CANCELED);
  }

  @Test
  void wrongArgumentsThrow() {
    MemorySegment large = arena.allocate(pair.left.maxHeaderBytes() + 1);
    assertThat(pair.left.maxHeaderBytes()).isGreaterThan(64);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendMessage(3, large, large.byteSize(), header, 0, 0, 0))
        .withMessageContaining("UCX sends at most");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendMessage(-1, header, 8, header, 0, 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendMessage(65536, header, 8, header, 0, 0, 0));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.right.onMessage(65536, message -> {}));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> send(header, MessageFlags.EAGER | MessageFlags.RENDEZVOUS));
    assertThatThrownBy(() -> pair.toRight.sendMessage(3, header, -1, header, 0, 0, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> pair.toRight.sendMessage(3, header, 8, header, 250, 8, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    pair.toRight.close();
    assertThatIllegalStateException().isThrownBy(() -> send(header, 0));
  }
}
