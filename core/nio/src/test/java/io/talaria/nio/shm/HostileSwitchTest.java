// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that says it switched where it cannot have: before what has been read already. */
@Timeout(60)
class HostileSwitchTest {
  /** More than a reader takes at once. */
  private static final int MUCH = 100_000;

  private static final int SWITCHING = 1;
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

  private static SelectorProvider provider;

  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeAll
  static void openProvider() throws IOException {
    provider = OwnProvider.open().provider();
  }

  @BeforeEach
  void connect() throws IOException {
    listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
    server.configureBlocking(false);
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
    listener.close();
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  /** Lets the server read a little of what is on TCP, then the client lie about how much it is. */
  private void lie(long switchAt) throws Exception {
    int tries = 0;
    while (!switching()) {
      assertThat(++tries).as("connections that switched too soon").isLessThan(20);
      close();
      connect();
    }
    ByteBuffer control = (ByteBuffer) field(stream(), "control");
    ConnectionLayout.setRelease(
        control, ConnectionLayout.side(0, 0) + ConnectionLayout.SWITCH_AT, switchAt + 1);
  }

  /** Whether the client has switched, and the server has bytes on TCP to read before. */
  private boolean switching() throws Exception {
    client.write(ByteBuffer.allocate(MUCH));
    ByteBuffer ten = ByteBuffer.allocate(10);
    while (ten.hasRemaining()) {
      server.read(ten);
    }
    long start = System.nanoTime();
    while (stream() == null || stream().peerSwitchAt() < 0) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.sleep(1);
    }
    return (int) field(field(field(server, "connectionPath"), "input"), "phase") == SWITCHING;
  }

  private ShmStream stream() throws ReflectiveOperationException {
    return (ShmStream) field(field(server, "connectionPath"), "stream");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, 9, Long.MIN_VALUE, -1L - (1L << 32) + 100})
  void aReaderTakesItForAReset(long switchAt) throws Exception {
    lie(switchAt);
    if (switchAt >= 0) {
      assertReset();
    } else { // as if it had not switched
      ByteBuffer more = ByteBuffer.allocate(200);
      while (more.hasRemaining()) { // the first of them may have been taken from TCP before
        assertThat(server.read(more)).isPositive();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, 9})
  void aSelectorGoesOn(long switchAt) throws Exception {
    lie(switchAt);
    try (Selector selector = provider.openSelector()) {
      server.register(selector, SelectionKey.OP_READ);
      assertThat(selector.select(10_000)).isEqualTo(1);
      assertReset();
    }
  }

  /** What was taken before is read, then comes the reset. */
  private void assertReset() {
    assertThatThrownBy(
            () -> {
              while (server.read(ByteBuffer.allocate(20_000)) >= 0) {
                // What was taken before.
              }
            })
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
  }
}
