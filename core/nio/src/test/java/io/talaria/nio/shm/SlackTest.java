// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Programs that write on both sides before they read, as the buffers of TCP let them, on more
 * connections than slabs have rings.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class SlackTest {
  private static final int CONNECTIONS = 40;
  private static final int MUCH = 64 << 10;
  private static final long DEADLINE_S = 60;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  /** Has all bytes of the one before the first is taken by the other. */
  private static Void writeThenRead(SocketChannel channel, int seed, CountDownLatch written)
      throws IOException, InterruptedException {
    ByteBuffer much = ByteBuffer.allocate(MUCH);
    Pattern.fill(much, seed, 16);
    while (much.hasRemaining()) {
      channel.write(much);
    }
    written.countDown();
    written.await();
    ByteBuffer got = ByteBuffer.allocate(MUCH);
    while (got.hasRemaining()) {
      assertThat(channel.read(got)).isPositive();
    }
    Pattern.check(got, 0, MUCH, ~seed, 16);
    return null;
  }

  private static void echo(SocketChannel from, SocketChannel to) throws IOException {
    for (SocketChannel[] way : new SocketChannel[][] {{from, to}, {to, from}}) {
      way[0].write(ByteBuffer.allocate(16));
      ByteBuffer got = ByteBuffer.allocate(16);
      while (got.hasRemaining()) {
        way[1].read(got);
      }
    }
  }

  @Test
  void bothSidesWriteSixtyFourKibBeforeTheyRead() throws Exception {
    SelectorProvider provider = OwnProvider.open().provider();
    List<SocketChannel> channels = new ArrayList<>();
    try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      for (int i = 0; i < CONNECTIONS; i++) {
        SocketChannel client = provider.openSocketChannel();
        client.connect(listener.getLocalAddress());
        channels.add(client);
        channels.add(listener.accept());
      }
      for (int i = 0; i < channels.size(); i += 2) {
        while (!channels.get(i).toString().contains("ring")
            || !channels.get(i + 1).toString().contains("ring")) {
          echo(channels.get(i), channels.get(i + 1));
        }
      }
      CountDownLatch written = new CountDownLatch(channels.size());
      List<Future<?>> working = new ArrayList<>();
      for (int i = 0; i < channels.size(); i++) {
        SocketChannel channel = channels.get(i);
        int seed = i % 2 == 0 ? i : ~(i - 1);
        working.add(threads.submit(() -> writeThenRead(channel, seed, written)));
      }
      for (Future<?> work : working) {
        work.get(DEADLINE_S, TimeUnit.SECONDS);
      }
    } finally {
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }
}
