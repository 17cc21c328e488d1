// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code ibv_wr_*} and extended completion queues. */
@ExtendWith(Variant.class)
class ExtendedTest {
  @Test
  void aBatchIsPostedFieldByField() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      MemoryRegion near = pair.left.region;
      MemoryRegion far = pair.right.region;
      pair.right.expect(0, 7, 4096, 64);
      pair.left.put(0, "by calls");
      left.start();
      left.id(1, false);
      left.write(far.remoteKey(), far.remoteAddress() + 10);
      left.piece(near, 0, 8);
      left.id(2, true);
      left.sendImmediate(77);
      left.inline(near, 3, 5);
      assertThat(left.complete()).isZero();
      pair.right.success(7);
      assertThat(pair.right.done.immediate(0)).isEqualTo(77);
      assertThat(pair.right.get(4096, 5)).isEqualTo("calls");
      assertThat(pair.right.get(10, 8)).isEqualTo("by calls");
      pair.left.success(2);
      far.memory().set(java.lang.foreign.ValueLayout.JAVA_LONG, 256, 5);
      left.start();
      left.id(3, true);
      left.fetchAdd(far.remoteKey(), far.remoteAddress() + 256, 6);
      left.piece(near, 64, 8);
      assertThat(left.complete()).isZero();
      pair.left.success(3);
      left.start();
      left.id(4, true);
      left.compareSwap(far.remoteKey(), far.remoteAddress() + 256, 11, 12);
      left.piece(near, 72, 8);
      assertThat(left.complete()).isZero();
      pair.left.success(4);
      assertThat(near.memory().get(java.lang.foreign.ValueLayout.JAVA_LONG, 64)).isEqualTo(5);
      assertThat(far.memory().get(java.lang.foreign.ValueLayout.JAVA_LONG, 256)).isEqualTo(12);
      left.start();
      left.id(5, true);
      left.read(far.remoteKey(), far.remoteAddress() + 10);
      left.piece(near, 128, 8);
      assertThat(left.complete()).isZero();
      pair.left.success(5);
      assertThat(pair.left.get(128, 8)).isEqualTo("by calls");
    }
  }

  @Test
  void aBatchIsDroppedAndTakesNoPlace() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      for (int round = 0; round < 3; round++) {
        left.start();
        for (int i = 0; i < Pair.DEPTH; i++) {
          left.id(i, true);
          left.send();
          left.piece(pair.left.region, 0, 8);
        }
        left.id(99, true);
        assertThatThrownBy(left::send).hasMessageContaining("no room for request 17 of the batch");
        left.abort();
      }
      assertThat(pair.left.queue.poll(pair.left.done)).isZero();
      pair.right.expect(0, 1, 0, 64);
      left.start();
      left.id(2, true);
      left.send();
      left.piece(pair.left.region, 0, 8);
      assertThat(left.complete()).isZero();
      pair.left.success(2);
    }
  }

  @Test
  void aFullBatchThatIsDroppedLeavesTheCountOfTheQueueRight() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      // More than the ring of marks holds, so that it has been written all around.
      writeOneByOne(pair, Pair.DEPTH + 3);
      left.start();
      for (int i = 0; i < Pair.DEPTH; i++) {
        left.id(i, true);
        left.write(pair.right.region.remoteKey(), pair.right.region.remoteAddress());
        left.piece(pair.left.region, 0, 8);
      }
      left.abort();
      writeOneByOne(pair, 3 * Pair.DEPTH);
    }
  }

  /** Each is posted when the one before it is completed. */
  private static void writeOneByOne(Pair pair, int times) {
    ExtendedQueuePair left = pair.left.extended();
    for (int i = 0; i < times; i++) {
      left.start();
      left.id(i, true);
      left.write(pair.right.region.remoteKey(), pair.right.region.remoteAddress());
      left.piece(pair.left.region, 0, 8);
      assertThat(left.complete()).as("request %d", i).isZero();
      pair.left.success(i);
    }
  }

  @Test
  void callsInTheWrongOrderAreRefused() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      assertThatThrownBy(left::send).hasMessageContaining("no batch has begun");
      left.start();
      assertThatThrownBy(left::start).hasMessageContaining("has begun already");
      assertThatThrownBy(() -> left.piece(pair.left.region, 0, 1))
          .hasMessageContaining("no request has begun");
      left.send();
      assertThatThrownBy(left::send).hasMessageContaining("the request before has no data");
      assertThatThrownBy(left::complete).hasMessageContaining("the last request has no data");
      left.abort();
    }
  }

  @Test
  void blocksAreNotPostedWithinABatch() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      pair.left.send.send(0).local(pair.left.region, 0, 8).signaled();
      left.start();
      assertThatThrownBy(() -> left.post(pair.left.send, 0, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("a batch has begun already");
      left.abort();
      pair.right.expect(0, 1, 0, 64);
      assertThat(left.post(pair.left.send, 0, 1)).isZero();
      pair.right.success(1);
    }
  }

  @Test
  void aQueuePairIsNotResetWithinABatch() {
    try (Pair pair = new Pair(QueuePair.Type.RC, true)) {
      ExtendedQueuePair left = pair.left.extended();
      left.start();
      assertThatThrownBy(left::reset)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("a batch has begun already");
      left.abort();
      left.reset();
      assertThat(left.state()).isEqualTo(QueuePair.State.RESET);
    }
  }

  @Test
  void aDatagramNeedsADestinationOfItsOwn() {
    try (Pair pair = new Pair(QueuePair.Type.UD, true)) {
      ExtendedQueuePair left = pair.left.extended();
      Path path = Variant.path(pair.context);
      QueuePairAddress there = pair.right.queuePair.address(path, 0);
      try (AddressHandle handle =
          pair.domain.addressHandle(
              AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()))) {
        left.start();
        assertThatThrownBy(() -> left.to(handle, there.number(), 0x11))
            .hasMessage("no request has begun that needs a destination");
        left.send();
        left.to(handle, there.number(), 0x11);
        left.piece(pair.left.region, 0, 8);
        left.send();
        left.piece(pair.left.region, 0, 8);
        assertThatThrownBy(left::complete)
            .hasMessage("the last request has no destination: see to()");
        assertThatThrownBy(left::send).hasMessage("the last request has no destination: see to()");
        left.to(handle, there.number(), 0x11);
        pair.right.expect(0, 1, 0, 256);
        pair.right.expect(1, 2, 256, 256);
        assertThat(left.complete()).isZero();
        int received = 0;
        while (received < 2) {
          received += Variant.completions(pair.right.queue, pair.right.done);
        }
        assertThat(received).isEqualTo(2);
      }
    }
  }

  @Test
  void aDatagramToAClosedHandleIsNotPosted() {
    try (Pair pair = new Pair(QueuePair.Type.UD, true)) {
      ExtendedQueuePair left = pair.left.extended();
      Path path = Variant.path(pair.context);
      QueuePairAddress there = pair.right.queuePair.address(path, 0);
      AddressHandle handle =
          pair.domain.addressHandle(
              AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()));
      left.start();
      left.send();
      left.to(handle, there.number(), 0x11);
      handle.close();
      assertThatThrownBy(() -> left.piece(pair.left.region, 0, 8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the address handle is closed");
      assertThatThrownBy(left::complete).hasMessageContaining("the last request has no data");
      left.abort();
      left.start();
      left.send();
      left.piece(pair.left.region, 0, 8);
      assertThatThrownBy(() -> left.to(handle, there.number(), 0x11))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the address handle is closed");
      assertThatThrownBy(left::complete)
          .hasMessage("the last request has no destination: see to()");
      left.abort();
    }
  }

  @Test
  void aQueueIsNotPolledWhileItIsRead() {
    try (Pair pair = new Pair(QueuePair.Type.RC);
        ExtendedCompletionQueue queue = pair.context.extendedCompletionQueue(8, null, false);
        QueuePair queuePair = QueuePair.rc(pair.domain).send(queue, 2).receive(queue, 2).open()) {
      Path path = Variant.path(pair.context);
      QueuePairAddress own = queuePair.address(path, 1);
      queuePair.connect(own, own, path);
      queuePair.fail();
      pair.left.send.send(0).local(pair.left.region, 0, 8).signaled();
      assertThat(queuePair.post(pair.left.send, 0, 1)).isZero();
      while (!queue.start()) {
        Thread.onSpinWait();
      }
      assertThatThrownBy(() -> queue.poll(pair.left.done))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("reading has begun already");
      queue.end();
      assertThat(queue.poll(pair.left.done)).isZero();
    }
  }

  @Test
  void aQueuePairIsNotClosedOrResetWhileItsCompletionsAreRead() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue other = context.completionQueue(8);
        ExtendedCompletionQueue queue = context.extendedCompletionQueue(8, null, false);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      QueuePair sends = QueuePair.rc(domain).send(queue, 1).receive(other, 1).open();
      QueuePair receives = QueuePair.rc(domain).send(other, 1).receive(queue, 1).open();
      QueuePair neither = QueuePair.rc(domain).send(other, 1).receive(other, 1).open();
      receives.initialize(1);
      ReceiveRequests request = ReceiveRequests.allocate(domain, 1, 1);
      request.request(0).id(7).local(region, 0, 64);
      assertThat(receives.post(request, 0, 1)).isZero();
      receives.fail();
      while (!queue.start()) {
        Thread.onSpinWait();
      }
      for (QueuePair queuePair : List.of(sends, receives)) {
        refused(queuePair::close);
        refused(queuePair::reset);
        assertThat(queuePair.isOpen()).isTrue();
      }
      refused(() -> queue.resize(16));
      neither.close();
      queue.end();
      sends.reset();
      sends.close();
      receives.close();
    }
  }

  private static void refused(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("reading has begun already: see end()");
  }

  @Test
  void completionsAreReadOneByOneWithTheirTime() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        ExtendedCompletionQueue queue = timed(context);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE);
        QueuePair sender = QueuePair.rc(domain).send(queue, 4).receive(queue, 4).open();
        QueuePair receiver = QueuePair.rc(domain).send(queue, 4).receive(queue, 4).open()) {
      assertThat(queue.start()).isFalse();
      assertThatThrownBy(queue::id).hasMessageContaining("reading has not begun");
      Path path = Variant.path(context);
      QueuePairAddress one = sender.address(path, 1);
      QueuePairAddress two = receiver.address(path, 2);
      sender.connect(one, two, path);
      receiver.connect(two, one, path);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      for (int round = 0; round < 12; round++) {
        receive.request(0).id(10).local(region, 0, 64);
        assertThat(receiver.post(receive, 0, 1)).isZero();
        send.sendImmediate(0, 5).id(20).local(region, 64, 8).signaled();
        assertThat(sender.post(send, 0, 1)).isZero();
        int seen = 0;
        while (seen < 2) {
          if (!queue.start()) {
            continue;
          }
          do {
            assertThat(queue.status()).isEqualTo(Status.SUCCESS);
            if (queue.id() == 10) {
              assertThat(queue.queuePairNumber()).isEqualTo(receiver.number());
              assertThat(queue.opcode()).isEqualTo(Opcode.RECEIVE);
              assertThat(queue.bytes()).isEqualTo(8);
              assertThat(queue.hasImmediate()).isTrue();
              assertThat(queue.immediate()).isEqualTo(5);
            } else {
              assertThat(queue.id()).isEqualTo(20);
              assertThat(queue.opcode()).isEqualTo(Opcode.SEND);
            }
            seen++;
          } while (queue.next());
          queue.end();
        }
      }
    }
  }

  private static ExtendedCompletionQueue timed(Context context) {
    if (Variant.isDevice()) {
      // Soft-RoCE has no clock.
      return context.extendedCompletionQueue(16, null, false);
    }
    ExtendedCompletionQueue queue = context.extendedCompletionQueue(16, null, true);
    Loopback.stuff(queue, 1);
    assertThat(queue.start()).isTrue();
    assertThat(queue.timestamp()).isPositive();
    queue.end();
    return queue;
  }
}
