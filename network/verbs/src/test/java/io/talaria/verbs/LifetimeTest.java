// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who owns whom, what is closed, foreign or too small: an exception, never a crash. */
@ExtendWith(Variant.class)
class LifetimeTest {
  @Test
  void childrenAreClosedBeforeTheirParentsAndARefusalNamesThem() {
    Context context = Variant.open();
    ProtectionDomain domain = context.protectionDomain();
    MemoryRegion region = domain.allocate(10, Access.LOCAL_WRITE);
    CompletionChannel channel = context.completionChannel();
    CompletionQueue queue = context.completionQueue(8, channel, 0);
    QueuePair one = QueuePair.rc(domain).send(queue, 1).receive(queue, 1).open();
    QueuePair two = QueuePair.rc(domain).send(queue, 1).receive(queue, 1).open();
    assertThatThrownBy(context::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "the context still has 1 completion channel, 1 completion queue, 1 protection domain:"
                + " close what belongs to it first");
    assertThatThrownBy(domain::close)
        .hasMessageContaining("the protection domain still has 1 memory region, 2 queue pairs");
    assertThatThrownBy(queue::close).hasMessageContaining("2 queue pairs");
    assertThatThrownBy(channel::close).hasMessageContaining("1 completion queue");
    one.close();
    one.close();
    two.close();
    region.close();
    queue.close();
    channel.close();
    domain.close();
    context.close();
    assertThat(context.isOpen()).isFalse();
    assertThatThrownBy(context::protectionDomain).hasMessage("the context is closed");
    assertThatThrownBy(one::state).hasMessage("the queue pair is closed");
    assertThatThrownBy(region::memory).hasMessage("the memory region is closed");
    assertThatThrownBy(() -> queue.poll(Completions.allocate(1)))
        .hasMessage("the completion queue is closed");
    assertThatThrownBy(channel::take).hasMessage("the completion channel is closed");
    assertThatThrownBy(() -> domain.allocate(1)).hasMessage("the protection domain is closed");
  }

