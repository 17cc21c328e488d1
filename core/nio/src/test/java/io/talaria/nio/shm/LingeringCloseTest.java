// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A channel that closes while its peer has bytes of TCP to read keeps its stream for a while, but
 * its selector does not hear it any more: the one doorbell of a sleep must not go there.
 */
@Timeout(60)
class LingeringCloseTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

  /** Both ends of one connection. */
  private record Ends(SocketChannel client, SocketChannel server) {
    static Ends connect(SelectorProvider provider, ServerSocketChannel listener)
        throws IOException {
      SocketChannel client = provider.openSocketChannel();
      client.connect(listener.getLocalAddress());
      return new Ends(client, listener.accept());
    }

    void pass(boolean there) throws IOException {
      ByteBuffer one = ByteBuffer.allocate(1);
      (there ? client : server).write(one);
      one.clear();
      (there ? server : client).read(one);
    }
  }

  private static boolean fast(SocketChannel channel) {
    return channel.toString().contains("ring");
  }

  @Test
  void anotherChannelOfTheSameSelectorIsStillHeard() throws Exception {
    SelectorProvider provider = OwnProvider.open().provider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel();
        Selector selector = provider.openSelector()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Ends staying = Ends.connect(provider, listener);
      long start = System.nanoTime();
      while (!fast(staying.client) || !fast(staying.server)) {
        assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
        staying.pass(true);
        staying.pass(false);
      }
      staying.pass(true);
      staying.pass(false);
      staying.client.configureBlocking(false);
      staying.client.register(selector, SelectionKey.OP_READ);

      for (int round = 0; round < 5; round++) {
        closeWithUnreadTcp(provider, listener, selector, staying);
      }
      staying.client.close();
      staying.server.close();
    }
  }

  private static void closeWithUnreadTcp(
      SelectorProvider provider, ServerSocketChannel listener, Selector selector, Ends staying)
      throws Exception {
    Ends leaving = Ends.connect(provider, listener);
    leaving.client.write(ByteBuffer.allocate(10)); // before any upgrade, so on TCP
    long start = System.nanoTime();
    while (!fast(leaving.client)) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.sleep(1);
    }
    leaving.client.configureBlocking(false);
    leaving.client.register(selector, SelectionKey.OP_READ);
    for (int i = 0; i < 200; i++) {
      selector.selectNow(); // until its watch is set
    }
    leaving.client.close();

    CompletableFuture<Integer> selected =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return selector.select();
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    Thread.sleep(50); // asleep by now, or the test proves less
    leaving.server.close();
    staying.server.write(ByteBuffer.allocate(1));
    assertThat(selected.get(10, TimeUnit.SECONDS)).isEqualTo(1);
    selector.selectedKeys().clear();
    assertThat(staying.client.read(ByteBuffer.allocate(9))).isEqualTo(1);
  }
}
