// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Variant.class)
class MessagesTest {
  @Test
  void aMessageArrivesWithItsImmediateWord() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      pair.right.expect(0, 70, 0, 64);
      pair.left.put(0, "hello");
      pair.left.send.sendImmediate(0, 0x01020304).id(7).local(pair.left.region, 0, 5).signaled();
      pair.left.post(0);
      pair.right.success(70);
      assertThat(pair.right.done.isReceive(0)).isTrue();
      assertThat(pair.right.done.opcode(0)).isEqualTo(Opcode.RECEIVE);
      assertThat(pair.right.done.bytes(0)).isEqualTo(5);
      assertThat(pair.right.done.hasImmediate(0)).isTrue();
      assertThat(pair.right.done.immediate(0)).isEqualTo(0x01020304);
      assertThat(pair.right.done.queuePairNumber(0)).isEqualTo(pair.right.queuePair.number());
      assertThat(pair.right.get(0, 5)).isEqualTo("hello");
      pair.left.success(7);
      assertThat(pair.left.done.opcode(0)).isEqualTo(Opcode.SEND);
      assertThat(pair.left.done.isReceive(0)).isFalse();
    }
  }

  @Test
  void inlineDataMayBeChangedAtOnce() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      assertThat(pair.left.queuePair.inlineBytes()).isGreaterThanOrEqualTo(64);
      pair.right.expect(0, 1, 0, 64);
      pair.left.put(0, "inline");
      pair.left.send.send(0).id(2).local(pair.left.region, 0, 6).inline().signaled();
      pair.left.post(0);
      pair.left.put(0, "XXXXXX");
      pair.right.success(1);
      assertThat(pair.right.done.hasImmediate(0)).isFalse();
      assertThat(pair.right.get(0, 6)).isEqualTo("inline");
      pair.left.success(2);
      pair.left.send.send(0).local(pair.left.region, 0, pair.left.queuePair.inlineBytes() + 1);
      pair.left.send.inline();
      assertThatThrownBy(() -> pair.left.queuePair.post(pair.left.send, 0, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("bytes inline, but the queue pair takes");
    }
  }

  @Test
  void piecesAreGatheredAndScattered() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      pair.right
          .receive
          .request(0)
          .id(1)
          .local(pair.right.region, 0, 4)
          .local(pair.right.region, 100, 2)
          .local(pair.right.region, 200, 64);
      assertThat(pair.right.queuePair.post(pair.right.receive, 0, 1)).isZero();
      pair.left.put(0, "abc");
      pair.left.put(50, "defgh");
      pair.left
          .send
          .send(0)
          .id(2)
          .local(pair.left.region, 0, 3)
          .local(pair.left.region, 50, 5)
          .signaled();
      pair.left.post(0);
      pair.right.success(1);
      assertThat(pair.right.done.bytes(0)).isEqualTo(8);
      assertThat(pair.right.get(0, 4) + pair.right.get(100, 2) + pair.right.get(200, 2))
          .isEqualTo("abcdefgh");
      pair.left.success(2);
      pair.left.send.send(0);
      for (int i = 0; i < 3; i++) {
        pair.left.send.local(pair.left.region, 0, 1);
      }
      assertThatThrownBy(() -> pair.left.send.local(pair.left.region, 0, 1))
          .hasMessage("the request has 3 pieces already");
    }
  }

  @Test
  void aChainIsPostedByOneCallAndMayBePostedAgain() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < Pair.DEPTH; i++) {
          pair.right.receive.request(i).id(i).local(pair.right.region, 64L * i, 64);
        }
        assertThat(pair.right.queuePair.post(pair.right.receive, 0, Pair.DEPTH)).isZero();
        for (int i = 0; i < Pair.DEPTH; i++) {
          pair.left.region.memory().set(ValueLayout.JAVA_LONG, 64L * i, 1000L * round + i);
          pair.left.send.send(i).id(i).local(pair.left.region, 64L * i, 8);
        }
        // Only the last is signalled: its completion gives all places back.
        pair.left.send.signaled();
        assertThat(pair.left.queuePair.post(pair.left.send, 0, 5)).isZero();
        assertThat(pair.left.queuePair.post(pair.left.send, 5, Pair.DEPTH - 5)).isZero();
        assertThat(pair.left.send.failed()).isEqualTo(-1);
        int received = 0;
        while (received < Pair.DEPTH) {
          int count = Variant.completions(pair.right.queue, pair.right.done);
          for (int i = 0; i < count; i++) {
            assertThat(pair.right.done.id(i)).isEqualTo(received);
            assertThat(pair.right.region.memory().get(ValueLayout.JAVA_LONG, 64L * received))
                .isEqualTo(1000L * round + received);
            received++;
          }
        }
        pair.left.success(Pair.DEPTH - 1);
      }
    }
  }

  @Test
  void aFullQueueSaysSoAndLosesNothing() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      // Nobody receives: nothing is ever completed.
      pair.left.send.send(0).id(5).local(pair.left.region, 0, 8).signaled();
      for (int i = 0; i < Pair.DEPTH; i++) {
        pair.left.post(0);
      }
      assertThat(pair.left.queuePair.post(pair.left.send, 0, 1))
          .isEqualTo(QueuePair.BACK_PRESSURED);
      for (int i = 0; i < Pair.DEPTH; i++) {
        pair.right.expect(i, i, 0, 64);
      }
      assertThat(pair.right.queuePair.post(pair.right.receive, 0, 1))
          .isEqualTo(QueuePair.BACK_PRESSURED);
      int done = 0;
      while (done < Pair.DEPTH) {
        done += Variant.completions(pair.left.queue, pair.left.done);
      }
      pair.left.post(0);
      done = 0;
      while (done < Pair.DEPTH) {
        done += Variant.completions(pair.right.queue, pair.right.done);
      }
      pair.right.expect(0, 9, 0, 64);
      pair.right.success(9);
    }
  }

  @Test
  void aQueueFullOfWhatIsNotSignalledIsSaid() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      pair.left.send.send(0).local(pair.left.region, 0, 8);
      for (int i = 0; i < Pair.DEPTH; i++) {
        pair.left.post(0);
      }
      assertThatThrownBy(() -> pair.left.queuePair.post(pair.left.send, 0, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "the send queue is full, and none of its 16 requests is signalled: signal one in 16"
                  + " at least");
    }
  }

  @Test
  void aMessageThatIsTooLongFailsBothSidesAndNothingElse() {
    try (Pair pair = new Pair(QueuePair.Type.RC);
        Pair other = new Pair(QueuePair.Type.RC)) {
      pair.right.expect(0, 1, 0, 4);
      pair.left.send.send(0).id(2).local(pair.left.region, 0, 64).signaled();
      pair.left.post(0);
      Variant.completions(pair.left.queue, pair.left.done);
      // Hardware answers «invalid request», soft-RoCE «operation error».
      assertThat(pair.left.done.status(0))
          .isIn(Status.REMOTE_INVALID_REQUEST, Status.REMOTE_OPERATION_ERROR);
      Variant.completions(pair.right.queue, pair.right.done);
      assertThat(pair.right.done.status(0))
          .isIn(Status.LOCAL_LENGTH_ERROR, Status.LOCAL_OPERATION_ERROR);
      assertThat(pair.left.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
      // On a queue pair in error posting succeeds; the flush tells.
      pair.left.post(0);
      Variant.completions(pair.left.queue, pair.left.done);
      assertThat(pair.left.done.status(0)).isEqualTo(Status.FLUSHED);
      other.right.expect(0, 3, 0, 64);
      other.left.send.send(0).id(4).local(other.left.region, 0, 8).signaled();
      other.left.post(0);
      other.right.success(3);
    }
  }

  @Test
  void aQueuePairThatFailedIsUsableAgainAfterAReset() {
    try (Pair pair = new Pair(QueuePair.Type.RC)) {
      pair.left.queuePair.fail();
      pair.right.queuePair.fail();
      assertThat(pair.left.queuePair.state()).isEqualTo(QueuePair.State.ERROR);
      pair.left.queuePair.reset();
      pair.right.queuePair.reset();
      assertThat(pair.left.queuePair.state()).isEqualTo(QueuePair.State.RESET);
      Path path = Variant.path(pair.context);
      QueuePairAddress one = pair.left.queuePair.address(path, 300);
      QueuePairAddress two = pair.right.queuePair.address(path, 400);
      pair.left.queuePair.connect(one, two, path);
      pair.right.queuePair.connect(two, one, path);
      QueuePairAttributes attributes = pair.left.queuePair.attributes();
      assertThat(attributes.state()).isEqualTo(QueuePair.State.READY_TO_SEND);
      assertThat(attributes.peerNumber()).isEqualTo(pair.right.queuePair.number());
      assertThat(attributes.retries()).isEqualTo(6);
      pair.right.expect(0, 1, 0, 64);
      pair.left.send.send(0).id(2).local(pair.left.region, 0, 8).signaled();
      pair.left.post(0);
      pair.right.success(1);
      pair.left.success(2);
    }
  }

  @Test
  void anUnreliableConnectionSendsAndWrites() {
    try (Pair pair = new Pair(QueuePair.Type.UC)) {
      pair.right.expect(0, 1, 0, 64);
      pair.left.put(0, "unreliable");
      pair.left.send.send(0).id(2).local(pair.left.region, 0, 10).signaled();
      pair.left.post(0);
      pair.left.success(2);
      pair.right.success(1);
      assertThat(pair.right.get(0, 10)).isEqualTo("unreliable");
    }
  }

  @Test
  void aSharedQueueFeedsSeveralQueuePairsAndSaysWhenItIsLow() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(64);
        SharedReceiveQueue shared = domain.sharedReceiveQueue(8, 1);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      Path path = Variant.path(context);
      QueuePair[] senders = new QueuePair[2];
      QueuePair[] receivers = new QueuePair[2];
      for (int i = 0; i < 2; i++) {
        senders[i] = QueuePair.rc(domain).send(queue, 4).receive(queue, 1).open();
        receivers[i] = QueuePair.rc(domain).send(queue, 1).receive(queue, shared).open();
        QueuePairAddress one = senders[i].address(path, 1);
        QueuePairAddress two = receivers[i].address(path, 2);
        senders[i].connect(one, two, path);
        receivers[i].connect(two, one, path);
      }
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 8, 1);
      for (int i = 0; i < 8; i++) {
        receive.request(i).id(100 + i).local(region, 64L * i, 64);
      }
      assertThat(shared.post(receive, 0, 8)).isZero();
      assertThat(shared.post(receive, 0, 1)).isEqualTo(QueuePair.BACK_PRESSURED);
      assertThatThrownBy(() -> receivers[0].post(receive, 0, 1))
          .hasMessageContaining("receives by a shared queue");
      shared.limit(7);
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      Completions done = Completions.allocate(8);
      for (int i = 0; i < 4; i++) {
        send.send(0).id(i).local(region, 0, 8).signaled();
        assertThat(senders[i % 2].post(send, 0, 1)).isZero();
        int seen = 0;
        while (seen < 2) {
          seen += Variant.completions(queue, done);
        }
      }
      AsyncEvent event = AsyncEventsTest.next(context);
      assertThat(event.type()).isEqualTo(AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT);
      assertThat(event.sharedReceiveQueue()).isSameAs(shared);
      assertThat(shared.limit()).isZero();
      assertThat(shared.post(receive, 0, 4)).isZero();
      assertThat(shared.post(receive, 4, 1)).isEqualTo(QueuePair.BACK_PRESSURED);
      for (int i = 0; i < 2; i++) {
        senders[i].close();
        receivers[i].close();
      }
    }
  }

  @Test
  void whatAQueuePairHasReceivedByASharedQueueFreesItsPlaceAlsoOnceItIsClosed() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue sent = context.completionQueue(8);
        CompletionQueue received = context.completionQueue(8);
        SharedReceiveQueue shared = domain.sharedReceiveQueue(1, 1);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      Path path = Variant.path(context);
      QueuePair sender = QueuePair.rc(domain).send(sent, 1).receive(sent, 1).open();
      QueuePair receiver = QueuePair.rc(domain).send(received, 1).receive(received, shared).open();
      QueuePairAddress one = sender.address(path, 1);
      QueuePairAddress two = receiver.address(path, 2);
      sender.connect(one, two, path);
      receiver.connect(two, one, path);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
      receive.request(0).id(7).local(region, 0, 64);
      assertThat(shared.post(receive, 0, 1)).isZero();
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      send.send(0).id(1).local(region, 64, 8).signaled();
      assertThat(sender.post(send, 0, 1)).isZero();
      Completions done = Completions.allocate(4);
      Variant.success(sent, done, 1);
      receiver.close();
      Variant.success(received, done, 7);
      assertThat(shared.post(receive, 0, 1)).isZero();
      sender.close();
    }
  }

  @Test
  void datagramsComeWithTheirRouteAndCanBeAnswered() {
    try (Pair pair = new Pair(QueuePair.Type.UD)) {
      Path path = Variant.path(pair.context);
      QueuePairAddress there = pair.right.queuePair.address(path, 0);
      try (AddressHandle handle =
          pair.domain.addressHandle(
              AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()))) {
        pair.right.expect(0, 1, 0, 256);
        pair.left.put(0, "datagram");
        pair.left
            .send
            .sendImmediate(0, 99)
            .id(2)
            .local(pair.left.region, 0, 8)
            .to(handle, there.number(), 0x11)
            .signaled();
        pair.left.post(0);
        pair.left.success(2);
        pair.right.success(1);
        assertThat(pair.right.done.bytes(0)).isEqualTo(48);
        assertThat(pair.right.done.hasRoute(0)).isTrue();
        assertThat(pair.right.done.immediate(0)).isEqualTo(99);
        assertThat(pair.right.done.sourceQueuePair(0)).isEqualTo(pair.left.queuePair.number());
        assertThat(pair.right.get(40, 8)).isEqualTo("datagram");
        AddressVector back = pair.right.queue.replyTo(1, pair.right.done, 0, pair.right.region, 0);
        try (AddressHandle answer = pair.domain.addressHandle(back)) {
          pair.left.expect(0, 3, 0, 256);
          pair.right.put(0, "answer");
          pair.right
              .send
              .send(0)
              .id(4)
              .local(pair.right.region, 0, 6)
              .to(answer, pair.left.queuePair.number(), 0x11)
              .signaled();
          pair.right.post(0);
          pair.left.success(3);
          assertThat(pair.left.get(40, 6)).isEqualTo("answer");
          pair.right.success(4);
        }
      }
      assertThatThrownBy(() -> pair.left.queuePair.post(pair.left.send, 0, 1))
          .hasMessage("the address handle is closed");
      pair.left.send.send(1).local(pair.left.region, 0, 1);
      assertThatThrownBy(() -> pair.left.queuePair.post(pair.left.send, 1, 1))
          .hasMessage("request 1 has no address handle: see to()");
    }
  }

  @Test
  void aRemoteAddressDoesNotPassForADestination() {
    try (Pair pair = new Pair(QueuePair.Type.UD)) {
      Path path = Variant.path(pair.context);
      QueuePairAddress there = pair.right.queuePair.address(path, 0);
      try (AddressHandle handle =
          pair.domain.addressHandle(
              AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()))) {
        SendRequests datagram =
            pair.left.send.send(0).id(2).local(pair.left.region, 0, 8).signaled();
        datagram.to(handle, there.number(), 0x11).remote(8, 1);
        assertThatThrownBy(() -> pair.left.queuePair.post(datagram, 0, 1))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("request 0 has no address handle: see to()");
        datagram.to(handle, there.number(), 0x11);
        pair.right.expect(0, 1, 0, 256);
        pair.left.post(0);
        pair.left.success(2);
        pair.right.success(1);
      }
    }
  }
}
