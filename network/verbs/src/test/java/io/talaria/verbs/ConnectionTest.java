// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.talaria.verbs.cm.ConnectionEvent;
import io.talaria.verbs.cm.ConnectionId;
import io.talaria.verbs.cm.ConnectionParameters;
import io.talaria.verbs.cm.EventChannel;
import io.talaria.verbs.cm.PortSpace;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** RDMA CM from listening to the end. */
@ExtendWith(Variant.class)
class ConnectionTest {
  private static final int LIMIT_MS = 60_000;

  /** The IPv4 address of the first device. */
  private static InetAddress address() throws Exception {
    try (DeviceList devices = DeviceList.open();
        Context context = devices.first().open()) {
      for (GidEntry entry : context.gids(1)) {
        Gid gid = entry.gid();
        if (gid.isIpv4()) {
          byte[] bytes = gid.toBytes();
          return InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, 16));
        }
      }
    }
    throw new AssertionError("the port has no IPv4 address");
  }

  private static ConnectionEvent next(EventChannel channel, ConnectionEvent.Type type) {
    ConnectionEvent event = channel.next(LIMIT_MS).orElseThrow();
    assertThat(event.type()).isEqualTo(type);
    return event;
  }

  private static ConnectionId listen(EventChannel channel) throws Exception {
    ConnectionId listener = channel.create(PortSpace.TCP);
    listener.bind(new InetSocketAddress(address(), 0));
    listener.listen(4);
    return listener;
  }

  private static ConnectionId resolved(EventChannel channel, InetSocketAddress peer) {
    ConnectionId client = channel.create(PortSpace.TCP);
    assertThat(client.context()).isEmpty();
    client.resolveAddress(null, peer, LIMIT_MS);
    assertThat(next(channel, ConnectionEvent.Type.ADDRESS_RESOLVED).id()).isSameAs(client);
    client.resolveRoute(LIMIT_MS);
    ConnectionEvent route = next(channel, ConnectionEvent.Type.ROUTE_RESOLVED);
    assertThat(route.id()).isSameAs(client);
    return client;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String start(byte[] data, int length) {
    return new String(data, 0, length, StandardCharsets.UTF_8);
  }

  @Test
  void aConnectionIsMadeUsedAndEnded() throws Exception {
    assertThat(Verbs.cmUnavailableReason()).isEmpty();
    try (EventChannel servers = EventChannel.open();
        EventChannel clients = EventChannel.open();
        ConnectionId listener = listen(servers);
        ConnectionId client = resolved(clients, listener.localAddress().orElseThrow())) {
      Context context = client.context().orElseThrow();
      assertThat(context.borrowed()).isTrue();
      assertThat(context.name()).endsWith("of RDMA CM");
      assertThat(EventChannel.contexts()).contains(context);
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(64);
          MemoryRegion region = domain.allocate(4096, Access.LOCAL_WRITE)) {
        QueuePair.Builder options = QueuePair.rc(domain).send(queue, 8).receive(queue, 8);
        QueuePair near = client.open(options);
        assertThatThrownBy(() -> client.open(options))
            .hasMessage("the identifier has a queue pair already");
        client.connect(ConnectionParameters.with(bytes("please")));
        ConnectionEvent request = next(servers, ConnectionEvent.Type.CONNECT_REQUEST);
        assertThat(request.listener()).isSameAs(listener);
        assertThat(start(request.privateData(), 6)).isEqualTo("please");
        ConnectionId server = request.id();
        assertThat(server.context()).contains(context);
        QueuePair far = server.open(options);
        ReceiveRequests receive = ReceiveRequests.allocate(domain, 1, 1);
        receive.request(0).id(1).local(region, 0, 64);
        assertThat(far.post(receive, 0, 1)).isZero();
        server.accept(ConnectionParameters.with(bytes("welcome")));
        ConnectionEvent there = next(clients, ConnectionEvent.Type.ESTABLISHED);
        assertThat(start(there.privateData(), 7)).isEqualTo("welcome");
        assertThat(next(servers, ConnectionEvent.Type.ESTABLISHED).id()).isSameAs(server);
        assertThat(near.state()).isEqualTo(QueuePair.State.READY_TO_SEND);
        SendRequests send = SendRequests.allocate(domain, 1, 1);
        send.send(0).id(2).local(region, 64, 8).signaled();
        assertThat(near.post(send, 0, 1)).isZero();
        Completions done = Completions.allocate(4);
        int seen = 0;
        while (seen < 2) {
          int count = queue.poll(done);
          for (int i = 0; i < count; i++, seen++) {
            assertThat(done.status(i)).isEqualTo(Status.SUCCESS);
          }
        }
        assertThatThrownBy(client::close)
            .hasMessage("the identifier still has a queue pair: close it first");
        client.disconnect();
        assertThat(next(servers, ConnectionEvent.Type.DISCONNECTED).id()).isSameAs(server);
        server.disconnect(); // the answer
        assertThat(next(clients, ConnectionEvent.Type.DISCONNECTED).id()).isSameAs(client);
        assertThat(near.state()).isEqualTo(QueuePair.State.ERROR);
        near.close();
        far.close();
        server.close();
      }
      assertThatThrownBy(context::close)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("belongs to RDMA CM");
      assertThatThrownBy(servers::close)
          .hasMessage("the event channel still has 1 open identifiers: close them first");
    }
  }

  @Test
  void aPeerSaysNoWithItsReason() throws Exception {
    try (EventChannel servers = EventChannel.open();
        EventChannel clients = EventChannel.open();
        ConnectionId listener = listen(servers);
        ConnectionId client = resolved(clients, listener.localAddress().orElseThrow())) {
      Context context = client.context().orElseThrow();
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(4);
          QueuePair near = client.open(QueuePair.rc(domain).send(queue, 1).receive(queue, 1))) {
        assertThat(near.state()).isEqualTo(QueuePair.State.INIT);
        client.connect(ConnectionParameters.with());
        ConnectionEvent request = next(servers, ConnectionEvent.Type.CONNECT_REQUEST);
        request.id().reject(bytes("no"));
        ConnectionEvent no = next(clients, ConnectionEvent.Type.REJECTED);
        assertThat(no.status()).isNotZero();
        assertThat(start(no.privateData(), 2)).isEqualTo("no");
        request.id().close();
      }
    }
  }

  /** A listener that another thread closes is forgotten first, then waits until this is taken. */
  @Test
  void aRequestToAListenerThatIsBeingClosedLeavesNoIdentifierBehind() throws Exception {
    assumeFalse(Variant.isDevice(), "only the provider counts identifiers");
    try (EventChannel servers = EventChannel.open();
        EventChannel clients = EventChannel.open();
        ConnectionId listener = listen(servers);
        ConnectionId client = resolved(clients, listener.localAddress().orElseThrow())) {
      Context context = client.context().orElseThrow();
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(4);
          QueuePair near = client.open(QueuePair.rc(domain).send(queue, 1).receive(queue, 1))) {
        assertThat(near.state()).isEqualTo(QueuePair.State.INIT);
        long before = Loopback.identifiers();
        client.connect(ConnectionParameters.with());
        assertThat(Loopback.identifiers()).isEqualTo(before + 1);
        Map<Long, ConnectionId> ids = identifiers(servers);
        Map<Long, ConnectionId> known = Map.copyOf(ids);
        ids.clear();
        try {
          assertThat(servers.take()).isEmpty();
        } finally {
          ids.putAll(known);
        }
        assertThat(next(clients, ConnectionEvent.Type.REJECTED).id()).isSameAs(client);
        assertThat(Loopback.identifiers()).isEqualTo(before);
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<Long, ConnectionId> identifiers(EventChannel channel) throws Exception {
    Field ids = EventChannel.class.getDeclaredField("ids");
    ids.setAccessible(true);
    return (Map<Long, ConnectionId>) ids.get(channel);
  }

  @Test
  void whereNobodyListensTheAnswerIsNo() throws Exception {
    try (EventChannel clients = EventChannel.open();
        ConnectionId client = resolved(clients, new InetSocketAddress(address(), 9))) {
      Context context = client.context().orElseThrow();
      try (ProtectionDomain domain = context.protectionDomain();
          CompletionQueue queue = context.completionQueue(4);
          QueuePair near = client.open(QueuePair.rc(domain).send(queue, 1).receive(queue, 1))) {
        assertThat(near.state()).isEqualTo(QueuePair.State.INIT);
        client.connect(ConnectionParameters.with());
        assertThat(next(clients, ConnectionEvent.Type.REJECTED).status()).isNotZero();
      }
    }
  }

  @Test
  void itsObjectsAreNotMixedWithThoseOfADeviceThatWasOpened() throws Exception {
    try (EventChannel servers = EventChannel.open();
        EventChannel clients = EventChannel.open();
        ConnectionId listener = listen(servers);
        ConnectionId client = resolved(clients, listener.localAddress().orElseThrow());
        DeviceList devices = DeviceList.open();
        Context opened = devices.first().open();
        ProtectionDomain domain = opened.protectionDomain();
        CompletionQueue queue = opened.completionQueue(4)) {
      assertThatThrownBy(() -> client.open(QueuePair.rc(domain).send(queue, 1).receive(queue, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "the protection domain is of the context "
                  + opened.name()
                  + ", not of "
                  + opened.name()
                  + " of RDMA CM");
    }
  }

  @Test
  void whatIsClosedOrWrongIsRefused() throws Exception {
    EventChannel channel = EventChannel.open();
    ConnectionId id = channel.create(PortSpace.TCP);
    assertThatThrownBy(() -> id.resolveRoute(0)).hasMessage("a time-out of 0 ms");
    assertThatThrownBy(() -> id.connect(ConnectionParameters.with(new byte[57])))
        .hasMessage("the length of the private data is 57, but must be from 0 to 56");
    assertThatThrownBy(() -> id.bind(InetSocketAddress.createUnresolved("no.such.name", 1)))
        .hasMessage("the name no.such.name is not known");
    assertThatThrownBy(id::disconnect).isInstanceOf(VerbsException.class);
    assertThat(channel.take()).isEmpty();
    id.close();
    id.close();
    assertThatThrownBy(id::localAddress).hasMessage("the identifier is closed");
    channel.close();
    channel.close();
    assertThatThrownBy(channel::take).hasMessage("the event channel is closed");
    assertThatThrownBy(() -> channel.create(PortSpace.UDP))
        .hasMessage("the event channel is closed");
  }
}
