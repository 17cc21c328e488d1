// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.TalariaProvider;
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
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that says it switched where it cannot have: before what has been read already. */
@Timeout(60)
class HostileSwitchTest {
  private static SelectorProvider provider;

  @TempDir static Path dir;

  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;

  @BeforeEach
  void connect() throws IOException {
    if (provider == null) {
      provider = talaria();
    }
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

  private static SelectorProvider talaria() {
    System.setProperty("talaria.dir", dir.resolve("run").toString());
    System.setProperty("talaria.shm.dir", dir.resolve("shm").toString());
    try {
      return new TalariaProvider();
    } finally {
      System.clearProperty("talaria.dir");
      System.clearProperty("talaria.shm.dir");
    }
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  /** Has the server read ten bytes from TCP, then the client lie about how many it wrote. */
  private void lie(long switchAt) throws Exception {
    client.write(ByteBuffer.allocate(10));
    ByteBuffer ten = ByteBuffer.allocate(10);
    while (ten.hasRemaining()) {
      server.read(ten);
    }
    client.write(ByteBuffer.allocate(90));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    Object lane = field(server, "lane");
    ShmStream stream = (ShmStream) field(lane, "stream");
    while (stream == null || stream.peerSwitchAt() < 0) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.sleep(1);
      stream = (ShmStream) field(lane, "stream");
    }
    ByteBuffer control = (ByteBuffer) field(stream, "control");
    ConnectionLayout.set(
        control, ConnectionLayout.side(0) + ConnectionLayout.SWITCH_AT, switchAt + 1);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, 9, Long.MIN_VALUE, -1L - (1L << 32) + 100})
  void aReaderTakesItForAReset(long switchAt) throws Exception {
    lie(switchAt);
    ByteBuffer into = ByteBuffer.allocate(200);
    if (switchAt >= 0) {
      assertThatThrownBy(() -> server.read(into))
          .isInstanceOf(IOException.class)
          .hasMessage("Connection reset");
    } else {
      assertThat(server.read(into)).isBetween(-1, 200);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5, 9})
  void aSelectorGoesOn(long switchAt) throws Exception {
    lie(switchAt);
    try (Selector selector = provider.openSelector()) {
      server.register(selector, SelectionKey.OP_READ);
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThatThrownBy(() -> server.read(ByteBuffer.allocate(200)))
          .isInstanceOf(IOException.class)
          .hasMessage("Connection reset");
    }
  }
}
