// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What must throw instead of ending the JVM. */
@ExtendWith(NeedsUcx.class)
@Timeout(60)
class MisuseTest {
  private final Arena arena = Arena.ofConfined();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.STREAM);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  @Test
  void aClosedEndpointThrows() {
    MemorySegment buffer = arena.allocate(8);
    pair.toRight.close();
    pair.toRight.close();
    assertThat(pair.toRight.isOpen()).isFalse();
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.toRight.sendStream(buffer, 0, 8, 0))
        .withMessageContaining("is closed");
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.toRight.receiveStream(new StreamChunk()));
    assertThatIllegalStateException().isThrownBy(pair.toRight::failure);
    assertThatIllegalStateException().isThrownBy(pair.toRight::flush);
    assertThatIllegalStateException().isThrownBy(pair.toRight::closeForced);
  }

  @Test
  void anEndpointWithoutErrorHandlingThatIsSlowToCloseKeepsNoRequest() {
    try (Pair slow = new Pair(ErrorHandling.NONE, Feature.TAG)) {
      MemorySegment large = arena.allocate(1 << 20);
      long send = slow.toRight.sendTag(large, 0, 1 << 20, 1, 0);
      slow.left.release(send);
      // The peer does not progress for so long.
      slow.toRight.close();
      assertThat(slow.toRight.isOpen()).isFalse();
      assertThat(slow.left.requestsHeld()).isZero();
      long receive = slow.right.receiveTag(large, 0, 1 << 20, 1, -1);
      assertThat(slow.finish(slow.right, receive)).isZero();
    }
  }

  @Test
  void aClosedWorkerThrowsAndTakesItsEndpointsAlong() {
    pair.left.close();
    assertThatIllegalStateException()
        .isThrownBy(pair.left::progress)
        .withMessage("the worker is closed");
    assertThatIllegalStateException().isThrownBy(pair.toRight::flush);
    assertThat(pair.toRight.isOpen()).isFalse();
    pair.toRight.close();
    pair.left.close();
  }

  @Test
  void aContextWithWorkersStaysOpen() {
    assertThatIllegalStateException()
        .isThrownBy(pair.context::close)
        .withMessageContaining("2 open workers");
    pair.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> Worker.open(pair.context, Worker.Options.defaults()))
        .withMessage("the context is closed");
  }

  @Test
  void anotherThreadThrows() throws Exception {
    assertThatThrownBy(
            () -> CompletableFuture.supplyAsync(pair.left::progress).get(10, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("for the thread that opened it");
    assertThatIllegalStateException().isThrownBy(pair.left::enter);
  }

  @Test
  void aSharedWorkerWantsToBeEntered() throws Exception {
    try (Worker shared =
        Worker.open(pair.context, Worker.Options.defaults().threads(ThreadMode.SERIALIZED))) {
      assertThat(shared.threadMode()).isIn(ThreadMode.SERIALIZED, ThreadMode.MULTI);
      assertThatIllegalStateException()
          .isThrownBy(shared::progress)
          .withMessageContaining("enter it first");
      shared.enter();
      shared.enter();
      shared.progress();
      shared.exit();
      shared.progress();
      assertThat(CompletableFuture.supplyAsync(shared::tryEnter).get(10, TimeUnit.SECONDS))
          .isFalse();
      shared.exit();
      assertThatIllegalStateException().isThrownBy(shared::progress);
      assertThatIllegalStateException()
          .isThrownBy(shared::exit)
          .withMessageContaining("not entered by this thread");
      assertThat(
              CompletableFuture.supplyAsync(
                      () -> {
                        shared.enter();
                        try {
                          return shared.progress() >= 0;
                        } finally {
                          shared.exit();
                        }
                      })
                  .get(10, TimeUnit.SECONDS))
          .isTrue();
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Worker.Options.defaults().threads(ThreadMode.MULTI));
  }

  @Test
  void memoryThatIsNotToBeUsedThrows() {
    MemorySegment buffer = arena.allocate(8);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendStream(MemorySegment.ofArray(new byte[8]), 0, 8, 0))
        .withMessageContaining("on the heap");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.receiveStream(buffer.asReadOnly(), 0, 8))
        .withMessageContaining("read-only");
    assertThatThrownBy(() -> pair.toRight.sendStream(buffer, 4, 5, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> pair.toRight.sendStream(buffer, -1, 5, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    Arena brief = Arena.ofConfined();
    MemorySegment dead = brief.allocate(8);
    brief.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.toRight.sendStream(dead, 0, 8, 0))
        .withMessageContaining("arena");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.toRight.sendStream(buffer, 0, 8, 16));
  }

  @Test
  void staleAndForeignRequestsThrow() {
    MemorySegment buffer = arena.allocate(8);
    long request = pair.toRight.receiveStream(buffer, 0, 8);
    assertThatIllegalArgumentException().isThrownBy(() -> pair.right.status(request));
    assertThatIllegalArgumentException().isThrownBy(() -> pair.left.status(12345));
    assertThatIllegalArgumentException().isThrownBy(() -> pair.left.status(-7));
    assertThatIllegalStateException().isThrownBy(() -> pair.left.receivedBytes(request));
    long closing = pair.toRight.closeForced();
    assertThat(pair.finish(pair.left, closing)).isZero();
    pair.until(() -> pair.left.status(request) != Status.IN_PROGRESS);
    assertThat(pair.left.poll(request)).isEqualTo(Status.CANCELED);
    assertThatIllegalArgumentException().isThrownBy(() -> pair.left.status(request));
    assertThatIllegalArgumentException().isThrownBy(() -> pair.left.release(request));
    assertThatIllegalArgumentException().isThrownBy(() -> pair.left.cancel(request));
  }

  @Test
  void aChunkThatHoldsBytesIsNotFilledAgain() {
    long request = pair.toRight.sendStream(arena.allocate(8), 0, 8, 0);
    StreamChunk chunk = new StreamChunk();
    pair.until(() -> pair.toLeft.receiveStream(chunk) > 0);
    assertThatIllegalStateException()
        .isThrownBy(() -> pair.toLeft.receiveStream(chunk))
        .withMessageContaining("release it first");
    assertThatThrownBy(() -> chunk.longAt(1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(pair.finish(pair.left, request)).isZero();
    pair.right.close();
    assertThat(chunk.length()).isZero();
    assertThatThrownBy(() -> chunk.byteAt(0)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void nothingCanBeCopiedOutOfAnEmptyChunk() {
    StreamChunk chunk = new StreamChunk();
    chunk.copyTo(0, arena.allocate(8), 0, 0);
    chunk.copyTo(0, new byte[8], 0, 0);
    assertThatThrownBy(() -> chunk.copyTo(0, new byte[8], 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aDamagedAddressIsRefused() {
    byte[] bytes = pair.right.address().toBytes();
    assertThat(WorkerAddress.of(bytes)).isEqualTo(pair.right.address());
    assertThat(WorkerAddress.of(bytes).workerId())
        .isEqualTo(pair.right.address().workerId())
        .isNotEqualTo(pair.left.address().workerId());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> WorkerAddress.of(Arrays.copyOf(bytes, bytes.length - 1)));
    bytes[20] ^= 1;
    assertThatIllegalArgumentException()
        .isThrownBy(() -> WorkerAddress.of(bytes))
        .withMessageContaining("checksum");
    assertThatIllegalArgumentException().isThrownBy(() -> WorkerAddress.of(new byte[3]));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pair.left.connect(Endpoint.Options.accepting()));
  }

  @Test
  void settingsThatUcxDoesNotUnderstandThrow() {
    try (Config config = Config.read()) {
      assertThatThrownBy(() -> config.set("MAX_EAGER_LANES", "many"))
          .isInstanceOf(UcxException.class)
          .hasMessageContaining("ucp_config_modify of MAX_EAGER_LANES to many");
      assertThat(config.set("TLS", "tcp").print()).contains("UCX_TLS=tcp");
    }
    Config closed = Config.read();
    closed.close();
    closed.close();
    assertThatIllegalStateException().isThrownBy(() -> closed.set("TLS", "tcp"));
  }

  @Test
  void whatTheContextWasNotOpenedForThrows() {
    assertThatIllegalStateException()
        .isThrownBy(pair.left::eventDescriptor)
        .withMessageContaining("WAKEUP");
    assertThatIllegalStateException().isThrownBy(pair.left::signal);
  }
}
