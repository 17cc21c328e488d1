// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.shm.HostileConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** A peer that does one thing without end: what it takes from others, and from the process. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class StubbornPeerTest {
  private static final int SELECT_MS = 20_000;
  private static final long MUCH = 256L << 20;
  private static final int MANY_DOORBELLS = 1 << 20;
  private static final long STALLED_NS = TimeUnit.SECONDS.toNanos(2);
  private static final int CHUNK = 64 << 10;

  @TempDir Path dir;

  private final AtomicBoolean over = new AtomicBoolean();
  private Thread enemy;
  private Variant variant;
  private Foe foe;
  private SocketChannel victim;

  @BeforeEach
  void open() throws Exception {
    variant = new Variant(dir, 1);
    foe = variant.foe(true);
    foe.answerMs = 20_000;
    victim = foe.meet(new Random(1));
    foe.shared.agree();
  }

  @AfterEach
  void close() throws Exception {
    over.set(true);
    foe.close();
    if (enemy != null) {
      enemy.join();
    }
    victim.close();
    variant.close();
  }

  /** Work that the peer does again and again. */
  @FunctionalInterface
  private interface Doing {
    void once() throws IOException;
  }

  private void withoutEnd(Doing doing) {
    enemy =
        new Thread(
            () -> {
              try {
                while (!over.get()) {
                  doing.once();
                }
              } catch (IOException e) {
                // The victim has closed.
              }
            },
            "enemy");
    enemy.setDaemon(true);
    enemy.start();
  }

  private static ByteBuffer tagged() {
    ByteBuffer bytes = ByteBuffer.allocateDirect(CHUNK);
    for (int i = 0; i < CHUNK; i++) {
      bytes.put(i, (byte) (0x80 | i));
    }
    return bytes;
  }

  /** What only the JDK's selector sees is seen all the same. */
  @Test
  void hintsHideNoOtherChannel() throws Exception {
    try (Selector selector = variant.provider().openSelector();
        ServerSocketChannel other = variant.provider().openServerSocketChannel()) {
      victim.configureBlocking(false);
      victim.register(selector, SelectionKey.OP_READ);
      selector.select(10);
      foe.shared.switchOut(0);
      other.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      other.configureBlocking(false);
      other.register(selector, SelectionKey.OP_ACCEPT);
      withoutEnd(foe.memory::hintAll);
      for (int i = 0; i < 20; i++) {
        selector.selectedKeys().clear();
        try (Socket caller =
            new Socket(InetAddress.getLoopbackAddress(), other.socket().getLocalPort())) {
          assertThat(selector.select(SELECT_MS)).as("ready, with " + caller).isEqualTo(1);
          other.accept().close();
        }
      }
    }
  }

  /** However many there are, others have their turn. */
  @Test
  void doorbellsAreReadInPieces() throws Exception {
    foe.shared.switchOut(0);
    variant.register(victim, SelectionKey.OP_READ, key -> {});
    variant.check();
    long before = wakeupsReceived();
    ByteBuffer doorbells = tagged();
    long rung = 0;
    int n;
    do {
      n = foe.wire.write(doorbells.clear());
      rung += n;
    } while (n > 0 && rung < MANY_DOORBELLS);
    assertThat(rung).isGreaterThan(MANY_DOORBELLS / 2);
    for (int i = 0; wakeupsReceived() == before; i++) {
      assertThat(i).as("selects").isLessThan(100_000);
      variant.pump(0);
    }
    assertThat(wakeupsReceived() - before).as("reads in one select").isLessThanOrEqualTo(4096);
  }

  private long wakeupsReceived() throws IOException {
    SocketAddress local = foe.wire.getLocalAddress();
    return Connections.snapshot().stream()
        .filter(connection -> local.equals(connection.remote()))
        .mapToLong(ConnectionInfo::wakeupsReceived)
        .sum();
  }

  @Test
  void doorbellsHoldNoSelector() throws Exception {
    foe.shared.switchOut(0);
    variant.register(victim, SelectionKey.OP_READ, key -> {});
    variant.check();
    foe.wire.configureBlocking(true);
    ByteBuffer doorbells = tagged();
    withoutEnd(() -> foe.wire.write(doorbells.clear()));
    for (int i = 0; i < 20; i++) {
      variant.check();
    }
    victim.close();
    variant.check();
  }

  /** Sends on TCP, where it should have switched, until the victim takes no more. */
  private long flood() throws IOException {
    ByteBuffer bytes = tagged();
    long sent = 0;
    long movedNs = System.nanoTime();
    while (sent < MUCH && System.nanoTime() - movedNs < STALLED_NS) {
      int n = foe.wire.write(bytes.clear());
      if (n > 0) {
        sent += n;
        movedNs = System.nanoTime();
      } else {
        variant.pump(0);
      }
    }
    return sent;
  }

  private void fillRing() throws IOException {
    victim.configureBlocking(false);
    ByteBuffer bytes = ByteBuffer.allocate(CHUNK);
    while (victim.write(bytes.clear()) > 0) {
      // On.
    }
  }

  private long readAll(long wanted) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(CHUNK);
    long read = 0;
    while (read < wanted) {
      int n = victim.read(into.clear());
      assertThat(n).isNotNegative();
      for (int i = 0; i < n; i++) {
        assertThat(HostileConnection.tagged(into.get(i))).isTrue();
      }
      read += n;
    }
    return read;
  }

  /**
   * A program that waits for room only, and does not read, does not have Talaria read without
   * bound; it gets its room, and later all that was sent.
   */
  @Test
  void whatTheProgramDoesNotReadIsNotTaken() throws Exception {
    AtomicBoolean room = new AtomicBoolean();
    fillRing();
    variant.register(victim, SelectionKey.OP_WRITE, key -> room.set(true));
    long sent = flood();
    assertThat(sent).isLessThan(MUCH);
    assertThat(room).as("room in a full ring").isFalse();

    foe.shared.takeAll(); // and no doorbell is heard behind so many bytes
    for (int i = 0; !room.get(); i++) {
      assertThat(i).as("selects").isLessThan(1000);
      variant.pump(1000);
    }
    assertThat(readAll(sent)).isEqualTo(sent);

    AtomicBoolean news = new AtomicBoolean();
    variant.interest(victim, 0);
    variant.pump(0);
    foe.shared.switchOut(sent);
    variant.register(victim, SelectionKey.OP_READ, key -> news.set(true));
    foe.shared.sendSome();
    foe.wire.write(ByteBuffer.allocate(1));
    for (int i = 0; !news.get(); i++) {
      assertThat(i).as("selects").isLessThan(1000);
      variant.pump(1000);
    }
    assertThat(readAll(1)).isPositive();
    variant.check();
  }

  @Test
  void aWriterFindsRoomWithoutADoorbell() throws Exception {
    fillRing();
    variant.register(victim, SelectionKey.OP_WRITE, key -> {});
    assertThat(flood()).isLessThan(MUCH);
    victim.keyFor(variant.selector()).cancel();
    variant.pump(0);
    victim.configureBlocking(true);
    AtomicBoolean written = new AtomicBoolean();
    Thread writer =
        new Thread(
            () -> {
              try {
                victim.write(ByteBuffer.allocate(100));
                written.set(true);
              } catch (IOException e) {
                // Not written.
              }
            });
    writer.start();
    foe.shared.takeAll();
    writer.join();
    assertThat(written).isTrue();
  }
}
