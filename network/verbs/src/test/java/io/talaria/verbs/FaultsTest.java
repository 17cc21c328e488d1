// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.testsupport.ChildProcess;
import io.talaria.testsupport.VerbsInMemory;
import io.talaria.verbs.cm.ConnectionId;
import io.talaria.verbs.cm.EventChannel;
import io.talaria.verbs.cm.PortSpace;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** What only the loopback provider can do on demand: failures, late and reordered completions. */
@ExtendWith(Variant.class)
class FaultsTest {
  private static final int EIO = 5;
  private static final int ENOMEM = 12;
  private static final int EACCES = 13;
  private static final int EBUSY = 16;

  @BeforeAll
  static void needsTheProvider() {
    assumeFalse(Variant.isDevice(), "faults are asked of the provider");
  }

  @AfterEach
  void nothingFailsAnyMore() {
    Loopback.fail("", 0, 0);
    Loopback.missing(false, false, 0);
    assertThat(Loopback.unacknowledged()).isZero();
  }

  @Test
  void memoryBeyondTheLimitOfTheJvmIsRefusedLikeThatOfTheDevice() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain()) {
      assertThatThrownBy(() -> domain.allocate(1L << 46, Access.LOCAL_WRITE))
          .isInstanceOfSatisfying(
              VerbsException.class, thrown -> assertThat(thrown.errno()).isEqualTo(ENOMEM))
          .hasMessageContaining("allocating 70368744177664 bytes")
          .hasMessageContaining("-XX:MaxDirectMemorySize");
    }
  }

  @Test
  void aQueuePairThatTheHeapHasNoRoomForLeavesNothingBehind() throws Exception {
    ChildProcess ended =
        ChildProcess.jvm(ShortHeapMain.class)
            .options("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx32m")
            .options("-D" + Verbs.LIBRARY_PROPERTY + "=" + VerbsInMemory.library())
            .runSuccessfully(Duration.ofMinutes(2));
    assertThat(ended.out()).containsExactly("reserved: 0", "closed");
  }

  @Test
  void everyUnavailableReasonHasASentenceOfItsOwn() {
    assertThat(Verbs.unavailableReason()).isEmpty();
    Loopback.missing(true, false, 0);
    assertThat(Verbs.unavailableReason().orElseThrow())
        .isEqualTo(
            "ibv_get_device_list: Function not implemented (38). The kernel has no RDMA verbs: load"
                + " the module ib_uverbs (modprobe ib_uverbs); a kernel built without InfiniBand"
                + " support, as in many virtual machines, has none");
    Loopback.missing(false, true, 0);
    // The second, where the kernel has a device that libibverbs does not know.
    assertThat(Verbs.unavailableReason().orElseThrow())
        .matches("There is no RDMA device: .* rdma link add .*|The kernel has .* no driver .*");
    Loopback.missing(false, false, EACCES);
    assertThat(Verbs.unavailableReason().orElseThrow())
        .startsWith(
            "opening the device loop0: Permission denied (13). Its file /dev/infiniband/uve")
        .contains("must be readable and writable");
    Loopback.missing(false, false, 2);
    assertThat(Verbs.unavailableReason().orElseThrow())
        .contains("is missing", "--device /dev/infiniband");
    Loopback.missing(false, false, 0);
    Loopback.fail("rdma_create_event_channel", 19, 1);
    assertThat(Verbs.cmUnavailableReason().orElseThrow())
        .isEqualTo(
            "rdma_create_event_channel: No such device (19). The kernel has no RDMA CM: load the"
                + " module rdma_ucm (modprobe rdma_ucm)");
  }

  @TestFactory
  Stream<DynamicTest> everyCallThatFailsSaysSoAndLeavesNothingBehind() {
    return Stream.of(
            "ibv_get_device_list",
            "ibv_open_device",
            "ibv_alloc_pd",
            "ibv_create_comp_channel",
            "ibv_create_cq",
            "ibv_create_cq_ex",
            "ibv_reg_mr",
            "ibv_alloc_mw",
            "ibv_create_srq",
            "ibv_modify_srq",
            "ibv_query_srq",
            "ibv_create_ah",
            "ibv_create_qp",
            "ibv_create_qp_ex",
            "ibv_modify_qp",
            "ibv_query_qp",
            "ibv_query_device",
            "ibv_query_port",
            "ibv_query_gid_ex",
            "ibv_query_pkey",
            "ibv_req_notify_cq",
            "ibv_resize_cq",
            "ibv_attach_mcast",
            "ibv_detach_mcast",
            "ibv_fork_init",
            "rdma_create_event_channel",
            "rdma_create_id",
            "rdma_bind_addr",
            "rdma_listen",
            "rdma_reject",
            "rdma_get_devices",
            "rdma_set_option")
        .map(name -> DynamicTest.dynamicTest(name, () -> fails(name)));
  }

  private static void fails(String function) {
    assertThatThrownBy(
            () -> {
              Loopback.fail(function, EIO, 1);
              everything();
            })
        .as(function)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("Input/output error (5)")
        .satisfies(thrown -> assertThat(((VerbsException) thrown).errno()).isEqualTo(EIO));
    // Everything that was opened before the failure is closed by now, so this one can be, too.
    everything();
  }

  /** Uses every call once; closes all, whatever fails. */
  private static void everything() {
    Verbs.makeForkSafe();
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionChannel channel = context.completionChannel();
        CompletionQueue queue = context.completionQueue(32, channel, 0);
        ExtendedCompletionQueue extended = context.extendedCompletionQueue(4, null, false);
        MemoryRegion region = domain.allocate(64, Access.LOCAL_WRITE);
        MemoryWindow window = domain.window(1);
        SharedReceiveQueue shared = domain.sharedReceiveQueue(4, 1);
        AddressHandle handle = domain.addressHandle(AddressVector.global(1, 1, 0, new Gid(1, 2)));
        QueuePair queuePair = QueuePair.rc(domain).send(queue, 4).receive(queue, 4).open();
        ExtendedQueuePair other =
            QueuePair.rc(domain).send(queue, 4).receive(queue, 4).openExtended();
        EventChannel events = EventChannel.open()) {
      assertThat(List.of(extended, region, window, handle, other)).doesNotContainNull();
      shared.limit(1);
      assertThat(shared.limit()).isEqualTo(1);
      queuePair.initialize(1);
      assertThat(queuePair.state()).isEqualTo(QueuePair.State.INIT);
      queuePair.attachMulticast(new Gid(1, 2), 0);
      queuePair.detachMulticast(new Gid(1, 2), 0);
      assertThat(context.attributes().firmware()).isEqualTo("1.0.loop");
      assertThat(context.attributes().maxQueuePairs()).isPositive();
      assertThat(context.port(1).linkLayer()).isEqualTo(PortAttributes.LinkLayer.ETHERNET);
      assertThat(context.gids(1)).hasSize(2);
      assertThat(context.partitionKey(1, 0)).isEqualTo(0xffff);
      assertThat(queue.arm(false, Completions.allocate(1))).isZero();
      queue.resize(64);
      assertThat(EventChannel.contexts()).hasSize(1);
      try (ConnectionId id = events.create(PortSpace.TCP)) {
        id.reuseAddress();
        id.bind(new java.net.InetSocketAddress("127.0.0.1", 0));
        id.listen(1);
        id.reject();
      }
    }
  }

  /** A card gives back the request of a message that stopped in its middle, by an error. */
  @Test
  void whatAFailedQueuePairHadTakenOfASharedQueueIsAPlaceThereAgain() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue sent = context.completionQueue(8);
        CompletionQueue received = context.completionQueue(8);
        SharedReceiveQueue shared = domain.sharedReceiveQueue(1, 1);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
      Completions done = Completions.allocate(4);
      for (boolean closedBefore : new boolean[] {false, true}) {
        QueuePair queuePair = QueuePair.rc(domain).send(sent, 1).receive(received, shared).open();
        queuePair.initialize(1);
        receive.request(0).id(7).local(region, 0, 64);
        assertThat(shared.post(receive, 0, 1)).isZero();
        Loopback.tear(queuePair);
        if (closedBefore) {
          Loopback.hold();
        }
        queuePair.fail();
        assertThat(AsyncEventsTest.next(context).type())
            .isEqualTo(AsyncEvent.Type.LAST_REQUEST_REACHED);
        if (closedBefore) {
          queuePair.close();
          Loopback.release(false);
        }
        assertThat(Variant.completions(received, done)).isEqualTo(1);
        assertThat(done.status(0)).isEqualTo(Status.FLUSHED);
        assertThat(done.id(0)).isEqualTo(7);
        queuePair.close();
      }
      assertThat(shared.post(receive, 0, 1)).isZero();
    }
  }

  @Test
  void aRefusedCloseLeavesTheObjectOpen() {
    try (Context context = Variant.open()) {
      ProtectionDomain domain = context.protectionDomain();
      CompletionQueue queue = context.completionQueue(8);
      QueuePair queuePair = QueuePair.rc(domain).send(queue, 2).receive(queue, 2).open();
      MemoryRegion region = domain.allocate(64);
      SharedReceiveQueue shared = domain.sharedReceiveQueue(4, 1);
      AddressHandle handle = domain.addressHandle(AddressVector.global(1, 1, 0, new Gid(1, 2)));
      CompletionChannel channel = context.completionChannel();
      NativeObject[] objects = {region, queuePair, shared, handle, queue, channel, domain};
      String[] functions = {
        "ibv_dereg_mr",
        "ibv_destroy_qp",
        "ibv_destroy_srq",
        "ibv_destroy_ah",
        "ibv_destroy_cq",
        "ibv_destroy_comp_channel",
        "ibv_dealloc_pd"
      };
      for (int i = 0; i < objects.length; i++) {
        Loopback.fail(functions[i], EBUSY, 1);
        assertThatThrownBy(objects[i]::close)
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining("Device or resource busy (16)");
        assertThat(objects[i].isOpen()).isTrue();
        objects[i].close();
        assertThat(objects[i].isOpen()).isFalse();
      }
    }
  }

  @Test
  void takingAnEventAndEndingAConnectionTellTheirFailures() {
    try (Context context = Variant.open();
        CompletionChannel channel = context.completionChannel();
        EventChannel events = EventChannel.open();
        ConnectionId id = events.create(PortSpace.TCP)) {
      String error = "Input/output error (5)";
      Loopback.fail("ibv_get_cq_event", EIO, 1);
      assertThatThrownBy(channel::take).hasMessageContaining(error);
      Loopback.fail("ibv_get_async_event", EIO, 1);
      assertThatThrownBy(context::pollAsync).hasMessageContaining(error);
      Loopback.fail("rdma_disconnect", EIO, 1);
      assertThatThrownBy(id::disconnect).hasMessageContaining(error);
      assertThat(channel.take()).isEmpty();
      assertThat(context.pollAsync()).isEmpty();
    }
  }

  @Test
  void aPostThatFailsHalfWaySaysWhereAndTakesNoMorePlaces() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      for (int i = 0; i < 4; i++) {
        pair.right.expect(i, i, 0, 64);
        pair.left.send.send(i).id(i).local(pair.left.region, 0, 8).signaled();
      }
      Loopback.fail("ibv_post_send", ENOMEM, 1);
      assertThat(pair.left.queuePair.post(pair.left.send, 1, 3)).isEqualTo(-ENOMEM);
      assertThat(pair.left.send.failed()).isEqualTo(1);
      assertThat(pair.left.queuePair.post(pair.left.send, 1, 3)).isZero();
      assertThat(pair.left.send.failed()).isEqualTo(-1);
      int seen = 0;
      while (seen < 3) {
        seen += Variant.completions(pair.left.queue, pair.left.done);
      }
      // All places are free again: as many fit as the queue holds.
      for (int i = 0; i < Pair.DEPTH; i++) {
        pair.left.post(0);
      }
      assertThat(pair.left.queuePair.post(pair.left.send, 0, 1))
          .isEqualTo(QueuePair.BACK_PRESSURED);
      Loopback.fail("ibv_post_recv", ENOMEM, 1);
      pair.right.receive.request(9).local(pair.right.region, 0, 8);
      assertThat(pair.right.queuePair.post(pair.right.receive, 9, 1)).isEqualTo(-ENOMEM);
      assertThat(pair.right.receive.failed()).isEqualTo(9);
      assertThat(pair.right.queuePair.post(pair.right.receive, 9, 1)).isZero();
    }
  }

  @Test
  void anErrorNumberIsNegatedWhateverSignTheProviderGivesIt() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true);
        SharedReceiveQueue shared = pair.domain.sharedReceiveQueue(1, 1)) {
      pair.left.send.send(0).local(pair.left.region, 0, 8).signaled();
      Loopback.fail("ibv_post_send", -EIO, 1);
      assertThat(pair.left.queuePair.post(pair.left.send, 0, 1)).isEqualTo(-EIO);
      assertThat(pair.left.send.failed()).isZero();
      pair.right.receive.request(0).local(pair.right.region, 0, 8);
      Loopback.fail("ibv_post_recv", -EIO, 1);
      assertThat(pair.right.queuePair.post(pair.right.receive, 0, 1)).isEqualTo(-EIO);
      Loopback.fail("ibv_post_srq_recv", -EIO, 1);
      assertThat(shared.post(pair.right.receive, 0, 1)).isEqualTo(-EIO);
      ExtendedQueuePair left = pair.left.extended();
      left.start();
      left.id(1, true);
      left.send();
      left.piece(pair.left.region, 0, 8);
      Loopback.fail("ibv_wr_complete", -EIO, 1);
      assertThat(left.complete()).isEqualTo(-EIO);
    }
  }

  @Test
  void anExtendedBatchThatFailsTakesNoPlaces() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      for (int round = 0; round < 40; round++) {
        left.start();
        left.id(1, true);
        left.send();
        left.piece(pair.left.region, 0, 8);
        Loopback.fail("ibv_wr_complete", ENOMEM, 1);
        assertThat(left.complete()).isEqualTo(-ENOMEM);
      }
      for (int i = 0; i < Pair.DEPTH; i++) {
        left.start();
        left.id(1, true);
        left.send();
        left.piece(pair.left.region, 0, 8);
        assertThat(left.complete()).isZero();
      }
    }
  }

  @Test
  void aLostCompletionQueueIsANegativeResult() {
    try (Context context = Variant.open();
        CompletionQueue queue = context.completionQueue(4);
        ExtendedCompletionQueue extended = context.extendedCompletionQueue(4, null, false)) {
      Completions done = Completions.allocate(4);
      Loopback.fail("ibv_poll_cq", EIO, 1);
      assertThat(queue.poll(done)).isEqualTo(-EIO);
      assertThat(done.count()).isZero();
      assertThatThrownBy(() -> done.id(0)).isInstanceOf(IndexOutOfBoundsException.class);
      Loopback.fail("ibv_start_poll", EIO, 1);
      assertThatThrownBy(extended::start).isInstanceOf(VerbsException.class);
      assertThat(extended.start()).isFalse();
    }
  }

  @Test
  void completionsThatComeLateAndInAnotherOrderGiveBackTheRightPlaces() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(256);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      Path path = Variant.path(context);
      QueuePair[] ends = new QueuePair[8];
      for (int i = 0; i < 8; i += 2) {
        ends[i] = QueuePair.rc(domain).send(queue, 4).receive(queue, 4).open();
        ends[i + 1] = QueuePair.rc(domain).send(queue, 4).receive(queue, 4).open();
        QueuePairAddress one = ends[i].address(path, 1);
        QueuePairAddress two = ends[i + 1].address(path, 2);
        ends[i].connect(one, two, path);
        ends[i + 1].connect(two, one, path);
      }
      SendRequests send = SendRequests.allocate(domain, 4, 1);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 4, 1);
      Completions done = Completions.allocate(7);
      for (int round = 0; round < 6; round++) {
        Loopback.hold();
        for (int i = 0; i < 8; i += 2) {
          for (int k = 0; k < 4; k++) {
            receive.request(k).id(i).local(region, 0, 64);
            send.send(k).id(i).local(region, 0, 8);
          }
          // The second and the last are signalled: two places each.
          send.send(1).id(i).local(region, 0, 8).signaled();
          send.send(3).id(i).local(region, 0, 8).signaled();
          assertThat(ends[i + 1].post(receive, 0, 4)).isZero();
          assertThat(ends[i].post(send, 0, 4)).isZero();
          assertThat(ends[i].post(send, 0, 1)).isEqualTo(QueuePair.BACK_PRESSURED);
        }
        assertThat(queue.poll(done)).isZero();
        Loopback.release(round % 2 == 1);
        int seen = 0;
        while (seen < 4 * (4 + 2)) {
          int count = Variant.completions(queue, done);
          for (int i = 0; i < count; i++) {
            assertThat(done.status(i)).isEqualTo(Status.SUCCESS);
          }
          seen += count;
        }
      }
      for (QueuePair end : ends) {
        end.close();
      }
    }
  }

  @Test
  void theLimitOfLockedMemoryIsNamedWhereThereIsOne() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain()) {
      Loopback.fail("ibv_reg_mr", ENOMEM, 1);
      boolean unlimited = io.talaria.ffi.Libc.memlockLimit() == Long.MAX_VALUE;
      assertThatThrownBy(() -> domain.allocate(12345))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("registering 12345 bytes (ibv_reg_mr): Cannot allocate memory (12)")
          .satisfies(
              thrown ->
                  assertThat(thrown.getMessage().contains("RLIMIT_MEMLOCK")).isEqualTo(!unlimited));
    }
  }

  @Test
  void aLostWakeUpIsImpossibleBecauseArmingLooksOnceMore() {
    try (Pair pair = new Pair(QueuePair.Type.RC);
        CompletionChannel channel = pair.context.completionChannel();
        CompletionQueue queue = pair.context.completionQueue(4, channel, 0)) {
      Completions done = Completions.allocate(4);
      assertThat(queue.poll(done)).isZero();
      // Comes between the poll and the request for an event: no event will tell of it.
      Loopback.stuff(queue, 1);
      assertThat(queue.arm(false, done)).isEqualTo(1);
      Loopback.stuff(queue, 1);
      assertThat(channel.take()).contains(queue);
      assertThat(queue.poll(done)).isEqualTo(1);
      // An event that was not taken does not hold up the end.
      assertThat(queue.arm(false, done)).isZero();
      Loopback.stuff(queue, 1);
    }
  }
}
