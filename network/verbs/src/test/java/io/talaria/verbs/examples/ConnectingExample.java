// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.Access;
import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.GidEntry;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.QueuePair;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SendRequests;
import io.talaria.verbs.cm.ConnectionEvent;
import io.talaria.verbs.cm.ConnectionId;
import io.talaria.verbs.cm.ConnectionParameters;
import io.talaria.verbs.cm.EventChannel;
import io.talaria.verbs.cm.PortSpace;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** RDMA CM: addresses and ports instead of numbers of queue pairs. */
final class ConnectingExample {
  private static final int LIMIT_MS = 60_000;

  private ConnectingExample() {}

  static String run(Here here) throws Exception {
    try (EventChannel servers = EventChannel.open();
        EventChannel clients = EventChannel.open();
        ConnectionId listener = servers.create(PortSpace.TCP);
        ConnectionId client = clients.create(PortSpace.TCP)) {
      listener.bind(new InetSocketAddress(address(here), 0));
      listener.listen(4);
      client.resolveAddress(null, listener.localAddress().orElseThrow(), LIMIT_MS);
      next(clients, ConnectionEvent.Type.ADDRESS_RESOLVED);
      client.resolveRoute(LIMIT_MS);
      next(clients, ConnectionEvent.Type.ROUTE_RESOLVED);
      // RDMA CM has opened the device by itself: its objects are of that context.
      Context context = client.context().orElseThrow();
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(16);
          MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
        QueuePair.Builder options = QueuePair.rc(domain).send(queue, 2).receive(queue, 2);
        QueuePair near = client.open(options);
        client.connect(ConnectionParameters.with(bytes("please")));
        ConnectionEvent request = next(servers, ConnectionEvent.Type.CONNECT_REQUEST);
        ConnectionId server = request.id();
        QueuePair far = server.open(options);
        ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
        receive.request(0).id(1).local(region, 0, 64);
        Here.posted(far.post(receive, 0, 1));
        server.accept(ConnectionParameters.with(bytes("welcome")));
        ConnectionEvent made = next(clients, ConnectionEvent.Type.ESTABLISHED);
        next(servers, ConnectionEvent.Type.ESTABLISHED);
        SendRequests send = SendRequests.allocate(domain, 1, 1);
        send.send(0).id(2).local(region, 64, 8).signaled();
        Here.posted(near.post(send, 0, 1));
        Completions done = Completions.allocate(4);
        for (int seen = 0; seen < 2; ) {
          seen += Here.await(queue, done);
        }
        String asked = text(request.privateData(), 6);
        String received = text(made.privateData(), 7);
        client.disconnect();
        next(servers, ConnectionEvent.Type.DISCONNECTED);
        server.disconnect(); // the answer, without which the client waits
        next(clients, ConnectionEvent.Type.DISCONNECTED);
        near.close();
        far.close();
        server.close();
        return "sent «" + asked + "», received «" + received + "»";
      }
    }
  }

  private static ConnectionEvent next(EventChannel channel, ConnectionEvent.Type type) {
    ConnectionEvent event = channel.next(LIMIT_MS).orElseThrow();
    Here.check(event.type() == type, event.type() + " came where " + type + " should");
    return event;
  }

  /** The IPv4 address of the device. */
  private static InetAddress address(Here here) throws Exception {
    try (Context context = here.open()) {
      for (GidEntry entry : context.gids(1)) {
        if (entry.gid().isIpv4()) {
          byte[] bytes = entry.gid().toBytes();
          return InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, 16));
        }
      }
    }
    throw new IllegalStateException("the device has no IPv4 address");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] data, int length) {
    return new String(data, 0, length, StandardCharsets.UTF_8);
  }
}
