// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Access;
import io.talaria.verbs.AddressHandle;
import io.talaria.verbs.AddressVector;
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
import java.lang.foreign.ValueLayout;

/** A message without a connection; in front of it come 40 bytes about its route. */
final class DatagramsExample {
  private static final int KEY = 0x11;
  private static final int ROUTE_BYTES = 40;

  private DatagramsExample() {}

  static String run(Here here) throws Exception {
    try (Context context = here.open();
        ProtectionDomain domain = context.protectionDomain();
        CompletionQueue queue = context.completionQueue(16);
        MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE);
        QueuePair sender = QueuePair.ud(domain).send(queue, 2).receive(queue, 2).open();
        QueuePair receiver = QueuePair.ud(domain).send(queue, 2).receive(queue, 2).open()) {
      sender.activate(1, KEY);
      receiver.activate(1, KEY);
      Path path = Here.path(context);
      QueuePairAddress there = receiver.address(path, 0);
      try (AddressHandle to =
          domain.addressHandle(
              AddressVector.global(1, path.gidIndex(), there.lid(), there.gid()))) {
        ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
        receive.request(0).id(1).local(region, 0, 256);
        Here.posted(receiver.post(receive, 0, 1));
        region.memory().set(ValueLayout.JAVA_INT, 1024, 4711);
        SendRequests send = SendRequests.allocate(domain, 1, 1);
        send.send(0).id(2).local(region, 1024, 4).to(to, there.number(), KEY).signaled();
        Here.posted(sender.post(send, 0, 1));
        Completions done = Completions.allocate(4);
        for (int seen = 0; seen < 2; ) {
          seen += Here.await(queue, done);
        }
        return "came: " + region.memory().get(ValueLayout.JAVA_INT, ROUTE_BYTES);
      }
    }
  }
}
