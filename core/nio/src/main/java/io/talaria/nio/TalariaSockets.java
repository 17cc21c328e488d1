// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import io.talaria.nio.adaptor.ChannelSocketImpl;
import io.talaria.nio.adaptor.SocketChannels;
import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketImpl;
import java.net.SocketImplFactory;
import java.nio.channels.spi.SelectorProvider;

/**
 * Accelerates {@code java.net.Socket} and {@code ServerSocket} of this process too. Used by the
 * agent where {@code talaria.sockets} is set; a program may call it as well, before it makes its
 * first socket.
 */
public final class TalariaSockets {
  private static boolean installed;

  private TalariaSockets() {}

  /**
   * Puts channels of Talaria's behind all sockets that are made from now on. Without effect if that
   * has been done.
   *
   * @throws IOException if the program has already set implementations of its own
   */
  @SuppressWarnings("deprecation") // The only way; deprecated in favour of channels, which we use.
  public static synchronized void install() throws IOException {
    if (!installed) {
      Socket.setSocketImplFactory(new Factory(false));
      ServerSocket.setSocketFactory(new Factory(true));
      installed = true;
    }
  }

  private static final class Factory implements SocketImplFactory {
    private final boolean server;

    Factory(boolean server) {
      this.server = server;
    }

    @Override
    public SocketImpl createSocketImpl() {
      return Privileged.get(() -> new ChannelSocketImpl(OfProvider.INSTANCE, server));
    }
  }

  /** Found when the first socket is used, so that installing makes no provider. */
  private static final class OfProvider implements SocketChannels {
    static final OfProvider INSTANCE = new OfProvider();

    private static SocketChannels channels() throws IOException {
      if (SelectorProvider.provider() instanceof TalariaProvider provider) {
        return provider.socketChannels();
      }
      throw new IOException(
          "talaria.sockets is set, but the selector provider is "
              + SelectorProvider.provider().getClass().getName());
    }

    @Override
    public Client openClient() throws IOException {
      return channels().openClient();
    }

    @Override
    public Listener openListener() throws IOException {
      return channels().openListener();
    }
  }
}
