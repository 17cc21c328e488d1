// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Our adaptors, over a channel of the JDK. */
class SocketAdaptorTest extends SocketContract {
  @Override
  Socket socketOf(SocketChannel channel) {
    return SocketAdaptor.of(channel, new TimedJdkChannel(channel));
  }

  @Override
  ServerSocket socketOf(ServerSocketChannel channel) {
    return ServerSocketAdaptor.of(channel, new TimedJdkServerChannel(channel));
  }

  @Test
  void urgentDataIsNotSupportedUnlessTheChannelCanDoIt() throws Exception {
    try (SocketChannel channel = SocketChannel.open();
        Socket socket = socketOf(channel)) {
      assertThatThrownBy(() -> socket.sendUrgentData(1))
          .isInstanceOf(SocketException.class)
          .hasMessage("Urgent data not supported");
    }
  }

  /** A JDK channel with the little more that an adaptor needs, taken from the JDK's adaptor. */
  private record TimedJdkChannel(SocketChannel channel) implements TimedChannel {
    @Override
    public int read(ByteBuffer dst, long timeoutNs) throws IOException {
      if (timeoutNs == 0) {
        if (channel.isOpen() && !channel.isBlocking()) {
          throw new IllegalBlockingModeException();
        }
        return channel.read(dst);
      }
      byte[] bytes = new byte[dst.remaining()];
      channel.socket().setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(timeoutNs));
      int got = channel.socket().getInputStream().read(bytes);
      if (got > 0) {
        dst.put(bytes, 0, got);
      }
      return got;
    }

    @Override
    public void connect(SocketAddress remote, long timeoutNs) throws IOException {
      if (!channel.isOpen()) {
        throw new ClosedChannelException();
      }
      if (!channel.isBlocking()) {
        throw new IllegalBlockingModeException();
      }
      if (channel.isConnected()) {
        throw new AlreadyConnectedException();
      }
      if (timeoutNs == 0) {
        channel.connect(remote);
      } else {
        channel.socket().connect(remote, (int) TimeUnit.NANOSECONDS.toMillis(timeoutNs));
      }
    }

    @Override
    public int available() throws IOException {
      if (channel.isOpen() && channel.socket().isInputShutdown()) {
        return 0;
      }
      return channel.socket().getInputStream().available();
    }

    @Override
    public SocketAddress localAddress() {
      Socket socket = channel.socket();
      if (socket.getLocalPort() < 0) {
        return null;
      }
      return socket.getLocalSocketAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
      return channel.socket().getRemoteSocketAddress();
    }

    @Override
    public boolean isInputOpen() {
      return !channel.socket().isInputShutdown();
    }

    @Override
    public boolean isOutputOpen() {
      return !channel.socket().isOutputShutdown();
    }
  }

  private record TimedJdkServerChannel(ServerSocketChannel channel) implements TimedServerChannel {
    @Override
    public SocketChannel accept(long timeoutNs) throws IOException {
      channel.socket().setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(timeoutNs));
      return channel.socket().accept().getChannel();
    }

    @Override
    public SocketAddress localAddress() {
      return channel.socket().getLocalSocketAddress();
    }
  }
}
