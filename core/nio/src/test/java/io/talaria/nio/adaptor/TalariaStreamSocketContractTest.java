// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Role;
import io.talaria.nio.channel.Channels;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;

/** Channels of Talaria's behind both ends, on shared memory. */
class TalariaStreamSocketContractTest extends StreamSocketContract {
  private static final long LIMIT_NS = 20_000_000_000L;
  private static final SocketChannels CHANNELS =
      new Channels(SelectorProvider.provider()).socketChannels();

  /** What {@code new Socket()} gives when the factories are installed. */
  static final class ImplSocket extends Socket {
    private ImplSocket(SocketImpl behind) throws IOException {
      super(behind);
    }

    static ImplSocket make() throws IOException {
      return new ImplSocket(new ChannelSocketImpl(CHANNELS, false));
    }
  }

  private static final class ImplServerSocket extends ServerSocket {
    ImplServerSocket() {
      super(new ChannelSocketImpl(CHANNELS, true));
    }

    @Override
    public Socket accept() throws IOException {
      if (isClosed() || !isBound()) {
        return super.accept(); // which says so
      }
      Socket accepted = ImplSocket.make();
      implAccept(accepted);
      return accepted;
    }
  }

  @Override
  Socket newSocket() throws IOException {
    return ImplSocket.make();
  }

  @Override
  ServerSocket newServerSocket() {
    return new ImplServerSocket();
  }

  @Override
  void settle(Socket one, Socket other) throws Exception {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    do {
      one.getOutputStream().write(1);
      assertThat(other.getInputStream().read()).isEqualTo(1);
      other.getOutputStream().write(2);
      assertThat(one.getInputStream().read()).isEqualTo(2);
      Thread.sleep(1);
    } while (accelerated(one.getLocalPort()).size() < 2 && System.nanoTime() < deadlineNs);
    assertThat(accelerated(one.getLocalPort())).hasSize(2);
  }

  private static List<ConnectionInfo> accelerated(int clientPort) {
    return Connections.snapshot().stream()
        .filter(
            info ->
                info.transport() == NioTransport.SHM
                    && info.role() != Role.LISTENER
                    && (info.local().getPort() == clientPort
                        || info.remote().getPort() == clientPort))
        .toList();
  }
}
