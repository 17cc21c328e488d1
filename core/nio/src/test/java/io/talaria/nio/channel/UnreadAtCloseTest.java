// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.shm.OwnProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A close with bytes unread is a reset, also while the negotiation thread is in the channel. */
@Timeout(60)
class UnreadAtCloseTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

  private static ConnectionPath path(SocketChannel channel) {
    return ((TalariaSocketChannel) channel).connectionPath();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4, 10})
  void whileAnotherThreadIsInside(int read) throws Exception {
    SelectorProvider provider = OwnProvider.open().provider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel client = provider.openSocketChannel()) {
        client.connect(listener.getLocalAddress());
        try (SocketChannel server = listener.accept()) {
          assertThat(server.write(ByteBuffer.allocate(10))).isEqualTo(10);
          assertThat(client.read(ByteBuffer.allocate(read))).isEqualTo(read);
          long start = System.nanoTime();
          while (!path(client).switchedOut() || !path(client).input().agreed()) {
            assertThat(System.nanoTime() - start).isLessThan(DEADLINE_NS);
            LockSupport.parkNanos(1_000_000);
          }
          closeBesideAnother((TalariaSocketChannel) client);
          if (read < 10) {
            assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
                .isInstanceOf(SocketException.class)
                .hasMessage("Connection reset");
          } else {
            assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
          }
        }
      }
    }
  }

  private static void closeBesideAnother(TalariaSocketChannel channel) throws Exception {
    ReentrantLock lock = channel.readLock();
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Thread another =
        new Thread(
            () -> {
              lock.lock();
              try {
                inside.countDown();
                closed.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                lock.unlock();
                channel.finishCloseIfClosing();
              }
            });
    another.start();
    inside.await();
    channel.close();
    closed.countDown();
    another.join();
  }
}
