// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static io.talaria.nio.channel.ReadWriteContractTest.bytes;
import static io.talaria.nio.channel.ReadWriteContractTest.readFully;
import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Selectors and keys over the channels of a pair and over all that may stand beside them. */
@Timeout(60)
@SuppressWarnings("try") // closing before the end of the block is what some tests are about
class SelectorContractTest {

  private static SelectionKey key(SocketChannel channel, Selector selector, int ops)
      throws IOException {
    channel.configureBlocking(false);
    return channel.register(selector, ops);
  }

  private static void send(SocketChannel channel, int n) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(n);
    while (all.hasRemaining()) {
      channel.write(all);
    }
  }

  private static long ms(long sinceNs) {
    return (System.nanoTime() - sinceNs) / 1_000_000;
  }

  @ParameterizedTest
  @EnumSource
  void timeoutsAreExact(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_READ);
      key(pair.client, selector, OP_READ);
      for (int timeout : new int[] {1, 10, 50, 200}) {
        long start = System.nanoTime();
        assertThat(selector.select(timeout)).isEqualTo(0);
        assertThat(ms(start)).isBetween(timeout - 1L, timeout + 100L);
        start = System.nanoTime();
        assertThat(selector.select(k -> {}, timeout)).isEqualTo(0);
        assertThat(ms(start)).isBetween(timeout - 1L, timeout + 100L);
      }
      assertThatThrownBy(() -> selector.select(-1)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> selector.select(null, 1)).isInstanceOf(NullPointerException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTimeoutIsKeptWhilstThePeerKeepsRinging(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      pair.server.configureBlocking(false);
      pair.server.register(selector, 0);
      Doing<Integer> ringing =
          Doing.start(
              () -> {
                for (int i = 0; i < 100; i++) {
                  pair.client.write(ByteBuffer.allocate(1));
                  Thread.sleep(5);
                }
                return 0;
              });
      long start = System.nanoTime();
      assertThat(selector.select(300)).isEqualTo(0);
      assertThat(ms(start)).isBetween(299L, 420L);
      ringing.result();
    }
  }

  @ParameterizedTest
  @EnumSource
  void wakeupEndsThisSelectOrTheNext(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_READ);
      Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
      assertThat(selector.wakeup()).isSameAs(selector);
      assertThat(select.result()).isEqualTo(0);
      selector.wakeup().wakeup();
      assertThat(selector.select()).isEqualTo(0);
      selector.wakeup();
      assertThat(selector.selectNow()).isEqualTo(0);
      long start = System.nanoTime();
      assertThat(selector.select(100)).isEqualTo(0);
      assertThat(ms(start)).isGreaterThanOrEqualTo(99);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptEndsASelectAndStays(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_READ);
      Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
      select.interrupt();
      assertThat(select.result()).isEqualTo(0);
      assertThat(select.wasInterrupted()).isTrue();
      select =
          Doing.start(
              () -> {
                Thread.currentThread().interrupt();
                return selector.select() + selector.select(k -> {});
              });
      assertThat(select.result()).isEqualTo(0);
      assertThat(select.wasInterrupted()).isTrue();
      assertThat(selector.isOpen()).isTrue();
      assertThat(pair.server.isOpen()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesEndASleepingSelect(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_READ);
      for (int i = 0; i < 50; i++) {
        Doing<Integer> select = Doing.start(() -> selector.select());
        Thread.sleep(i % 5 * 2L);
        pair.client.write(bytes(10, 1));
        assertThat(select.result()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(key);
        selector.selectedKeys().clear();
        readFully(pair.server, ByteBuffer.allocate(10));
        assertThat(selector.selectNow()).isEqualTo(0);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void selectedKeysStayUntilRemovedAndTheirOperationsAddUp(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_READ);
      pair.client.write(bytes(10, 1));
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_READ);
      assertThat(selector.select(5000)).isEqualTo(0);
      assertThat(selector.selectNow()).isEqualTo(0);
      key.interestOps(OP_READ | OP_WRITE);
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_READ | OP_WRITE);
      key.interestOps(0);
      readFully(pair.server, ByteBuffer.allocate(10));
      assertThat(selector.selectNow()).isEqualTo(0);
      assertThat(key.readyOps()).isEqualTo(OP_READ | OP_WRITE);
      assertThat(selector.selectedKeys()).containsExactly(key);
      Iterator<SelectionKey> each = selector.selectedKeys().iterator();
      assertThat(each.next()).isSameAs(key);
      each.remove();
      assertThat(each.hasNext()).isFalse();
      assertThat(selector.selectedKeys()).isEmpty();
      key.interestOps(OP_WRITE);
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_WRITE);
      assertThatThrownBy(() -> selector.selectedKeys().add(key))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> selector.keys().remove(key))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThat(selector.selectedKeys().remove(key)).isTrue();
      assertThat(selector.selectedKeys().remove(key)).isFalse();
      assertThat(selector.keys()).containsExactly(key);
    }
  }

  @ParameterizedTest
  @EnumSource
  void actionsAreGivenReadyKeysAndLeaveNothingSelected(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey one = key(pair.server, selector, OP_READ);
      SelectionKey other = key(pair.client, selector, OP_READ);
      send(pair.client, 10);
      send(pair.server, 10);
      List<SelectionKey> given = new ArrayList<>();
      int n = 0;
      for (int i = 0; i < 100 && given.size() < 2; i++) {
        n +=
            selector.select(
                key -> {
                  assertThat(key.isReadable()).isTrue();
                  given.add(key);
                  key.interestOps(0);
                });
      }
      assertThat(given).containsExactlyInAnyOrder(one, other);
      assertThat(n).isEqualTo(2);
      assertThat(selector.selectedKeys()).isEmpty();
      assertThat(selector.selectNow(given::add)).isEqualTo(0);
      one.interestOps(OP_READ);
      assertThat(selector.select(key -> given.add(key), 5000)).isEqualTo(1);
      assertThatThrownBy(
              () ->
                  selector.select(
                      key -> {
                        throw new IllegalArgumentException("mine");
                      }))
          .hasMessage("mine");
      assertThatThrownBy(
              () ->
                  selector.select(
                      key -> {
                        try {
                          selector.selectNow();
                        } catch (IOException e) {
                          throw new AssertionError(e);
                        }
                      }))
          .isInstanceOf(IllegalStateException.class);
      assertThat(selector.selectNow()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anActionMayCloseTheSelector(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Pair another = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_READ | OP_WRITE);
      key(pair.client, selector, OP_WRITE);
      key(another.server, selector, OP_WRITE);
      key(another.client, selector, OP_WRITE);
      assertThatThrownBy(
              () ->
                  selector.select(
                      key -> {
                        try {
                          selector.close();
                        } catch (IOException e) {
                          throw new AssertionError(e);
                        }
                      }))
          .isInstanceOf(ClosedSelectorException.class);
      assertThat(pair.server.isRegistered()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anActionMayCloseAndCancelWhateverItLikes(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Pair another = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_WRITE);
      key(pair.client, selector, OP_WRITE);
      key(another.server, selector, OP_WRITE);
      key(another.client, selector, OP_WRITE);
      int n =
          selector.select(
              key -> {
                try {
                  pair.server.close();
                  pair.client.keyFor(selector).cancel();
                  another.close();
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      assertThat(n).isBetween(1, 4);
      selector.selectNow();
      assertThat(selector.keys()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void cancelledKeysGoWithTheNextSelect(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_WRITE);
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.attach("a")).isNull();
      assertThat(key.attach("b")).isEqualTo("a");
      assertThat(key.attachment()).isEqualTo("b");
      key.cancel();
      key.cancel();
      assertThat(key.isValid()).isFalse();
      assertThat(key.channel()).isSameAs(pair.server);
      assertThat(key.selector()).isSameAs(selector);
      assertThat(key.attachment()).isEqualTo("b");
      assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
      assertThatThrownBy(() -> key.interestOps(0)).isInstanceOf(CancelledKeyException.class);
      assertThatThrownBy(key::readyOps).isInstanceOf(CancelledKeyException.class);
      assertThatThrownBy(() -> pair.server.register(selector, OP_READ))
          .isInstanceOf(CancelledKeyException.class);
      assertThat(pair.server.isRegistered()).isTrue();
      assertThat(selector.keys()).contains(key);
      assertThat(selector.selectNow()).isEqualTo(0);
      assertThat(selector.keys()).isEmpty();
      assertThat(selector.selectedKeys()).isEmpty();
      assertThat(pair.server.isRegistered()).isFalse();
      assertThat(pair.server.keyFor(selector)).isNull();
      SelectionKey again = pair.server.register(selector, OP_READ, "c");
      assertThat(again).isNotSameAs(key);
      assertThat(again.attachment()).isEqualTo("c");
      pair.client.write(bytes(1, 1));
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(pair.server.register(selector, OP_WRITE, "d")).isSameAs(again);
      assertThat(again.interestOps()).isEqualTo(OP_WRITE);
      assertThat(again.attachment()).isEqualTo("d");
    }
  }

  @ParameterizedTest
  @EnumSource
  void badRegistrationsAreRefused(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      assertThatThrownBy(() -> pair.server.register(selector, OP_READ))
          .isInstanceOf(IllegalBlockingModeException.class);
      pair.server.configureBlocking(false);
      assertThatThrownBy(() -> pair.server.register(selector, OP_ACCEPT))
          .isInstanceOf(IllegalArgumentException.class);
      SelectionKey key = pair.server.register(selector, OP_READ);
      assertThatThrownBy(() -> key.interestOps(OP_ACCEPT))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> pair.server.configureBlocking(true))
          .isInstanceOf(IllegalBlockingModeException.class);
      key.cancel();
      selector.selectNow();
      pair.server.configureBlocking(true);
      assertThat(pair.server.isBlocking()).isTrue();
      pair.client.configureBlocking(true);
      Doing<Integer> reader =
          Doing.start(() -> pair.server.read(ByteBuffer.allocate(1))).whenWaiting();
      pair.client.write(bytes(1, 1));
      assertThat(reader.result()).isEqualTo(1);
      pair.server.configureBlocking(false);
      pair.server.close();
      assertThatThrownBy(() -> pair.server.register(selector, OP_READ))
          .isInstanceOf(ClosedChannelException.class);
      selector.close();
      pair.client.configureBlocking(false);
      assertThatThrownBy(() -> pair.client.register(selector, OP_READ))
          .isInstanceOf(ClosedSelectorException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClosedSelectorSaysSo(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Selector selector = ground.provider().openSelector();
      SelectionKey key = key(pair.server, selector, OP_READ);
      Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
      selector.close();
      Throwable failure = select.failure();
      if (failure != null) {
        assertThat(failure).isInstanceOf(ClosedSelectorException.class);
      }
      selector.close();
      assertThat(selector.isOpen()).isFalse();
      assertThat(key.isValid()).isFalse();
      assertThat(pair.server.isOpen()).isTrue();
      assertThat(pair.server.isRegistered()).isFalse();
      assertThatThrownBy(selector::keys).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(selector::selectedKeys).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(selector::select).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(selector::selectNow).isInstanceOf(ClosedSelectorException.class);
      assertThatThrownBy(() -> selector.select(1)).isInstanceOf(ClosedSelectorException.class);
      selector.wakeup();
      pair.server.configureBlocking(true);
      pair.client.write(bytes(1, 1));
      assertThat(pair.server.read(ByteBuffer.allocate(2))).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingAChannelTakesItsKeysWithTheNextSelect(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_READ);
      pair.server.close();
      assertThat(key.isValid()).isFalse();
      assertThat(selector.keys()).contains(key);
      assertThat(selector.selectNow()).isEqualTo(0);
      assertThat(selector.keys()).isEmpty();
      pair.client.configureBlocking(true);
      assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  /** The peer must learn of a close although the selector has not let go of the key. */
  @ParameterizedTest
  @EnumSource
  void thePeerSeesACloseOfARegisteredChannelAtOnce(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      key(pair.server, selector, OP_READ);
      selector.selectNow();
      Doing<Integer> reader = Doing.start(() -> pair.client.read(ByteBuffer.allocate(1)));
      Thread.sleep(30);
      pair.server.close();
      assertThat(reader.result()).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void endAndResetAreReadable(Ground ground) throws Exception {
    for (int i = 0; i < 4; i++) {
      try (Pair pair = ground.pair();
          Selector selector = ground.provider().openSelector()) {
        SelectionKey key = key(pair.server, selector, OP_READ);
        Doing<Integer> select = Doing.start(() -> selector.select());
        if (i % 2 == 0) {
          select.whenWaiting();
        }
        if (i >= 2) {
          pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
        pair.client.close();
        assertThat(select.result()).isEqualTo(1);
        assertThat(key.isReadable()).isTrue();
        selector.selectedKeys().clear();
        assertThat(selector.select()).isEqualTo(1);
        if (i < 2) {
          assertThat(pair.server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        } else {
          assertThatThrownBy(() -> pair.server.read(ByteBuffer.allocate(1)))
              .hasMessage("Connection reset");
        }
        selector.selectedKeys().clear();
        assertThat(selector.selectNow()).isEqualTo(1);
        key.interestOps(0);
        selector.selectedKeys().clear();
        assertThat(selector.select(50)).isEqualTo(0);
        key.interestOps(OP_WRITE);
        assertThat(selector.select(5000)).isEqualTo(1);
        assertThat(key.isWritable()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void afterShutdownInputAChannelIsReadable(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_READ);
      assertThat(selector.selectNow()).isEqualTo(0);
      pair.server.shutdownInput();
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.isReadable()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void writableEndsWhenFullAndComesBackWhenDrained(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(pair.server, selector, OP_WRITE);
      ByteBuffer chunk = ByteBuffer.allocate(1 << 20);
      long written = 0;
      for (int round = 0; round < 3; round++) {
        int quiet = 0;
        while (quiet < 10) {
          selector.selectedKeys().clear();
          if (selector.select(20) == 0) {
            quiet++;
          } else {
            chunk.clear();
            written += pair.server.write(chunk);
          }
        }
        assertThat(key.isValid()).isTrue();
        chunk.clear();
        selector.selectedKeys().clear();
        Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
        long left = written;
        ByteBuffer in = ByteBuffer.allocate(1 << 16);
        while (left > 0) {
          in.clear().limit((int) Math.min(in.capacity(), left));
          left -= pair.client.read(in);
        }
        written = 0;
        assertThat(select.result()).isEqualTo(1);
        assertThat(key.isWritable()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void oneSelectorMayReadAndAnotherWrite(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector reading = ground.provider().openSelector();
        Selector writing = ground.provider().openSelector()) {
      SelectionKey read = key(pair.server, reading, OP_READ);
      SelectionKey write = key(pair.server, writing, OP_WRITE);
      assertThat(pair.server.keyFor(reading)).isSameAs(read);
      assertThat(pair.server.keyFor(writing)).isSameAs(write);
      int total = 24 << 20;
      Doing<Integer> reader =
          Doing.start(
              () -> {
                int n = 0;
                ByteBuffer in = ByteBuffer.allocate(100_000);
                while (n < total) {
                  assertThat(reading.select(5000)).isEqualTo(1);
                  reading.selectedKeys().clear();
                  in.clear();
                  n += pair.server.read(in);
                }
                return n;
              });
      Doing<Integer> writer =
          Doing.start(
              () -> {
                ByteBuffer out = bytes(total, 3);
                while (out.hasRemaining()) {
                  assertThat(writing.select(5000)).isEqualTo(1);
                  writing.selectedKeys().clear();
                  pair.server.write(out);
                }
                return out.position();
              });
      Doing<Integer> peerWriter = Doing.start(() -> pair.client.write(bytes(total, 4)));
      Doing<ByteBuffer> peerReader =
          Doing.start(() -> readFully(pair.client, ByteBuffer.allocate(total)));
      assertThat(peerReader.result().equals(bytes(total, 3))).isTrue();
      assertThat(reader.result()).isEqualTo(total);
      assertThat(writer.result()).isEqualTo(total);
      assertThat(peerWriter.result()).isEqualTo(total);
      pair.server.close();
      reading.selectNow();
      assertThat(reading.keys()).isEmpty();
      writing.selectNow();
      assertThat(writing.keys()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void registrationsAndInterestOfOtherThreadsCountFromTheNextSelect(Ground ground)
      throws Exception {
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector()) {
      Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
      SelectionKey key = key(pair.server, selector, 0);
      selector.wakeup();
      assertThat(select.result()).isEqualTo(0);
      pair.client.write(bytes(5, 1));
      select = Doing.start(() -> selector.select()).whenWaiting();
      key.interestOps(OP_READ);
      selector.wakeup();
      int n = select.result();
      assertThat(n == 1 ? n : selector.select(5000)).isEqualTo(1);
      readFully(pair.server, ByteBuffer.allocate(5));
      selector.selectedKeys().clear();
      key.interestOps(0);
      pair.client.write(bytes(5, 1));
      assertThat(selector.select(50)).isEqualTo(0);
      key.interestOpsOr(OP_READ | OP_WRITE);
      assertThat(selector.select(5000)).isEqualTo(1);
      key.interestOpsAnd(OP_WRITE);
      selector.selectedKeys().clear();
      assertThat(selector.select(5000)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(OP_WRITE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void connectAndAcceptAreReported(Ground ground) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(ground.provider());
        SocketChannel client = ground.provider().openSocketChannel();
        Selector selector = ground.provider().openSelector()) {
      listener.configureBlocking(false);
      assertThat(listener.accept()).isNull();
      SelectionKey accept = listener.register(selector, OP_ACCEPT);
      SelectionKey connect = key(client, selector, OP_CONNECT);
      boolean connected = client.connect(listener.getLocalAddress());
      for (int i = 0; i < 100 && selector.selectedKeys().size() < (connected ? 1 : 2); i++) {
        selector.select(50);
      }
      assertThat(accept.isAcceptable()).isTrue();
      assertThat(connected || connect.isConnectable()).isTrue();
      assertThat(client.finishConnect()).isTrue();
      assertThat(client.isConnected()).isTrue();
      assertThat(client.isConnectionPending()).isFalse();
      selector.selectedKeys().clear();
      try (SocketChannel server = listener.accept()) {
        assertThat(server.isBlocking()).isTrue();
        assertThat(server.getRemoteAddress()).isEqualTo(client.getLocalAddress());
        assertThat(server.getLocalAddress()).isEqualTo(client.getRemoteAddress());
        connect.interestOps(OP_READ);
        server.write(bytes(3, 1));
        assertThat(selector.select(5000)).isEqualTo(1);
        assertThat(connect.isReadable()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRefusedConnectIsReportedAndThrown(Ground ground) throws Exception {
    SocketAddress nobody;
    try (ServerSocketChannel listener = Pair.listen(ground.provider())) {
      nobody = listener.getLocalAddress();
    }
    try (SocketChannel client = ground.provider().openSocketChannel();
        Selector selector = ground.provider().openSelector()) {
      SelectionKey key = key(client, selector, OP_CONNECT);
      try {
        if (!client.connect(nobody)) {
          assertThat(selector.select(5000)).isEqualTo(1);
          assertThat(key.isConnectable()).isTrue();
          client.finishConnect();
        }
        throw new AssertionError("connected to nobody");
      } catch (ConnectException e) {
        assertThat(e).hasMessage("Connection refused");
      }
      assertThat(client.isOpen()).isFalse();
      selector.selectNow();
      assertThat(selector.keys()).isEmpty();
    }
    try (SocketChannel client = ground.provider().openSocketChannel()) {
      assertThatThrownBy(() -> client.connect(nobody)).isInstanceOf(ConnectException.class);
      assertThat(client.isOpen()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void channelsOfAllKindsStandSideBySide(Ground ground) throws Exception {
    Path path = Files.createTempDirectory("talaria").resolve("s");
    try (Pair pair = ground.pair();
        Selector selector = ground.provider().openSelector();
        DatagramChannel datagrams = ground.provider().openDatagramChannel();
        ServerSocketChannel unix =
            ground.provider().openServerSocketChannel(StandardProtocolFamily.UNIX);
        SocketChannel unixClient =
            ground.provider().openSocketChannel(StandardProtocolFamily.UNIX)) {
      Pipe pipe = ground.provider().openPipe();
      datagrams.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      datagrams.configureBlocking(false);
      unix.bind(UnixDomainSocketAddress.of(path));
      unix.configureBlocking(false);
      pipe.source().configureBlocking(false);
      SelectionKey ours = key(pair.server, selector, OP_READ);
      SelectionKey datagram = datagrams.register(selector, OP_READ);
      SelectionKey accept = unix.register(selector, OP_ACCEPT);
      SelectionKey source = pipe.source().register(selector, OP_READ);
      assertThat(selector.select(20)).isEqualTo(0);
      for (int i = 0; i < 20; i++) {
        selector.selectedKeys().clear();
        pipe.sink().write(bytes(1, 1));
        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(source);
        pipe.source().read(ByteBuffer.allocate(1));
        selector.selectedKeys().clear();
        datagrams.send(bytes(1, 1), datagrams.getLocalAddress());
        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(datagram);
        datagrams.receive(ByteBuffer.allocate(1));
        selector.selectedKeys().clear();
        pair.client.write(bytes(1, 1));
        assertThat(selector.select()).isEqualTo(1);
        assertThat(selector.selectedKeys()).containsExactly(ours);
        pair.server.read(ByteBuffer.allocate(1));
      }
      selector.selectedKeys().clear();
      unixClient.connect(UnixDomainSocketAddress.of(path));
      assertThat(selector.select()).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(accept);
      unix.accept().close();
      // A busy connection of ours must not keep the others from being heard.
      pair.client.write(bytes(1, 1));
      pipe.sink().write(bytes(1, 1));
      selector.selectedKeys().clear();
      boolean heard = false;
      long until = System.nanoTime() + 2_000_000_000L;
      while (!heard && System.nanoTime() < until) {
        selector.select();
        heard = selector.selectedKeys().contains(source);
        selector.selectedKeys().clear();
      }
      assertThat(heard).isTrue();
      pipe.sink().close();
      pipe.source().close();
      datagrams.close();
      selector.selectNow();
      assertThat(selector.keys()).hasSize(2);
    } finally {
      Files.deleteIfExists(path);
      Files.deleteIfExists(path.getParent());
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyThreadsWakeRegisterAndCancelAtOnce(Ground ground) throws Exception {
    try (Selector selector = ground.provider().openSelector();
        ServerSocketChannel listener = Pair.listen(ground.provider())) {
      CountDownLatch over = new CountDownLatch(4);
      Doing<Integer> selecting =
          Doing.start(
              () -> {
                int echoed = 0;
                while (over.getCount() > 0) {
                  selector.select(500);
                  for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isValid() && key.isReadable()) {
                      ByteBuffer in = ByteBuffer.allocate(100);
                      SocketChannel channel = (SocketChannel) key.channel();
                      int n = channel.read(in);
                      if (n < 0) {
                        channel.close();
                      } else {
                        channel.write(in.flip());
                        echoed += n;
                      }
                    }
                  }
                  selector.selectedKeys().clear();
                }
                selector.selectNow();
                return echoed;
              });
      List<Doing<Integer>> clients = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        clients.add(
            Doing.start(
                () -> {
                  try {
                    int n = 0;
                    for (int j = 0; j < 30; j++) {
                      SocketChannel client = ground.provider().openSocketChannel();
                      SocketChannel server;
                      synchronized (listener) {
                        client.connect(listener.getLocalAddress());
                        server = listener.accept();
                      }
                      key(server, selector, OP_READ);
                      selector.wakeup();
                      for (int k = 0; k < 20; k++) {
                        client.write(bytes(50, k));
                        assertThat(readFully(client, ByteBuffer.allocate(50)))
                            .isEqualTo(bytes(50, k));
                        n += 50;
                      }
                      client.close();
                    }
                    return n;
                  } finally {
                    over.countDown();
                    selector.wakeup();
                  }
                }));
      }
      int sent = 0;
      for (Doing<Integer> client : clients) {
        sent += client.result();
      }
      assertThat(selecting.result()).isEqualTo(sent).isEqualTo(4 * 30 * 20 * 50);
    }
  }

  /** Another event loop takes a channel over while the one before is still letting go of it. */
  @ParameterizedTest
  @EnumSource
  void aChannelMovesBetweenSelectorsAndLosesNoWakeUp(Ground ground) throws Exception {
    try (Pair pair = ground.pair();
        Selector one = ground.provider().openSelector();
        Selector other = ground.provider().openSelector()) {
      pair.server.configureBlocking(false);
      for (int i = 0; i < 400; i++) {
        Selector from = i % 2 == 0 ? other : one;
        Selector to = i % 2 == 0 ? one : other;
        SelectionKey old = pair.server.keyFor(from);
        Doing<Integer> letting = null;
        if (old != null) {
          old.cancel();
          letting = Doing.start(from::selectNow);
        }
        SelectionKey key = pair.server.register(to, OP_READ);
        Doing<Integer> select = Doing.start(() -> to.select());
        if (i % 4 == 0) {
          Thread.sleep(2);
        }
        pair.client.write(bytes(1, 1));
        assertThat(select.result()).as("move %d", i).isEqualTo(1);
        assertThat(key.isReadable()).isTrue();
        to.selectedKeys().clear();
        assertThat(pair.server.read(ByteBuffer.allocate(2))).isEqualTo(1);
        if (letting != null) {
          letting.result();
          from.selectNow();
        }
      }
    }
  }
}
