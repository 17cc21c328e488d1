// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A worker that has as many requests as it can refuses the next one before UCX gets it. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class FullRequestTableTest {
  private static final int MAX_REQUESTS = 1 << 20;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment refused = arena.allocate(8);
  private final MemorySegment buffer = arena.allocate(8);
  private Pair pair;
  private long lastRequest;

  @BeforeEach
  void fill() {
    pair = new Pair(ErrorHandling.PEER, Feature.STREAM, Feature.TAG);
    for (int i = 0; i < MAX_REQUESTS; i++) {
      // Done at once, but not released.
      lastRequest = pair.toRight.receiveStream(buffer, 0, 0);
    }
    assertThat(pair.left.requestsHeld()).isEqualTo(MAX_REQUESTS);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  @Test
  void aRefusedReceiveGetsNoMessage() {
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.left.receiveTag(refused, 0, 8, 1, -1))
        .withMessageContaining("1048576 requests");
    pair.left.release(lastRequest);
    long receive = pair.left.receiveTag(buffer, 0, 8, 1, -1);
    buffer.set(ValueLayout.JAVA_LONG, 0, 0);
    MemorySegment sent = arena.allocate(8);
    sent.set(ValueLayout.JAVA_LONG, 0, 7);
    assertThat(pair.finish(pair.right, pair.toLeft.sendTag(sent, 0, 8, 1, 0))).isZero();
    pair.until(
        () ->
            pair.left.status(receive) != Status.IN_PROGRESS
                || refused.get(ValueLayout.JAVA_LONG, 0) != 0);
    assertThat(refused.get(ValueLayout.JAVA_LONG, 0)).as("what the refused one got").isZero();
    assertThat(buffer.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
  }

  @Test
  void anEndpointWhoseCloseIsRefusedStaysOpen() {
    // A send under way, so that the close is not done at once.
    MemorySegment large = arena.allocate(1 << 20);
    pair.left.release(lastRequest);
    long send = pair.toRight.sendTag(large, 0, 1 << 20, 2, 0);
    assertThat(send).isGreaterThan(1);
    assertThatIllegalStateException().isThrownBy(pair.toRight::closeFlushing);
    assertThat(pair.toRight.isOpen()).isTrue();
    pair.left.release(send);
    long receive = pair.right.receiveTag(large, 0, 1 << 20, 2, -1);
    assertThat(pair.finish(pair.right, receive)).isZero();
    pair.until(
        () -> {
          try {
            return pair.left.await(pair.toRight.closeFlushing(), Pair.LIMIT_NS) <= 0;
          } catch (IllegalStateException e) {
            return false; // UCX is not done with the send yet
          }
        });
    assertThat(pair.toRight.isOpen()).isFalse();
  }

  @Test
  void theWorkerAndItsEndpointsCanBeClosed() {
    pair.left.close();
    assertThat(pair.left.isOpen()).isFalse();
    assertThat(pair.toRight.isOpen()).isFalse();
  }
}
