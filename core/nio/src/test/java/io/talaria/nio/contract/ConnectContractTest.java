// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Binding, connecting and addresses of socket channels. */
class ConnectContractTest extends Contract {
  private static final InetSocketAddress UNRESOLVED =
      InetSocketAddress.createUnresolved("nowhere.invalid", 1);
  private static final SocketAddress UNSUPPORTED = UnixDomainSocketAddress.of("nowhere");
  private static final SocketAddress ANY_PORT = new InetSocketAddress(Pair.LOOPBACK, 0);

  ConnectContractTest(Variant variant) {
    super(variant);
  }

  private SocketChannel pending() throws Exception {
    SocketChannel channel = client();
    channel.configureBlocking(false);
    assertThat(channel.connect(silent())).isFalse();
    return channel;
  }

  @Test
  void aFreshChannelIsOpenBlockingAndNotConnected() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.isOpen()).isTrue();
    assertThat(channel.isBlocking()).isTrue();
    assertThat(channel.isRegistered()).isFalse();
    assertThat(channel.isConnected()).isFalse();
    assertThat(channel.isConnectionPending()).isFalse();
  }

  @Test
  void aChannelKnowsItsProviderAndItsOperations() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.provider()).isSameAs(variant.client());
    assertThat(channel.validOps())
        .isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT);
  }

  @Test
  void aFreshChannelHasNoAddresses() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.getLocalAddress()).isNull();
    assertThat(channel.getRemoteAddress()).isNull();
  }

  @Test
  void aBlockingConnectConnects() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.connect(listener().getLocalAddress())).isTrue();
    assertThat(channel.isConnected()).isTrue();
    assertThat(channel.isConnectionPending()).isFalse();
    assertThat(channel.isBlocking()).isTrue();
  }

  @Test
  void bothEndsKnowBothAddresses() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.getLocalAddress()).isEqualTo(pair.server.getRemoteAddress());
    assertThat(pair.client.getRemoteAddress()).isEqualTo(pair.server.getLocalAddress());
  }

  @Test
  void addressesOfAClosedChannelAreRefused() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(pair.client::getLocalAddress).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(pair.client::getRemoteAddress).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aClosedChannelIsNeitherConnectedNorPending() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(pair.client.isOpen()).isFalse();
    assertThat(pair.client.isConnected()).isFalse();
    assertThat(pair.client.isConnectionPending()).isFalse();
  }

  @Test
  void aBlockingConnectToNobodyIsRefusedAndClosesTheChannel() throws Exception {
    SocketChannel channel = client();
    SocketAddress nobody = nobody();
    assertThatThrownBy(() -> channel.connect(nobody))
        .isExactlyInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
    assertThat(channel.isOpen()).isFalse();
    assertThatThrownBy(() -> channel.connect(nobody)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aNonBlockingConnectToNobodyFailsInConnectOrFinishConnect() throws Exception {
    SocketChannel channel = client();
    SocketAddress nobody = nobody();
    channel.configureBlocking(false);
    assertThatThrownBy(
            () -> {
              channel.connect(nobody);
              Await.until("the refusal", channel::finishConnect);
            })
        .isExactlyInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
    assertThat(channel.isOpen()).isFalse();
    assertThat(channel.isConnectionPending()).isFalse();
  }

  @Test
  void aNonBlockingConnectIsFinishedByFinishConnect() throws Exception {
    SocketChannel channel = client();
    ServerSocketChannel listener = listener();
    channel.configureBlocking(false);
    channel.connect(listener.getLocalAddress());
    Await.until("connected", channel::finishConnect);
    assertThat(channel.isConnected()).isTrue();
    assertThat(channel.isConnectionPending()).isFalse();
    assertThat(channel.isBlocking()).isFalse();
    SocketChannel server = opened(listener.accept());
    channel.write(bytes(10, 1));
    assertThat(readFully(server, 10)).isEqualTo(bytes(10, 1));
  }

  @Test
  void aPendingConnectCanBeFinishedInBlockingMode() throws Exception {
    SocketChannel channel = client();
    ServerSocketChannel listener = listener();
    channel.configureBlocking(false);
    channel.connect(listener.getLocalAddress());
    channel.configureBlocking(true);
    assertThat(channel.finishConnect()).isTrue();
    assertThat(channel.isConnected()).isTrue();
    SocketChannel server = opened(listener.accept());
    server.write(bytes(10, 1));
    assertThat(readFully(channel, 10)).isEqualTo(bytes(10, 1));
  }

  @Test
  void finishConnectOfAPendingConnectionIsFalse() throws Exception {
    SocketChannel channel = pending();
    assertThat(channel.finishConnect()).isFalse();
    assertThat(channel.isConnectionPending()).isTrue();
    assertThat(channel.isConnected()).isFalse();
    assertThat(channel.toString()).contains("connection-pending").contains(" remote=/");
  }

  @Test
  void finishConnectWithoutConnectIsRefused() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void finishConnectOfAConnectedChannelIsTrue() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.finishConnect()).isTrue();
    assertThat(pair.server.finishConnect()).isTrue();
  }

  @Test
  void finishConnectOfAClosedChannelIsRefused() throws Exception {
    SocketChannel fresh = client();
    fresh.close();
    assertThatThrownBy(fresh::finishConnect).isInstanceOf(ClosedChannelException.class);
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(pair.client::finishConnect).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void connectingTwiceIsRefused() throws Exception {
    Pair pair = pair();
    SocketAddress to = pair.client.getRemoteAddress();
    assertThatThrownBy(() -> pair.client.connect(to)).isInstanceOf(AlreadyConnectedException.class);
    assertThatThrownBy(() -> pair.server.connect(to)).isInstanceOf(AlreadyConnectedException.class);
    assertThat(pair.client.isConnected()).isTrue();
  }

  @Test
  void connectingWhileAConnectIsPendingIsRefused() throws Exception {
    SocketChannel channel = pending();
    SocketAddress to = listener().getLocalAddress();
    assertThatThrownBy(() -> channel.connect(to)).isInstanceOf(ConnectionPendingException.class);
    assertThat(channel.isConnectionPending()).isTrue();
  }

  @Test
  void connectingAClosedChannelIsRefused() throws Exception {
    SocketChannel channel = client();
    channel.close();
    SocketAddress to = listener().getLocalAddress();
    assertThatThrownBy(() -> channel.connect(to)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void anUnresolvedAddressIsRefusedAndLeavesTheChannelOpen() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(() -> channel.connect(UNRESOLVED))
        .isInstanceOf(UnresolvedAddressException.class);
    assertThat(channel.isOpen()).isTrue();
    assertThat(channel.isConnectionPending()).isFalse();
    assertThat(channel.connect(listener().getLocalAddress())).isTrue();
  }

  @Test
  void anUnsupportedAddressIsRefusedAndLeavesTheChannelOpen() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(() -> channel.connect(UNSUPPORTED))
        .isInstanceOf(UnsupportedAddressTypeException.class);
    assertThat(channel.isOpen()).isTrue();
    assertThat(channel.connect(listener().getLocalAddress())).isTrue();
  }

  @Test
  void noAddressIsRefused() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(() -> channel.connect(null)).isInstanceOf(NullPointerException.class);
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void aBadAddressIsRefusedBeforeTheState() throws Exception {
    SocketChannel closed = client();
    closed.close();
    Pair pair = pair();
    for (SocketChannel channel : new SocketChannel[] {closed, pair.client, pair.server}) {
      assertThatThrownBy(() -> channel.connect(UNRESOLVED))
          .isInstanceOf(UnresolvedAddressException.class);
      assertThatThrownBy(() -> channel.connect(UNSUPPORTED))
          .isInstanceOf(UnsupportedAddressTypeException.class);
      assertThatThrownBy(() -> channel.connect(null)).isInstanceOf(NullPointerException.class);
    }
    assertThat(pair.client.isConnected()).isTrue();
  }

  @Test
  void aSocketRefusesAnUnsupportedAddressBeforeItLooksAtTheState() throws Exception {
    SocketChannel closed = client();
    closed.close();
    SocketChannel nonBlocking = client();
    nonBlocking.configureBlocking(false);
    for (SocketChannel channel : new SocketChannel[] {closed, pair().client, nonBlocking}) {
      assertThatThrownBy(() -> channel.socket().connect(UNSUPPORTED))
          .isInstanceOf(SocketException.class)
          .hasMessage("Unsupported address type");
    }
  }

  @Test
  void connectingToTheWildcardReachesThisHost() throws Exception {
    ServerSocketChannel listener = unbound();
    listener.bind(new InetSocketAddress(0));
    SocketChannel channel = client();
    assertThat(channel.connect(new InetSocketAddress(port(listener.getLocalAddress())))).isTrue();
    SocketChannel server = opened(listener.accept());
    server.write(bytes(3, 1));
    assertThat(readFully(channel, 3)).isEqualTo(bytes(3, 1));
    assertThat(port(channel.getRemoteAddress())).isEqualTo(port(listener.getLocalAddress()));
  }

  @Test
  void theLoopbackOfVersionSixWorks() throws Exception {
    ServerSocketChannel listener = unbound();
    try {
      listener.bind(new InetSocketAddress(InetAddress.getByName("::1"), 0));
    } catch (IOException | RuntimeException e) {
      Assumptions.abort("no IPv6 here: " + e);
    }
    SocketChannel channel = client();
    assertThat(channel.connect(listener.getLocalAddress())).isTrue();
    SocketChannel server = opened(listener.accept());
    assertThat(server.getRemoteAddress()).isEqualTo(channel.getLocalAddress());
    channel.write(bytes(30, 1));
    assertThat(readFully(server, 30)).isEqualTo(bytes(30, 1));
  }

  @Test
  void aBoundChannelConnectsFromItsAddress() throws Exception {
    SocketChannel channel = client();
    assertThat(channel.bind(ANY_PORT)).isSameAs(channel);
    SocketAddress local = channel.getLocalAddress();
    assertThat(port(local)).isPositive();
    ServerSocketChannel listener = listener();
    channel.connect(listener.getLocalAddress());
    assertThat(channel.getLocalAddress()).isEqualTo(local);
    assertThat(opened(listener.accept()).getRemoteAddress()).isEqualTo(local);
  }

  @Test
  void bindingToNothingTakesAnEphemeralPort() throws Exception {
    SocketChannel channel = client();
    channel.bind(null);
    InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
    assertThat(local.getPort()).isPositive();
    assertThat(local.getAddress().isAnyLocalAddress()).isTrue();
  }

  @Test
  void aChannelBoundToTheWildcardLearnsItsAddressByConnecting() throws Exception {
    SocketChannel channel = client();
    channel.bind(null);
    int local = port(channel.getLocalAddress());
    channel.connect(listener().getLocalAddress());
    assertThat(channel.getLocalAddress()).isEqualTo(new InetSocketAddress(Pair.LOOPBACK, local));
  }

  @Test
  void bindingTwiceIsRefused() throws Exception {
    SocketChannel channel = client();
    channel.bind(ANY_PORT);
    assertThatThrownBy(() -> channel.bind(ANY_PORT)).isInstanceOf(AlreadyBoundException.class);
  }

  @Test
  void bindingAConnectedChannelIsRefused() throws Exception {
    Pair pair = pair();
    assertThatThrownBy(() -> pair.client.bind(ANY_PORT)).isInstanceOf(AlreadyBoundException.class);
    assertThatThrownBy(() -> pair.server.bind(ANY_PORT)).isInstanceOf(AlreadyBoundException.class);
  }

  @Test
  void bindingWhileAConnectIsPendingIsRefused() throws Exception {
    SocketChannel channel = pending();
    assertThatThrownBy(() -> channel.bind(ANY_PORT)).isInstanceOf(ConnectionPendingException.class);
  }

  @Test
  void bindingAClosedChannelIsRefused() throws Exception {
    SocketChannel channel = client();
    channel.close();
    assertThatThrownBy(() -> channel.bind(ANY_PORT)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void bindingAConnectedChannelThatIsClosedIsRefused() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    pair.client.register(selectorFor(pair.client), SelectionKey.OP_READ);
    pair.client.close(); // which ends when the selector has removed the key
    assertThatThrownBy(() -> pair.client.bind(ANY_PORT)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void bindingToABadAddressIsRefused() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(() -> channel.bind(UNRESOLVED))
        .isInstanceOf(UnresolvedAddressException.class);
    assertThatThrownBy(() -> channel.bind(UNSUPPORTED))
        .isInstanceOf(UnsupportedAddressTypeException.class);
    assertThat(channel.getLocalAddress()).isNull();
  }

  @Test
  void bindingToAPortInUseFails() throws Exception {
    SocketChannel channel = client();
    SocketAddress taken = listener().getLocalAddress();
    assertThatThrownBy(() -> channel.bind(taken))
        .isInstanceOf(BindException.class)
        .hasMessage("Address already in use");
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void aPendingConnectionKnowsWhereItGoes() throws Exception {
    SocketAddress silent = silent();
    SocketChannel channel = client();
    channel.configureBlocking(false);
    channel.connect(silent);
    assertThat(channel.getLocalAddress()).isNull();
    assertThat(channel.getRemoteAddress()).isEqualTo(silent);
    assertThat(channel.isConnected()).isFalse();
  }

  @Test
  void readingAndWritingNeedAConnection() throws Exception {
    SocketChannel channel = client();
    ByteBuffer one = ByteBuffer.allocate(1);
    ByteBuffer[] ones = {one};
    assertThatThrownBy(() -> channel.read(one)).isInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(() -> channel.write(one)).isInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(() -> channel.read(ones)).isInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(() -> channel.write(ones)).isInstanceOf(NotYetConnectedException.class);
  }

  @Test
  void readingAndWritingWhileAConnectIsPendingAreRefused() throws Exception {
    SocketChannel channel = pending();
    ByteBuffer one = ByteBuffer.allocate(1);
    assertThatThrownBy(() -> channel.read(one)).isInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(() -> channel.write(one)).isInstanceOf(NotYetConnectedException.class);
  }

  @Test
  void shuttingDownNeedsAConnection() throws Exception {
    SocketChannel channel = client();
    assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
    assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
    channel.close();
    assertThatThrownBy(channel::shutdownInput).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(channel::shutdownOutput).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void closingEndsAPendingConnect() throws Exception {
    SocketChannel channel = pending();
    channel.close();
    assertThat(channel.isConnectionPending()).isFalse();
    assertThatThrownBy(channel::finishConnect).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void whatWasWrittenBeforeTheAcceptIsThereAfterIt() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel channel = client();
    channel.connect(listener.getLocalAddress());
    assertThat(channel.write(bytes(5000, 1))).isEqualTo(5000);
    SocketChannel server = opened(listener.accept());
    assertThat(readFully(server, 5000)).isEqualTo(bytes(5000, 1));
  }

  @Test
  void aConnectionIsThereBeforeItIsAccepted() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel channel = client();
    channel.connect(listener.getLocalAddress());
    channel.configureBlocking(false);
    assertThat(read(channel)).isZero();
    channel.close();
    SocketChannel server = opened(listener.accept());
    assertThat(read(server)).isEqualTo(-1);
  }

  @Test
  void closingTwiceIsClosingOnce() throws Exception {
    Pair pair = pair();
    pair.client.close();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    SocketChannel fresh = client();
    fresh.close();
    fresh.close();
  }

  @Test
  void badAddressesAreRefusedBeforeTheStateIsLookedAt() throws Exception {
    SocketChannel closed = client();
    closed.close();
    for (SocketChannel channel : List.of(closed, pair().client, client())) {
      assertThatThrownBy(() -> channel.connect(null)).isInstanceOf(NullPointerException.class);
      assertThatThrownBy(
              () -> channel.connect(InetSocketAddress.createUnresolved("no.such.host", 1)))
          .isInstanceOf(UnresolvedAddressException.class);
      assertThatThrownBy(() -> channel.connect(new SocketAddress() {}))
          .isInstanceOf(UnsupportedAddressTypeException.class);
    }
  }

  @Test
  void theSocketOfAClosedChannelSaysThatItWasClosed() throws Exception {
    SocketChannel channel = client();
    channel.close();
    SocketAddress address = listener().getLocalAddress();
    assertThatThrownBy(() -> channel.socket().connect(address))
        .isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThatThrownBy(() -> channel.socket().connect(address, 1000))
        .isExactlyInstanceOf(AsynchronousCloseException.class);
  }
}
