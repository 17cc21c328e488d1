// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.transport.StreamOwner;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process dies with a doorbell unread, which makes its kernel reset the control connection,
 * before it has seen that the peer's output had switched: whether that is a reset to the peer's
 * program is decided by what was read of the program's bytes.
 */
@Timeout(60)
class KilledAfterReadingTest {
  private static final int SENT = 100;
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

  /** Sends the client some bytes, of which it takes so many, then a doorbell, and kills it. */
  private void killAfterTaking(int bytes) throws Exception {
    server.write(ByteBuffer.allocate(SENT));
    for (ByteBuffer taken = ByteBuffer.allocate(bytes); taken.hasRemaining(); ) {
      client.read(taken);
    }
    StreamOwner connectionPath = (StreamOwner) field(server, "connectionPath");
    long start = System.nanoTime();
    while (field(connectionPath, "transportOutput") == null) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.sleep(1);
    }
    assertThat(connectionPath.ring()).isTrue();
    ((SocketChannel) field(client, "control")).close();
  }

  @Test
  void thatHadReadEverythingIsTheEndOfTheStream() throws Exception {
    killAfterTaking(SENT);
    assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @Test
  void thatHadNotReadEverythingIsReset() throws Exception {
    killAfterTaking(SENT / 2);
    assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset");
  }
}
