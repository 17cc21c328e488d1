// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What only the provider in memory does on demand. */
@ExtendWith(Provider.class)
@Timeout(300)
class FaultsTest {
  private static final int EIO = 5;
  private static final int ENOMEM = 12;
  private static final int SLOW_MS = 500;
  private static final int MAX_READS = 16;

  @BeforeEach
  void needsTheProvider() {
    assumeFalse(Provider.isDevice(), "faults are asked of the provider");
  }

  @AfterEach
  void nothingFailsAnyMore() {
    if (!Provider.isDevice()) {
      Provider.fail("", 0, 0);
      Provider.slow("", 0);
      Provider.maxReadsOut(MAX_READS);
    }
  }

  @Test
  void aPostThatFailsEndsItsConnectionOnly() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    try (Pair pair = new Pair(Pair.options(), (c, m) -> seen.incrementAndGet())) {
      Connection bad = pair.connect((c, m) -> {});
      Connection good = pair.connect((c, m) -> {});
      Provider.fail("ibv_post_send", EIO, 1);
      Pair.send(bad, 1, 1);
      CloseReason reason = Pair.closed(bad);
      assertThat(reason.kind()).isEqualTo(CloseReason.Kind.FAILED);
      assertThat(reason.text()).contains("posting 1 requests: Input/output error (5)");
      Pair.send(good, 1, 1);
      Pair.await("the other's message", () -> seen.get() == 1);
    }
  }

  @Test
  void receiveRequestsThatAreRefusedOnceArePostedLater() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    try (Pair pair = new Pair(Pair.options().window(2), (c, m) -> seen.incrementAndGet())) {
      Connection connection = pair.connect((c, m) -> {});
      for (int i = 0; i < 50; i++) {
        Provider.fail("ibv_post_srq_recv", ENOMEM, 2);
        Pair.send(connection, i, i);
      }
      Pair.await("all messages", () -> seen.get() == 50);
      assertThat(pair.right.metrics().lateRefills()).isPositive();
    }
  }

  @Test
  void lateCompletionsHoldSlicesAndNothingElse() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    NetOptions.Builder options = Pair.options().sendSlices(8).window(64);
    try (Pair pair = new Pair(options, (c, m) -> seen.incrementAndGet())) {
      Connection connection = pair.connect((c, m) -> {});
      Provider.hold();
      for (int i = 0; i < 8; i++) {
        Pair.send(connection, i, i);
      }
      assertThat(connection.awaitSlice(1_000_000)).isNull();
      Provider.release();
      Pair.await("all messages", () -> seen.get() == 8);
      Pair.send(connection, 9, 9);
      Pair.await("one more", () -> seen.get() == 9);
    } finally {
      Provider.release();
    }
  }

  @Test
  void aCompletionQueueThatIsLostEndsAllConnectionsAndTheNodeSaysSo() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {})) {
      Connection first = pair.connect((c, m) -> {});
      Connection second = pair.connect((c, m) -> {});
      Provider.fail("ibv_poll_cq", EIO, 1);
      Slice slice = first.borrow();
      int result = first.send(slice, 8);
      assertThat(result).isIn(Connection.SENT, Connection.CLOSED);
      assertThat(Pair.closed(first).kind())
          .isIn(CloseReason.Kind.DEVICE, CloseReason.Kind.PEER, CloseReason.Kind.FAILED);
      assertThat(Pair.closed(second)).isNotNull();
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .satisfiesAnyOf(
              thrown -> assertThat(thrown).hasMessageContaining("is lost"),
              thrown -> assertThat(thrown).hasMessageContaining("the node is closed"));
    }
  }

  @Test
  void anOpenThatFailsLeavesNothingBehind() {
    String[] functions = {
      "ibv_alloc_pd",
      "ibv_create_comp_channel",
      "ibv_create_cq",
      "ibv_reg_mr",
      "ibv_create_srq",
      "ibv_post_srq_recv",
      "ibv_query_device"
    };
    for (String function : functions) {
      Provider.fail(function, EIO, 1);
      assertThatThrownBy(() -> VerbsNode.open(Pair.options().build()))
          .as(function)
          .isInstanceOfAny(VerbsException.class, IllegalStateException.class);
      Provider.fail("", 0, 0);
      VerbsNode.open(Pair.options().build()).close();
    }
  }

  @Test
  void aThreadThatCannotBeStartedLeavesNothingBehind() throws Exception {
    VerbsNode.open(Pair.cm().build()).close();
    Held before = Held.now();
    // One sends, one receives, and one takes the events of RDMA CM.
    for (int started = 0; started < 3; started++) {
      AtomicInteger left = new AtomicInteger(started);
      assertThatThrownBy(
              () ->
                  VerbsNode.open(
                      Pair.cm().build(),
                      thread -> {
                        if (left.getAndDecrement() == 0) {
                          throw new OutOfMemoryError("unable to create native thread");
                        }
                        thread.start();
                      }))
          .as("after %d threads", started)
          .isInstanceOf(OutOfMemoryError.class);
    }
    before.awaitAgain();
  }

  @Test
  void moreMemoryThanTheJvmMayHaveIsRefusedAndLeavesNothingBehind() throws Exception {
    VerbsNode.open(Pair.options().build()).close();
    Held before = Held.now();
    // 64 GiB, and the heap's maximum is that of direct memory.
    NetOptions.Builder options = Pair.options().sendSlices(65536).sliceBytes(1 << 20);
    assertThatThrownBy(() -> VerbsNode.open(options.build()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("-XX:MaxDirectMemorySize");
    before.awaitAgain();
  }

  @Test
  void aConnectionThatCannotBeMadeFailsOnBothSides() throws Exception {
    for (String function : new String[] {"ibv_create_qp", "ibv_modify_qp"}) {
      try (Pair pair = new Pair(Pair.options(), (c, m) -> {})) {
        Provider.fail(function, EIO, 1);
        assertThatThrownBy(() -> pair.connect((c, m) -> {})).as(function).isNotNull();
        Pair.await("both ends", () -> pair.right.metrics().connections() == 0);
        assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
      }
    }
  }

  @Test
  void aDeviceMayServeMoreReadsThanItMakes() throws Exception {
    Provider.maxReadsOut(2);
    for (NetOptions.Builder options : List.of(Pair.options(), Pair.cm())) {
      try (Pair pair = new Pair(options, (c, m) -> {})) {
        assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
      }
    }
  }

  /** A call of a program. */
  @FunctionalInterface
  private interface Call {
    void on(VerbsNode node) throws Exception;
  }

  /** Closes a node while another thread is in the function that its call has made slow. */
  private static void closedMeanwhile(NetOptions.Builder options, Call call) throws Exception {
    VerbsNode.open(options.build()).close();
    Held before = Held.now();
    VerbsNode node = VerbsNode.open(options.build());
    Provider.slow("", 0);
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    call.on(node);
                  } catch (Exception e) {
                    // It may be refused, but must leave nothing behind.
                  }
                });
    Pair.await("the slow function", Provider::slowHasBegun);
    node.close();
    assertThat(caller.join(Duration.ofNanos(Pair.LIMIT_NS))).as("the call is over").isTrue();
    before.awaitAgain();
  }

  @Test
  void aNodeIsClosedWhileMemoryIsAllocatedOrClosed() throws Exception {
    closedMeanwhile(
        Pair.options(),
        node -> {
          Provider.slow("ibv_reg_mr", SLOW_MS);
          RegisteredMemory ignored = node.allocate(4096);
        });
    closedMeanwhile(
        Pair.options(),
        node -> {
          RegisteredMemory memory = node.allocate(4096);
          Provider.slow("ibv_dereg_mr", SLOW_MS);
          memory.close();
        });
  }

  @Test
  void aNodeIsClosedWhileItBeginsToListenOrConnectByRdmaCm() throws Exception {
    InetSocketAddress any = new InetSocketAddress(Provider.address(), 0);
    closedMeanwhile(
        Pair.cm(),
        node -> {
          Provider.slow("rdma_bind_addr", SLOW_MS);
          InetSocketAddress ignored = node.listen(any, (c, m) -> {});
        });
    InetSocketAddress nobody = new InetSocketAddress(Provider.address(), 9);
    closedMeanwhile(
        Pair.cm(),
        node -> {
          Provider.slow("rdma_create_id", SLOW_MS);
          Connection ignored = node.connect(nobody, (c, m) -> {});
        });
  }

  @Test
  void aNodeThatIsClosedWaitsForAnOperationThatIsBeingRefused() throws Exception {
    VerbsNode node = VerbsNode.open(Pair.options().build());
    RegisteredMemory memory = node.allocate(4096);
    memory.enter(0, 8);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(node::close);
    assertThatThrownBy(() -> closed.get(SLOW_MS, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    memory.leave();
    Object ignored = closed.get(Pair.LIMIT_NS, TimeUnit.NANOSECONDS);
    assertThatThrownBy(memory::segment).isInstanceOf(IllegalStateException.class);
  }
}
