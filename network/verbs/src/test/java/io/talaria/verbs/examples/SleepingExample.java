// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionChannel;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.Path;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.QueuePairAddress;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;

/** A thread that sleeps until something comes, instead of polling. */
final class SleepingExample {
  private static final int MESSAGES = 5;
  private static final int LIMIT_MS = 60_000;

  private SleepingExample() {}

  static String run(Here here) throws Exception {
    try (Context context = here.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionChannel channel = context.completionChannel();
        CompletionQueue sleeping = context.completionQueue(16, channel, 0);
        CompletionQueue sending = context.completionQueue(16);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE);
        QueuePair sender = QueuePair.rc(domain).send(sending, 8).receive(sending, 1).open();
        QueuePair receiver = QueuePair.rc(domain).send(sleeping, 1).receive(sleeping, 8).open()) {
      Path path = Here.path(context);
      QueuePairAddress one = sender.address(path, 1);
      QueuePairAddress two = receiver.address(path, 2);
      sender.connect(one, two, path);
      receiver.connect(two, one, path);
      ReceiveRequests receive = ReceiveRequests.allocate(domain, MESSAGES, 1);
      for (int i = 0; i < MESSAGES; i++) {
        receive.request(i).id(i).local(region, 64L * i, 64);
      }
      Here.posted(receiver.post(receive, 0, MESSAGES));
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      Completions done = Completions.allocate(4);
      int wakings = 0;
      int received = 0;
      for (int i = 0; i < MESSAGES; i++) {
        // Asked for an event, and looked once more: only now may a thread sleep.
        int count = sleeping.arm(false, done);
        Here.check(count == 0, "something came before it was sent");
        send.send(0).id(i).local(region, 2048, 8).signaled();
        Here.posted(sender.post(send, 0, 1));
        Here.check(channel.await(LIMIT_MS), "no event in a minute");
        wakings += channel.take().isPresent() ? 1 : 0;
        received += Here.await(sleeping, done);
        Here.await(sending, done);
      }
      return "woken " + wakings + " times for " + received + " messages";
    }
  }
}
