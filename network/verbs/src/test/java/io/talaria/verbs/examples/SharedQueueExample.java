// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Access;
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
import io.talaria.verbs.SharedReceiveQueue;

/** One queue of receive requests for three connections. */
final class SharedQueueExample {
  private static final int PEERS = 3;
  private static final int REQUESTS = 8;

  private SharedQueueExample() {}

  static String run(Here here) throws Exception {
    try (Context context = here.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(64);
        SharedReceiveQueue shared = domain.sharedReceiveQueue(REQUESTS, 1);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
      Path path = Here.path(context);
      QueuePair[] senders = new QueuePair[PEERS];
      QueuePair[] receivers = new QueuePair[PEERS];
      for (int i = 0; i < PEERS; i++) {
        senders[i] = QueuePair.rc(domain).send(queue, 2).receive(queue, 1).open();
        receivers[i] = QueuePair.rc(domain).send(queue, 1).receive(queue, shared).open();
        QueuePairAddress one = senders[i].address(path, 1);
        QueuePairAddress two = receivers[i].address(path, 2);
        senders[i].connect(one, two, path);
        receivers[i].connect(two, one, path);
      }
      ReceiveRequests receive = ReceiveRequests.allocate(domain, REQUESTS, 1);
      for (int i = 0; i < REQUESTS; i++) {
        receive.request(i).id(100 + i).local(region, 64L * i, 64);
      }
      Here.posted(shared.post(receive, 0, REQUESTS));
      SendRequests send = SendRequests.allocate(domain, 1, 1);
      Completions done = Completions.allocate(16);
      int received = 0;
      for (int message = 0; message < 2 * PEERS; message++) {
        send.send(0).id(message).local(region, 1024, 8).signaled();
        Here.posted(senders[message % PEERS].post(send, 0, 1));
        for (int seen = 0; seen < 2; ) { // its own completion, and that of the receiver
          int count = Here.await(queue, done);
          for (int i = 0; i < count; i++) {
            received += done.isReceive(i) ? 1 : 0;
          }
          seen += count;
        }
      }
      for (int i = 0; i < PEERS; i++) {
        senders[i].close();
        receivers[i].close();
      }
      return received + " messages of " + PEERS + " connections came by one queue";
    }
  }
}
