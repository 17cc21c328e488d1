// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.jdk.JdkNio;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A large heap buffer is not given to the JDK as a whole: each call would copy all of it. */
@Timeout(60)
class TcpOutputTest {
  private static final int TAKEN_BYTES = 100_000;

  /** Takes little at a time, as a kernel does. */
  private static final class Narrow extends SocketChannel {
    final ByteBuffer taken = ByteBuffer.allocate(8 << 20);
    int maxOffered;

    Narrow() {
      super(JdkNio.provider());
    }

    @Override
    public int write(ByteBuffer src) {
      maxOffered = Math.max(maxOffered, src.remaining());
      int n = Math.min(TAKEN_BYTES, src.remaining());
      taken.put(src.slice(src.position(), n));
      src.position(src.position() + n);
      return n;
    }

    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer dst) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public SocketChannel bind(SocketAddress local) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
      return Set.of();
    }

    @Override
    public SocketChannel shutdownInput() {
      throw new UnsupportedOperationException();
    }

    @Override
    public SocketChannel shutdownOutput() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket socket() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isConnected() {
      return true;
    }

    @Override
    public boolean isConnectionPending() {
      return false;
    }

    @Override
    public boolean connect(SocketAddress remote) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean finishConnect() {
      return true;
    }

    @Override
    public SocketAddress getRemoteAddress() {
      return null;
    }

    @Override
    public SocketAddress getLocalAddress() {
      return null;
    }

    @Override
    protected void implCloseSelectableChannel() {}

    @Override
    protected void implConfigureBlocking(boolean block) {}
  }

  @Test
  void aLargeHeapBufferIsGivenInParts() throws Exception {
    byte[] bytes = new byte[8 << 20];
    new Random(1).nextBytes(bytes);
    ByteBuffer all = ByteBuffer.wrap(bytes);
    try (Narrow channel = new Narrow()) {
      ConnectionCounters counters =
          ProcessCounters.onHeap("a test").connection(Role.CLIENT, null, null);
      TcpOutput output = new TcpOutput(channel, counters, null);
      while (all.hasRemaining()) {
        int before = all.position();
        assertThat(output.write(all)).isEqualTo(all.position() - before).isPositive();
      }
      assertThat(channel.maxOffered).isLessThanOrEqualTo(1 << 20);
      assertThat(channel.taken.array()).isEqualTo(bytes);
      assertThat(output.writtenBytes()).isEqualTo(bytes.length);
    }
  }
}
