// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** A program's proxy selector that does not know what to say: as with the JDK's own sockets. */
@Isolated
@Timeout(60)
class ProxySelectorTest {
  private ProxySelector usual;

  /** Knows nothing. */
  private static final class Clueless extends ProxySelector {
    @Override
    public List<Proxy> select(URI uri) {
      throw new IllegalArgumentException("no idea of " + uri.getScheme());
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
  }

  @BeforeEach
  void set() {
    usual = ProxySelector.getDefault();
    ProxySelector.setDefault(new Clueless());
  }

  @AfterEach
  void reset() {
    ProxySelector.setDefault(usual);
  }

  private static void expectFailure(Socket socket) throws IOException {
    try (socket;
        ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address = (InetSocketAddress) listener.getLocalSocketAddress();
      assertThatThrownBy(() -> socket.connect(address))
          .isExactlyInstanceOf(IOException.class)
          .hasMessage("Failed to select a proxy")
          .hasRootCauseMessage("no idea of socket");
    }
  }

  @Test
  void itsFailureFailsTheConnect() throws IOException {
    expectFailure(TalariaStreamSocketContractTest.ImplSocket.make());
  }

  @Test
  void itsFailureFailsTheConnectOfTheJdk() throws IOException {
    expectFailure(new Socket());
  }

  /** Connects before it answers, by a socket that takes no proxy. */
  private static final class Connecting extends ProxySelector {
    private final SocketAddress there;
    private int calls;

    Connecting(SocketAddress there) {
      this.there = there;
    }

    @Override
    public List<Proxy> select(URI uri) {
      assertThat(++calls).as("calls").isEqualTo(1);
      try (Socket own = TalariaStreamSocketContractTest.ImplSocket.make()) {
        own.connect(there);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return List.of(Proxy.NO_PROXY);
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
  }

  @Test
  void aSelectorThatConnectsByItselfIsCalledOnce() throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Socket socket = TalariaStreamSocketContractTest.ImplSocket.make()) {
      ProxySelector.setDefault(new Connecting(listener.getLocalSocketAddress()));
      socket.connect(listener.getLocalSocketAddress());
      assertThat(socket.isConnected()).isTrue();
    }
  }
}
