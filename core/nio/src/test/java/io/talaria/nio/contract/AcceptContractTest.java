// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Listeners: binding and accepting. */
class AcceptContractTest extends Contract {
  private static final SocketAddress ANY_PORT = new InetSocketAddress(Pair.LOOPBACK, 0);

  AcceptContractTest(Variant variant) {
    super(variant);
  }

  private SocketChannel connected(ServerSocketChannel listener) throws Exception {
    SocketChannel client = client();
    client.connect(listener.getLocalAddress());
    return client;
  }

  @Test
  void aFreshListenerIsOpenBlockingAndNotBound() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThat(listener.isOpen()).isTrue();
    assertThat(listener.isBlocking()).isTrue();
    assertThat(listener.isRegistered()).isFalse();
    assertThat(listener.getLocalAddress()).isNull();
  }

  @Test
  void aListenerKnowsItsProviderAndItsOperation() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThat(listener.provider()).isSameAs(variant.server());
    assertThat(listener.validOps()).isEqualTo(SelectionKey.OP_ACCEPT);
  }

  @Test
  void acceptingNeedsABoundListener() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
    listener.configureBlocking(false);
    assertThatThrownBy(listener::accept).isInstanceOf(NotYetBoundException.class);
  }

  @Test
  void bindGivesTheListenerBackAndAPort() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThat(listener.bind(ANY_PORT)).isSameAs(listener);
    InetSocketAddress local = (InetSocketAddress) listener.getLocalAddress();
    assertThat(local.getAddress()).isEqualTo(Pair.LOOPBACK);
    assertThat(local.getPort()).isPositive();
  }

  @Test
  void bindingToNothingTakesAnEphemeralPortOfAllAddresses() throws Exception {
    ServerSocketChannel listener = unbound();
    listener.bind(null);
    InetSocketAddress local = (InetSocketAddress) listener.getLocalAddress();
    assertThat(local.getAddress().isAnyLocalAddress()).isTrue();
    assertThat(local.getPort()).isPositive();
    SocketChannel client = client();
    client.connect(new InetSocketAddress(Pair.LOOPBACK, local.getPort()));
    SocketChannel server = opened(listener.accept());
    client.write(bytes(9, 1));
    assertThat(readFully(server, 9)).isEqualTo(bytes(9, 1));
  }

  @Test
  void anOddBacklogIsTakenAsTheDefault() throws Exception {
    for (int backlog : new int[] {0, -1}) {
      ServerSocketChannel listener = unbound();
      listener.bind(ANY_PORT, backlog);
      connected(listener);
      assertThat(opened(listener.accept()).isConnected()).isTrue();
    }
  }

  @Test
  void bindingTwiceIsRefused() throws Exception {
    ServerSocketChannel listener = listener();
    assertThatThrownBy(() -> listener.bind(ANY_PORT)).isInstanceOf(AlreadyBoundException.class);
  }

  @Test
  void bindingAClosedListenerIsRefused() throws Exception {
    ServerSocketChannel listener = unbound();
    listener.close();
    assertThatThrownBy(() -> listener.bind(ANY_PORT)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void bindingToABadAddressIsRefused() throws Exception {
    ServerSocketChannel listener = unbound();
    assertThatThrownBy(
            () -> listener.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
        .isInstanceOf(UnresolvedAddressException.class);
    assertThatThrownBy(() -> listener.bind(UnixDomainSocketAddress.of("nowhere")))
        .isInstanceOf(UnsupportedAddressTypeException.class);
    assertThat(listener.getLocalAddress()).isNull();
    listener.bind(ANY_PORT);
  }

  @Test
  void bindingToAPortInUseFails() throws Exception {
    ServerSocketChannel listener = unbound();
    SocketAddress taken = listener().getLocalAddress();
    assertThatThrownBy(() -> listener.bind(taken))
        .isInstanceOf(BindException.class)
        .hasMessage("Address already in use");
    assertThat(listener.isOpen()).isTrue();
  }

  @Test
  void aPortIsFreeAgainAfterClose() throws Exception {
    ServerSocketChannel first = listener();
    SocketAddress address = first.getLocalAddress();
    SocketChannel client = connected(first);
    SocketChannel server = opened(first.accept());
    first.close();
    ServerSocketChannel second = unbound();
    second.bind(address);
    SocketChannel other = connected(second);
    SocketChannel otherServer = opened(second.accept());
    other.write(bytes(4, 1));
    assertThat(readFully(otherServer, 4)).isEqualTo(bytes(4, 1));
    client.write(bytes(4, 2));
    assertThat(readFully(server, 4)).isEqualTo(bytes(4, 2));
  }

  @Test
  void aNonBlockingAcceptOfNothingIsNull() throws Exception {
    ServerSocketChannel listener = listener();
    listener.configureBlocking(false);
    assertThat(listener.accept()).isNull();
    connected(listener);
    Await.until("a connection", () -> opened(listener.accept()) != null);
  }

  @Test
  void anAcceptedChannelIsConnectedBlockingAndOfTheListenersProvider() throws Exception {
    ServerSocketChannel listener = listener();
    connected(listener);
    SocketChannel server = opened(listener.accept());
    assertThat(server.isConnected()).isTrue();
    assertThat(server.isBlocking()).isTrue();
    assertThat(server.isRegistered()).isFalse();
    assertThat(server.isConnectionPending()).isFalse();
    assertThat(server.provider()).isSameAs(variant.server());
  }

  @Test
  void aNonBlockingListenerAcceptsBlockingChannels() throws Exception {
    ServerSocketChannel listener = listener();
    listener.configureBlocking(false);
    connected(listener);
    SocketChannel[] server = {null};
    Await.until("a connection", () -> (server[0] = listener.accept()) != null);
    assertThat(opened(server[0]).isBlocking()).isTrue();
  }

  @Test
  void connectionsAreAcceptedInTheirOrder() throws Exception {
    ServerSocketChannel listener = listener();
    List<SocketChannel> clients = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      clients.add(connected(listener));
    }
    for (SocketChannel client : clients) {
      assertThat(opened(listener.accept()).getRemoteAddress()).isEqualTo(client.getLocalAddress());
    }
  }

  @Test
  void aBlockingAcceptWaitsForAConnection() throws Exception {
    ServerSocketChannel listener = listener();
    Doing<SocketChannel> accept = Doing.start(listener::accept).whenWaiting();
    SocketChannel client = connected(listener);
    assertThat(opened(accept.result()).getRemoteAddress()).isEqualTo(client.getLocalAddress());
  }

  @Test
  void manyThreadsThatAcceptGetOneConnectionEach() throws Exception {
    ServerSocketChannel listener = listener();
    List<Doing<SocketChannel>> accepts = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      accepts.add(Doing.start(listener::accept));
    }
    List<SocketAddress> wanted = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      wanted.add(connected(listener).getLocalAddress());
    }
    List<SocketAddress> got = new ArrayList<>();
    for (Doing<SocketChannel> accept : accepts) {
      got.add(opened(accept.result()).getRemoteAddress());
    }
    assertThat(got).containsExactlyInAnyOrderElementsOf(wanted);
  }

  @Test
  void aClosedListenerRefusesAcceptAndItsAddress() throws Exception {
    ServerSocketChannel listener = listener();
    listener.close();
    listener.close();
    assertThat(listener.isOpen()).isFalse();
    // JDK 17 throws the AsynchronousCloseException among them, JDK 25 the plain one.
    assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(listener::getLocalAddress).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aClosedListenerRefusesConnects() throws Exception {
    ServerSocketChannel listener = listener();
    SocketAddress address = listener.getLocalAddress();
    listener.close();
    SocketChannel client = client();
    assertThatThrownBy(() -> client.connect(address)).isInstanceOf(ConnectException.class);
  }

  @Test
  void closingAListenerLeavesAcceptedConnectionsAlone() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel client = connected(listener);
    SocketChannel server = opened(listener.accept());
    listener.close();
    client.write(bytes(100, 1));
    assertThat(readFully(server, 100)).isEqualTo(bytes(100, 1));
    server.write(bytes(100, 2));
    assertThat(readFully(client, 100)).isEqualTo(bytes(100, 2));
  }

  @Test
  void closingAListenerResetsWhatItHasNotAccepted() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel client = connected(listener);
    listener.close();
    assertThatThrownBy(() -> read(client))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aConnectionThatWasResetInTheBacklogIsAcceptedAllTheSame() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel client = connected(listener);
    client.setOption(java.net.StandardSocketOptions.SO_LINGER, 0);
    client.close();
    connected(listener);
    // Linux hands out the dead one too; what it is worth shows at the first read.
    SocketChannel server = opened(listener.accept());
    assertThat(server.isOpen()).isTrue();
  }

  @Test
  void configuringTheModeOfAClosedListenerIsRefused() throws Exception {
    ServerSocketChannel listener = listener();
    listener.close();
    assertThatThrownBy(() -> listener.configureBlocking(false))
        .isInstanceOf(ClosedChannelException.class);
  }
}
