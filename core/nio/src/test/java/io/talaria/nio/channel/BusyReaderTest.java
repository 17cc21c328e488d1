// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.shm.OwnProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A selector looks at a channel while somebody else is inside a read of it, who has looked before
 * the peer switched to the transport: the selector must not sleep over the bytes there.
 */
@Timeout(90)
class BusyReaderTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int INSIDE_MS = 300;

  @Test
  void aSelectorMissesNothing() throws Exception {
    SelectorProvider provider = OwnProvider.open().provider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel();
        SocketChannel client = provider.openSocketChannel();
        Selector selector = provider.openSelector()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        client.configureBlocking(false);
        client.register(selector, SelectionKey.OP_READ);
        awaitSwitchedOut(client);
        awaitSwitchedOut(server);
        server.write(ByteBuffer.allocate(1)); // into the transport, which the client has yet to see

        FutureTask<Integer> select = new FutureTask<>(() -> selector.select(10_000));
        Thread selecting = new Thread(select, "selecting");
        ((TalariaSocketChannel) client).readLock().lock(); // as a read on another thread does
        try {
          selecting.start();
          Thread.sleep(INSIDE_MS);
        } finally {
          ((TalariaSocketChannel) client).readLock().unlock();
        }
        assertThat(select.get()).isEqualTo(1);
      }
    }
  }

  private static void awaitSwitchedOut(SocketChannel channel) throws InterruptedException {
    ConnectionPath connectionPath = ((TalariaSocketChannel) channel).connectionPath();
    long start = System.nanoTime();
    while (!connectionPath.switchedOut()) {
      assertThat(System.nanoTime() - start).as("%s, not switched", channel).isLessThan(DEADLINE_NS);
      Thread.sleep(1);
    }
  }
}
