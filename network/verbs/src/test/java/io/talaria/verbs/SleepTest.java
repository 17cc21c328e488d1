// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Variant.class)
class SleepTest {
  private static final int MESSAGES = 200;

  @Test
  void aSleepingThreadIsWokenForEveryMessage() throws Exception {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionChannel channel = context.completionChannel();
        CompletionQueue sleeping = context.completionQueue(32, channel, 0);
        CompletionQueue sending = context.completionQueue(32);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE);
        QueuePair sender = QueuePair.rc(domain).send(sending, 8).receive(sending, 8).open();
        QueuePair receiver = QueuePair.rc(domain).send(sleeping, 8).receive(sleeping, 8).open()) {
      assertThat(channel.take()).isEmpty();
      Path path = Variant.path(context);
      QueuePairAddress one = sender.address(path, 1);
      QueuePairAddress two = receiver.address(path, 2);
      sender.connect(one, two, path);
      receiver.connect(two, one, path);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 8, 1);
      for (int i = 0; i < 8; i++) {
        receive.request(i).id(i).local(region, 64L * i, 64);
      }
      assertThat(receiver.post(receive, 0, 8)).isZero();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      CountDownLatch over = new CountDownLatch(1);
      Thread thread =
          new Thread(
              () -> {
                try {
                  receiveAll(channel, sleeping, receiver, receive);
                } catch (Throwable t) {
                  failure.set(t);
                } finally {
                  over.countDown();
                }
              });
      thread.start();
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      Completions done = Completions.allocate(4);
      for (int i = 0; i < MESSAGES; i++) {
        send.send(0).id(i).local(region, 2048, 8).signaled();
        assertThat(sender.post(send, 0, 1)).isZero();
        Variant.success(sending, done, i);
      }
      assertThat(over.await(60, TimeUnit.SECONDS)).isTrue();
      thread.join();
      assertThat(failure.get()).isNull();
    }
  }

  private static void receiveAll(
      CompletionChannel channel,
      CompletionQueue queue,
      QueuePair receiver,
      ReceiveRequests receive) {
    Completions done = Completions.allocate(4);
    int seen = 0;
    while (seen < MESSAGES) {
      int count = queue.poll(done);
      if (count == 0) {
        count = queue.arm(false, done);
        if (count == 0) {
          assertThat(channel.await(50_000)).as("an event").isTrue();
          assertThat(channel.take()).contains(queue);
          continue;
        }
      }
      for (int i = 0; i < count; i++) {
        assertThat(done.status(i)).isEqualTo(Status.SUCCESS);
        assertThat(receiver.post(receive, (int) done.id(i), 1)).isZero();
      }
      seen += count;
    }
  }

  @Test
  void onlySolicitedMessagesWakeWhoAsksForThose() {
    try (Context context = Variant.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionChannel channel = context.completionChannel();
        CompletionQueue sleeping = context.completionQueue(32, channel, 0);
        CompletionQueue sending = context.completionQueue(32);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE);
        QueuePair sender = QueuePair.rc(domain).send(sending, 8).receive(sending, 8).open();
        QueuePair receiver = QueuePair.rc(domain).send(sleeping, 8).receive(sleeping, 8).open()) {
      Path path = Variant.path(context);
      QueuePairAddress one = sender.address(path, 1);
      QueuePairAddress two = receiver.address(path, 2);
      sender.connect(one, two, path);
      receiver.connect(two, one, path);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, 2, 1);
      receive.request(0).local(region, 0, 64);
      receive.request(1).local(region, 0, 64);
      assertThat(receiver.post(receive, 0, 2)).isZero();
      Completions done = Completions.allocate(4);
      assertThat(sleeping.arm(true, done)).isZero();
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      send.send(0).id(1).local(region, 64, 8).signaled();
      assertThat(sender.post(send, 0, 1)).isZero();
      Variant.success(sending, done, 1);
      Variant.success(sleeping, done, 0);
      assertThat(channel.take()).isEmpty();
      send.send(0).id(2).local(region, 64, 8).signaled().solicited();
      assertThat(sender.post(send, 0, 1)).isZero();
      assertThat(channel.await(50_000)).isTrue();
      assertThat(channel.take()).contains(sleeping);
      assertThat(channel.drop()).isFalse();
      Variant.success(sending, done, 2);
      Variant.success(sleeping, done, 0);
      assertThat(receiver.post(receive, 0, 1)).isZero();
      assertThat(sleeping.arm(false, done)).isZero();
      send.send(0).id(3).local(region, 64, 8).signaled();
      assertThat(sender.post(send, 0, 1)).isZero();
      assertThat(channel.await(50_000)).isTrue();
      assertThat(channel.drop()).isTrue();
      assertThat(channel.drop()).isFalse();
      Variant.success(sending, done, 3);
    }
  }
}
