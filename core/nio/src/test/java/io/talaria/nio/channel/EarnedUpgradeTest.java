// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.control.Earning;
import io.talaria.nio.counters.file.ProcessTotals;
import io.talaria.nio.shm.OwnProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code talaria.upgrade.after}: connections that have to carry something before they upgrade. */
@Timeout(90)
class EarnedUpgradeTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

  private OwnProvider talaria;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;
  private byte nextOut;
  private byte nextIn;

  private void connect(int after) throws IOException {
    String before = System.setProperty("talaria.upgrade.after", Integer.toString(after));
    try {
      talaria = OwnProvider.open();
    } finally {
      if (before == null) {
        System.clearProperty("talaria.upgrade.after");
      } else {
        System.setProperty("talaria.upgrade.after", before);
      }
    }
    listener = talaria.provider().openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    client = talaria.provider().openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
  }

  @AfterEach
  void close() throws IOException {
    for (SocketChannel channel : new SocketChannel[] {client, server}) {
      if (channel != null) {
        channel.close();
      }
    }
    if (listener != null) {
      listener.close();
    }
  }

  private static ConnectionPath path(SocketChannel channel) {
    return ((TalariaSocketChannel) channel).connectionPath();
  }

  private ConnectionInfo shown(Role role) {
    return talaria.counters().snapshot().stream()
        .filter(info -> info.role() == role)
        .findFirst()
        .orElseThrow();
  }

  private void assertNotEarned(int after) {
    assertThat(path(client).upgrade().earning().earned()).isFalse();
    assertThat(path(client).stream()).isNull();
    assertThat(shown(Role.CLIENT).transport()).isEqualTo(NioTransport.TCP);
    assertThat(shown(Role.CLIENT).reason()).isEqualTo(Reason.NOT_EARNED);
    assertThat(shown(Role.CLIENT).detail()).startsWith("upgrade after " + after + " read");
    assertThat(shown(Role.ACCEPTED).reason()).isEqualTo(Reason.NO_OFFER);
    assertThat(talaria.counters().totals().offersMade()).isZero();
  }

  private void assertEarned() {
    assertThat(path(client).upgrade().earning().earned()).isTrue();
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.call()) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static <T> FutureTask<T> started(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "waiting");
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  /** Writes one byte, the next of a sequence. */
  private void write(SocketChannel from) throws IOException {
    assertThat(from.write(ByteBuffer.wrap(new byte[] {nextOut}))).isEqualTo(1);
    nextOut++;
  }

  /** Reads one byte, and finds the next of the sequence. */
  private void read(SocketChannel to) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    assertThat(to.read(one)).isEqualTo(1);
    assertThat(one.get(0)).isEqualTo(nextIn);
    nextIn++;
  }

  private void message(SocketChannel from, SocketChannel to) throws IOException {
    write(from);
    read(to);
  }

  /** Round trips until both directions are on the transport, and one more. */
  private void exchangeUntilAccelerated() throws Exception {
    until(
        () -> {
          message(client, server);
          message(server, client);
          return path(client).switched() && path(server).switched();
        });
    message(client, server);
    message(server, client);
    // It is shown when it has been told, a moment later.
    until(() -> shown(Role.CLIENT).reason() == Reason.SAME_HOST);
    until(() -> shown(Role.ACCEPTED).reason() == Reason.SAME_HOST);
    assertThat(talaria.counters().totals().offersMade()).isEqualTo(1);
  }

  @Test
  void atZeroItIsSoughtAtOnce() throws Exception {
    connect(0);
    assertThat(path(client).upgrade().earning()).isNull();
    until(() -> path(client).stream() != null);
    exchangeUntilAccelerated();
  }

  @Test
  void theServerWaitsForTheClientAlone() throws Exception {
    connect(1);
    assertThat(path(server).upgrade().earning()).isNull();
    assertNotEarned(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void writesAloneEarnIt(int after) throws Exception {
    connect(after);
    for (int i = 0; i < after; i++) {
      assertNotEarned(after);
      message(client, server);
    }
    assertEarned();
    until(() -> path(client).stream() != null && path(server).stream() != null);
    exchangeUntilAccelerated();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void readsAloneEarnIt(int after) throws Exception {
    connect(after);
    for (int i = 0; i < after; i++) {
      assertNotEarned(after);
      message(server, client);
    }
    assertEarned();
    until(() -> path(client).stream() != null && path(server).stream() != null);
    exchangeUntilAccelerated();
  }

  @Test
  void gatheringAndScatteringCountsOnce() throws Exception {
    connect(2);
    ByteBuffer[] two = {ByteBuffer.wrap(new byte[] {0}), ByteBuffer.wrap(new byte[] {1})};
    assertThat(client.write(two)).isEqualTo(2);
    assertNotEarned(2);
    nextOut = 2;
    read(server);
    read(server);
    write(server);
    write(server);
    until(() -> path(client).input().available() == 2, client);
    ByteBuffer[] room = {ByteBuffer.allocate(1), ByteBuffer.allocate(1)};
    assertThat(client.read(room)).isEqualTo(2);
    assertEarned();
    nextIn = 4;
    exchangeUntilAccelerated();
  }

  /** As the other, for what the holder of the read lock may ask. */
  private static void until(Callable<Boolean> condition, SocketChannel channel) throws Exception {
    until(
        () -> {
          ((TalariaSocketChannel) channel).readLock().lock();
          try {
            return condition.call();
          } finally {
            ((TalariaSocketChannel) channel).readLock().unlock();
          }
        });
  }

  @Test
  void readsAndWritesWithoutBytesCountNothing() throws Exception {
    connect(1);
    client.configureBlocking(false);
    assertThat(client.read(ByteBuffer.allocate(1))).isZero();
    assertThat(client.read(ByteBuffer.allocate(0))).isZero();
    assertThat(client.write(ByteBuffer.allocate(0))).isZero();
    assertNotEarned(1);
    server.shutdownOutput();
    until(() -> client.read(ByteBuffer.allocate(1)) < 0);
    assertNotEarned(1);
  }

  /** The client reads in one thread and writes in another; each has half of what it takes. */
  @Test
  void aReaderAndAWriterEarnItTogether() throws Exception {
    int each = 20;
    connect(2 * each);
    ByteBuffer in = ByteBuffer.allocate(each);
    FutureTask<Boolean> reader =
        started(
            () -> {
              while (in.hasRemaining() && client.read(in.limit(in.position() + 1)) == 1) {
                in.limit(each);
              }
              return true;
            });
    FutureTask<Boolean> echo =
        started(
            () -> {
              ByteBuffer one = ByteBuffer.allocate(1);
              for (int i = 0; i < each; i++) {
                server.read(one.clear());
                server.write(one.flip());
              }
              return true;
            });
    for (int i = 0; i < each; i++) {
      write(client);
    }
    assertThat(echo.get()).isTrue();
    assertThat(reader.get()).isTrue();
    for (byte i = 0; i < each; i++) {
      assertThat(in.get(i)).isEqualTo(i);
    }
    assertEarned();
    nextIn = nextOut;
    exchangeUntilAccelerated();
  }

  @Test
  void aSelectorsChannelEarnsItToo() throws Exception {
    connect(2);
    try (Selector selector = talaria.provider().openSelector()) {
      client.configureBlocking(false);
      client.register(selector, SelectionKey.OP_READ);
      until(
          () -> {
            write(server);
            selector.selectedKeys().clear();
            assertThat(selector.select(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS))).isEqualTo(1);
            read(client);
            return path(client).switchedIn();
          });
      assertEarned();
      assertThat(talaria.counters().totals().offersMade()).isEqualTo(1);
    }
  }

  /** The server's program has accepted, and does nothing but wait for what comes. */
  @Test
  void aServerThatWaitsGetsAllThatComes() throws Exception {
    connect(5);
    FutureTask<Integer> waiting =
        started(
            () -> {
              ByteBuffer one = ByteBuffer.allocate(1);
              int sum = 0;
              while (server.read(one.clear()) > 0) {
                sum += one.get(0);
              }
              return sum;
            });
    until(
        () -> {
          assertThat(client.write(ByteBuffer.wrap(new byte[] {1}))).isEqualTo(1);
          return path(client).switchedOut();
        });
    long sent = shown(Role.CLIENT).tcpOutBytes() + shown(Role.CLIENT).acceleratedOutBytes();
    client.close();
    assertThat(waiting.get().longValue()).isEqualTo(sent);
  }

  /** A long poll: the client has asked, and the server answers when it has something to say. */
  @Test
  void aClientThatWaitsGetsWhatComesAtLast() throws Exception {
    connect(3);
    message(client, server);
    message(server, client);
    FutureTask<Integer> waiting = started(() -> client.read(ByteBuffer.allocate(1)));
    until(() -> path(client).waiter().anybodySleeps());
    assertNotEarned(3);
    write(server);
    assertThat(waiting.get()).isEqualTo(1);
    nextIn++;
    assertEarned();
    exchangeUntilAccelerated();
  }

  /** The request has earned it, and the client waits in a read while the two sides agree. */
  @Test
  void aClientThatWaitsMeanwhileGetsWhatComesAtLast() throws Exception {
    connect(3);
    message(client, server);
    message(server, client);
    message(client, server);
    FutureTask<Integer> waiting = started(() -> client.read(ByteBuffer.allocate(1)));
    until(() -> path(client).stream() != null && path(server).stream() != null);
    until(() -> path(client).waiter().anybodySleeps());
    write(server);
    assertThat(waiting.get()).isEqualTo(1);
    nextIn++;
    exchangeUntilAccelerated();
  }

  @Test
  void whoClosesBeforeHasCostNothing() throws Exception {
    connect(3);
    message(client, server);
    message(server, client);
    assertNotEarned(3);
    Earning earning = path(client).upgrade().earning();
    client.close();
    assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    server.close();
    assertThat(earning.earned()).isFalse();
    ProcessTotals totals = talaria.counters().totals();
    assertThat(totals.offersMade()).isZero();
    assertThat(totals.sessionsOpened()).isZero();
    assertThat(talaria.counters().snapshot()).allMatch(info -> info.role() == Role.LISTENER);
  }

  @Test
  void whoHasShutADownDirectionAsksNobody() throws Exception {
    connect(2);
    message(client, server);
    client.shutdownOutput();
    assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    message(server, client);
    assertEarned();
    assertThat(shown(Role.CLIENT).reason()).isEqualTo(Reason.CLOSED_EARLY);
    message(server, client);
    server.close();
    assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    assertThat(path(client).stream()).isNull();
    assertThat(talaria.counters().totals().offersMade()).isZero();
  }

  @Test
  void whatCanHaveNoUpgradeSaysSoAtOnce() throws Exception {
    System.setProperty("talaria.ports.except", "1-65535");
    try {
      connect(1);
    } finally {
      System.clearProperty("talaria.ports.except");
    }
    assertThat(path(client).upgrade().earning()).isNull();
    assertThat(shown(Role.CLIENT).reason()).isEqualTo(Reason.PORT_LEFT_OUT);
  }
}