  @Test
  void aQueuePairReservesItsShareOfACompletionQueue() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(10)) {
      int capacity = queue.capacity();
      QueuePair one = QueuePair.rc(domain).send(queue, capacity - 4).receive(queue, 2).open();
      assertThat(queue.reserved()).isEqualTo(capacity - 2);
      QueuePair.Builder second = QueuePair.rc(domain).send(queue, 2).receive(queue, 1);
      assertThatThrownBy(second::open)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("holds " + capacity + " entries, " + capacity + " are reserved")
          .hasMessageContaining("open a longer one");
      assertThat(queue.reserved()).isEqualTo(capacity - 2);
      one.close();
      assertThatThrownBy(second::open).hasMessageContaining("or poll it until it is empty");
      Completions done = Completions.allocate(16);
      while (queue.poll(done) != 0) {
        assertThat(done.status(0)).isEqualTo(Status.FLUSHED);
      }
      assertThat(queue.reserved()).isZero();
      second.open().close();
    }
  }

  @Test
  void memoryOfAnIdleRegionGoesAtOnce() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      MemoryRegion region = pair.domain.allocate(4096, Access.LOCAL_WRITE);
      region.closeIdle();
      assertThat(region.isOpen()).isFalse();
      region.closeIdle();
      assertThat(pair.domain.retiredRegions()).isZero();
    }
  }

  @Test
  void memoryOfAClosedRegionStaysWhileAQueuePairMayHaveItInItsHands() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      MemoryRegion region = pair.domain.allocate(4096, Access.LOCAL_WRITE);
      pair.right.receive.request(0).id(1).local(region, 0, 64);
      assertThat(pair.right.queuePair.post(pair.right.receive, 0, 1)).isZero();
      region.close();
      assertThat(pair.domain.retiredRegions()).isEqualTo(1);
      CompletionQueue queue = pair.context.completionQueue(4);
      QueuePair later = QueuePair.rc(pair.domain).send(queue, 1).receive(queue, 1).open();
      pair.left.queuePair.close();
      assertThat(pair.domain.retiredRegions()).isEqualTo(1);
      pair.right.queuePair.close();
      // The one that is open now was not there: it cannot have it.
      assertThat(pair.domain.retiredRegions()).isZero();
      later.close();
      queue.close();
    }
  }

  @Test
  void anOpenRegionThatTheProgramHasForgottenStays() throws Exception {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain()) {
      WeakReference<MemoryRegion> forgotten = forgotten(domain);
      for (int i = 0; i < 5; i++) {
        System.gc();
        Thread.sleep(10);
      }
      MemoryRegion region = forgotten.get();
      assertThat(region).isNotNull();
      region.close();
    }
  }

  private static WeakReference<MemoryRegion> forgotten(ProtectionDomain domain) {
    return new WeakReference<>(domain.allocate(4096, Access.LOCAL_WRITE, Access.REMOTE_WRITE));
  }

  @Test
  void whatThisProcessWouldReadOfAClosedArenaIsRefused() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      MemoryRegion region;
      try (Arena arena = Arena.ofConfined()) {
        region = pair.domain.register(arena.allocate(64));
      }
      try (region) {
        String message = "the arena of the region's memory is closed";
        ExtendedQueuePair left = pair.left.extended();
        pair.left.send.send(0).local(region, 0, 8).inline().signaled();
        assertThatThrownBy(() -> left.post(pair.left.send, 0, 1))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(message);
        left.start();
        left.send();
        assertThatThrownBy(() -> left.inline(region, 0, 8))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(message);
        left.abort();
        left.start();
        left.id(1, true);
        left.write(pair.right.region.remoteKey(), pair.right.region.remoteAddress());
        left.piece(pair.left.region, 0, 8);
        assertThat(left.complete()).isZero();
        pair.left.success(1);
        assertThatThrownBy(() -> pair.left.queue.replyTo(1, pair.left.done, 0, region, 0))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(message);
      }
    }
  }

  @Test
  void objectsOfTwoContextsAreNotMixed() {
    try (Context one = Variant.open();
        Context two = Variant.open();
        ProtectionDomain domain = one.protectionDomain();
        ProtectionDomain other = two.protectionDomain();
        ProtectionDomain sibling = one.protectionDomain();
        CompletionQueue queue = two.completionQueue(4);
        MemoryRegion region = other.allocate(64, Access.LOCAL_WRITE)) {
      assertThatThrownBy(() -> QueuePair.rc(domain).send(queue, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the completion queue is of the context " + two.name());
      SendRequests requests = SendRequests.allocate(domain, 1, 1);
      assertThatThrownBy(() -> requests.send(0).local(region, 0, 1))
          .hasMessageContaining("the memory region is of the context");
      try (MemoryRegion near = sibling.allocate(64, Access.LOCAL_WRITE)) {
        assertThatThrownBy(() -> requests.send(0).local(near, 0, 1))
            .hasMessage("the memory region is of another protection domain");
      }
    }
  }

  @Test
  void memoryThatADeviceCannotUseIsRefused() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> domain.register(MemorySegment.ofArray(new byte[8])))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the memory is on the heap");
      assertThatThrownBy(() -> domain.register(arena.allocate(8).asReadOnly(), Access.LOCAL_WRITE))
          .hasMessageContaining("read-only");
      assertThatThrownBy(() -> domain.register(arena.allocate(8).asSlice(8)))
          .hasMessage("a memory region of 0 bytes");
      assertThatThrownBy(() -> domain.allocate(0)).hasMessage("a memory region of 0 bytes");
      assertThatThrownBy(() -> domain.allocate(8, Access.REMOTE_WRITE))
          .hasMessageContaining("need LOCAL_WRITE");
      Arena closed = Arena.ofConfined();
      MemorySegment gone = closed.allocate(8);
      closed.close();
      assertThatThrownBy(() -> domain.register(gone))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the arena of the memory is closed");
      try (MemoryRegion region = domain.register(arena.allocate(64, 8), Access.LOCAL_WRITE)) {
        SendRequests requests = SendRequests.allocate(domain, 2, 1);
        assertThatThrownBy(() -> requests.send(2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> requests.send(0).local(region, 60, 5))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> requests.send(0).local(region, 0, -1))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThatThrownBy(() -> SendRequests.allocate(domain, 0, 1))
          .hasMessage("the number of requests is 0, but must be from 1 to 1048576");
    }
  }

  @Test
  void aWrongStateIsRefusedAndAWrongValueNamed() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(16);
        QueuePair queuePair = QueuePair.rc(domain).send(queue, 2).receive(queue, 2).open();
        MemoryRegion region = domain.allocate(64, Access.LOCAL_WRITE)) {
      assertThatThrownBy(() -> queuePair.readyToSend(1, Variant.path(context)))
          .isInstanceOf(VerbsException.class)
          .hasMessageStartingWith("ibv_modify_qp to READY_TO_SEND: Invalid argument (22)");
      assertThatThrownBy(() -> queuePair.activate(1, 1)).hasMessageContaining("see connect()");
      assertThatThrownBy(() -> queuePair.initialize(0))
          .hasMessage("the port is 0, but must be from 1 to 255");
      assertThatThrownBy(() -> context.port(200)).isInstanceOf(VerbsException.class);
      assertThatThrownBy(() -> context.completionQueue(0))
          .hasMessage("the number of completions is 0, but must be from 1 to 16777216");
      assertThatThrownBy(() -> queue.arm(false, Completions.allocate(1)))
          .hasMessage("the completion queue has no channel to sleep for");
      assertThatThrownBy(() -> Path.by(1, 0).withMtu(1500)).hasMessageContaining("an MTU of 1500");
      assertThatThrownBy(() -> QueuePair.rc(domain).open())
          .hasMessage("a queue pair needs send() and receive()");
      SendRequests requests = SendRequests.allocate(domain, 4, 1);
      for (int i = 0; i < 4; i++) {
        requests.send(i).local(region, 0, 1).signaled();
      }
      assertThatThrownBy(() -> queuePair.post(requests, 0, 3))
          .hasMessage("3 requests at once, but the send queue holds 2");
      assertThatThrownBy(() -> queuePair.post(requests, 3, 2))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> queuePair.post(requests, 0, 0)).hasMessage("0 requests to post");
    }
    try (DeviceList devices = DeviceList.open()) {
      assertThatThrownBy(() -> devices.named("nothing0"))
          .isInstanceOf(NoSuchElementException.class)
          .hasMessageStartingWith("no RDMA device is named nothing0; there are [");
    }
  }

  @Test
  void portsOfADeviceAreCountedFromOne() {
    for (String name : new String[] {"nothing0:0", "nothing0:-1"}) {
      assertThatThrownBy(() -> ActivePort.open(name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(name + " has a port number below 1");
    }
  }

  @Test
  void theDeviceTellsWhatItIs() {
    try (DeviceList devices = DeviceList.open()) {
      Device device = devices.first();
      assertThat(device.kind()).isEqualTo(Device.Kind.CHANNEL_ADAPTER);
      assertThat(device.guid()).isNotZero();
      assertThat(device.index()).isGreaterThanOrEqualTo(-1);
      try (Context context = device.open()) {
        DeviceAttributes attributes = context.attributes();
        assertThat(attributes.ports()).isPositive();
        assertThat(attributes.maxQueueRequests()).isPositive();
        PortAttributes port = context.port(1);
        assertThat(port.state()).isEqualTo(PortAttributes.State.ACTIVE);
        assertThat(port.activeMtuBytes()).isGreaterThanOrEqualTo(256);
        assertThat(context.gids(1)).isNotEmpty();
        assertThat(context.preferredGid(1)).isPresent();
        assertThat(context.partitionKey(1, 0)).isEqualTo(0xffff);
        assertThat(context.completionVectors()).isPositive();
      }
    }
  }

  @Test
  void aThousandQueuePairsComeAndGo() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(64)) {
      Completions none = Completions.allocate(1);
      int rounds = Variant.isDevice() ? 50 : 1000;
      for (int i = 0; i < rounds; i++) {
        QueuePair first = QueuePair.rc(domain).send(queue, 16).receive(queue, 16).open();
        QueuePair second = QueuePair.rc(domain).send(queue, 16).receive(queue, 16).open();
        first.close();
        second.close();
        assertThat(queue.poll(none)).isZero();
      }
      assertThat(queue.reserved()).isZero();
    }
  }
}
