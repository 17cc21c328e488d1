// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Selecting: what is reported, when, how often, and what ends a select. */
class SelectContractTest extends Contract {
  private static final long SOON_MS = 10_000;

  /** Allows for a machine that is busy with something else. */
  private static final long LATE_MS = 10_000;

  /** So long nothing is written before the buffers count as full. */
  private static final int QUIET_MS = 100;

  private SocketChannel channel;
  private SocketChannel peer;
  private Selector selector;

  SelectContractTest(Variant variant) {
    super(variant);
  }

  @BeforeEach
  void open() throws IOException {
    Pair pair = pair();
    channel = pair.client;
    peer = pair.server;
    selector = selectorFor(channel);
  }

  private SelectionKey registered(int ops) throws IOException {
    return register(channel, selector, ops);
  }

  /** Sends bytes that have arrived when this returns. */
  private void feed(int n) throws Exception {
    peer.write(bytes(n, 1));
    try (Selector other = channel.provider().openSelector()) {
      channel.register(other, OP_READ);
      assertThat(other.select(SOON_MS)).isEqualTo(1);
    }
  }

  private static long ms(long sinceNs) {
    return (System.nanoTime() - sinceNs) / 1_000_000;
  }

  private static void close(AutoCloseable one) {
    try {
      one.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  // ---- what ends a select

  @Test
  void timeoutsAreKept() throws Exception {
    registered(OP_READ);
    for (int timeout : new int[] {1, 10, 60}) {
      long start = System.nanoTime();
      assertThat(selector.select(timeout)).isZero();
      assertThat(ms(start)).isBetween(timeout - 1L, timeout + LATE_MS);
      start = System.nanoTime();
      assertThat(selector.select(k -> {}, timeout)).isZero();
      assertThat(ms(start)).isBetween(timeout - 1L, timeout + LATE_MS);
    }
  }

  @Test
  void aSelectorWithoutKeysKeepsItsTimeout() throws Exception {
    long start = System.nanoTime();
    assertThat(selector.select(30)).isZero();
    assertThat(ms(start)).isBetween(29L, 30 + LATE_MS);
    assertThat(selector.selectNow()).isZero();
  }

  @Test
  void aTimeoutIsKeptWhilstThePeerKeepsWriting() throws Exception {
    channel.configureBlocking(false);
    channel.register(selector, 0);
    Doing<Integer> writing =
        Doing.start(
            () -> {
              for (int i = 0; i < 100; i++) {
                peer.write(bytes(1, i));
                Thread.sleep(1);
              }
              return 0;
            });
    long start = System.nanoTime();
    assertThat(selector.select(80)).isZero();
    assertThat(ms(start)).isBetween(79L, 80 + LATE_MS);
    writing.result();
  }

  @Test
  void theLongestTimeoutsAreLongAndNotNegative() throws Exception {
    registered(OP_READ);
    for (long timeout : new long[] {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000, 1L << 50}) {
      Doing<Integer> select = Doing.start(() -> selector.select(timeout)).whenWaiting();
      selector.wakeup();
      assertThat(select.result()).isZero();
    }
  }

  @Test
  void badTimeoutsAndActionsAreRefused() throws Exception {
    assertThatThrownBy(() -> selector.select(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> selector.select(k -> {}, -1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> selector.select(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> selector.select(null, 1)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> selector.selectNow(null)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void wakeupEndsASelectInProgress() throws Exception {
    registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    assertThat(selector.wakeup()).isSameAs(selector);
    assertThat(select.result()).isZero();
  }

  @Test
  void wakeupEndsASelectWithATimeoutInProgress() throws Exception {
    registered(OP_READ);
    long start = System.nanoTime();
    Doing<Integer> select = Doing.start(() -> selector.select(100_000)).whenWaiting();
    selector.wakeup();
    assertThat(select.result()).isZero();
    assertThat(ms(start)).isLessThan(50_000);
  }

  /** No wake-up is left. */
  private void theNextSelectSleeps() throws IOException {
    long start = System.nanoTime();
    assertThat(selector.select(20)).isZero();
    assertThat(ms(start)).isGreaterThanOrEqualTo(19);
  }

  @Test
  void wakeupBeforeASelectEndsTheNextOneOnly() throws Exception {
    registered(OP_READ);
    selector.wakeup().wakeup();
    assertThat(selector.select()).isZero();
    theNextSelectSleeps();
  }

  @Test
  void selectNowTakesTheWakeup() throws Exception {
    registered(OP_READ);
    selector.wakeup();
    assertThat(selector.selectNow()).isZero();
    theNextSelectSleeps();
  }

  @Test
  void aWokenSelectReportsWhatIsReadyAllTheSame() throws Exception {
    registered(OP_READ | OP_WRITE);
    selector.wakeup();
    assertThat(selector.select()).isEqualTo(1);
  }

  @Test
  void anInterruptEndsASelectAndStays() throws Exception {
    registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    select.interrupt();
    assertThat(select.result()).isZero();
    assertThat(select.wasInterrupted()).isTrue();
    assertThat(selector.isOpen()).isTrue();
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void withTheStatusSetASelectDoesNotWait() throws Exception {
    registered(OP_READ);
    Doing<Integer> select =
        Doing.start(
            () -> {
              Thread.currentThread().interrupt();
              return selector.select() + selector.select(k -> {}) + selector.select(100_000);
            });
    assertThat(select.result()).isZero();
    assertThat(select.wasInterrupted()).isTrue();
    assertThat(selector.isOpen()).isTrue();
  }

  @Test
  void bytesEndASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_READ);
    for (int i = 0; i < 20; i++) {
      Doing<Integer> select = Doing.start(() -> selector.select());
      if (i % 2 == 0) {
        select.whenWaiting();
      }
      peer.write(bytes(10, i));
      assertThat(select.result()).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(key);
      selector.selectedKeys().clear();
      assertThat(readFully(channel, 10)).isEqualTo(bytes(10, i));
      assertThat(selector.selectNow()).isZero();
    }
  }

  @Test
  void anEndEndsASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    peer.close();
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(readEnd()).isEqualTo(-1);
  }

  /** Over UCX, only there, a switch may get between the select that TCP's end woke and the read. */
  private int readEnd() throws IOException {
    int n = read(channel);
    if (n == 0 && System.getProperty("talaria.test.transport") != null) {
      selector.selectedKeys().clear();
      assertThat(selector.select()).isEqualTo(1);
      n = read(channel);
    }
    return n;
  }

  @Test
  void aHalfCloseEndsASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    peer.shutdownOutput();
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(readEnd()).isEqualTo(-1);
    assertThat(channel.write(bytes(10, 1))).isEqualTo(10);
    assertThat(readFully(peer, 10)).isEqualTo(bytes(10, 1));
  }

  @Test
  void aResetEndsASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    peer.setOption(StandardSocketOptions.SO_LINGER, 0);
    peer.close();
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThatThrownBy(() -> read(channel)).hasMessage("Connection reset");
  }

  @Test
  void shutdownInputEndsASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    channel.shutdownInput();
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(read(channel)).isEqualTo(-1);
  }

  @Test
  void shutdownInputIsReportedLongAfterTheLastBytes() throws Exception {
    SelectionKey key = registered(OP_READ);
    assertThat(selector.select(50)).isZero();
    channel.shutdownInput();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
  }

  @Test
  void shutdownOutputEndsASleepingSelect() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    AtomicLong written = new AtomicLong();
    Doing<Void> writer =
        Doing.start(
            () -> {
              ByteBuffer chunk = ByteBuffer.allocate(1 << 16);
              while (true) { // room may come late; the end must come
                selector.select();
                selector.selectedKeys().clear();
                int n;
                do {
                  n = channel.write(chunk.clear());
                  written.addAndGet(n);
                } while (n > 0);
              }
            });
    long before = -1;
    for (int quietMs = 0; quietMs < QUIET_MS; quietMs++) {
      writer.whenWaiting();
      long now = written.get();
      if (now != before || now == 0) {
        quietMs = 0;
      }
      before = now;
      Thread.sleep(1);
    }
    channel.shutdownOutput();
    // A ClosedChannelException among them, unless the write was in the kernel already.
    assertThat(writer.failure()).isInstanceOf(IOException.class);
    assertThat(selector.selectNow()).isEqualTo(1);
    assertThat(key.isWritable()).isTrue();
  }

  @Test
  void aVirtualThreadMaySelect() throws Exception {
    if (Runtime.version().feature() < 21) {
      return;
    }
    registered(OP_READ);
    Doing<Integer> select = Doing.startVirtual(() -> selector.select()).whenWaiting();
    peer.write(bytes(10, 1));
    assertThat(select.result()).isEqualTo(1);
  }

  @Test
  void anotherThreadMayNotTakeASelectorInUse() throws Exception {
    registered(OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    Doing<Integer> second = Doing.start(() -> selector.selectNow()).whenWaiting();
    selector.wakeup();
    assertThat(select.result()).isZero();
    assertThat(second.result()).isZero();
  }

  // ---- what is reported

  @Test
  void readableIsReportedUntilAllIsRead() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(key.isWritable()).isFalse();
    selector.selectedKeys().clear();
    readFully(channel, 4);
    assertThat(selector.selectNow()).isEqualTo(1);
    selector.selectedKeys().clear();
    readFully(channel, 6);
    assertThat(selector.selectNow()).isZero();
  }

  @Test
  void selectNowSeesWhatHasArrived() throws Exception {
    SelectionKey key = registered(OP_READ);
    assertThat(selector.selectNow()).isZero();
    for (int i = 0; i < 50; i++) {
      feed(1);
      assertThat(selector.selectNow()).isEqualTo(1);
      assertThat(key.isReadable()).isTrue();
      selector.selectedKeys().clear();
      readFully(channel, 1);
    }
  }

  @Test
  void whatArrivedBeforeTheRegistrationIsReported() throws Exception {
    peer.write(bytes(10, 1));
    Await.readable(channel);
    SelectionKey key = registered(OP_READ);
    assertThat(selector.selectNow()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
  }

  @Test
  void writableIsReportedWhileThereIsRoom() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_WRITE);
    selector.selectedKeys().clear();
    assertThat(selector.selectNow()).isEqualTo(1);
  }

  @Test
  void writableEndsWhenFullAndComesBackWhenDrained() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    long n = Bytes.fill(channel);
    Doing<Integer> select = Doing.start(() -> selector.select());
    // Room may come by itself as buffers grow: a few more writes take it.
    while (!select.done()) {
      try {
        select.whenWaiting();
        break;
      } catch (AssertionError e) {
        assertThat(select.result()).isEqualTo(1);
        selector.selectedKeys().clear();
        n += Bytes.fill(channel);
        select = Doing.start(() -> selector.select());
      }
    }
    readFully(peer, (int) n);
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isWritable()).isTrue();
  }

  @Test
  void aSelectingWriterAndAReaderMoveEverything() throws Exception {
    registered(OP_WRITE);
    ByteBuffer all = bytes(12 << 20, 3);
    Doing<ByteBuffer> reader = Doing.start(() -> readFully(peer, 12 << 20));
    ByteBuffer out = all.duplicate();
    while (out.hasRemaining()) {
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
      selector.selectedKeys().clear();
      channel.write(out);
    }
    assertThat(reader.result().equals(all)).isTrue();
  }

  @Test
  void anEndStaysReadable() throws Exception {
    SelectionKey key = registered(OP_READ);
    peer.close();
    for (int i = 0; i < 3; i++) {
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
      assertThat(key.isReadable()).isTrue();
      assertThat(read(channel)).isEqualTo(-1);
      selector.selectedKeys().clear();
    }
    key.interestOps(0);
    assertThat(selector.select(20)).isZero();
  }

  @Test
  void afterTheEndAChannelIsStillWritable() throws Exception {
    SelectionKey key = registered(OP_READ);
    peer.close();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    selector.selectedKeys().clear();
    key.interestOps(OP_WRITE);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isWritable()).isTrue();
  }

  @Test
  void aResetMakesReadableAndWritable() throws Exception {
    SelectionKey key = registered(OP_READ);
    peer.setOption(StandardSocketOptions.SO_LINGER, 0);
    peer.close();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    selector.selectedKeys().clear();
    key.interestOps(OP_READ | OP_WRITE);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_READ | OP_WRITE);
  }

  @Test
  void afterShutdownInputAChannelIsReadable() throws Exception {
    SelectionKey key = registered(OP_READ);
    assertThat(selector.selectNow()).isZero();
    channel.shutdownInput();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
  }

  @Test
  void afterShutdownOutputAChannelIsWritable() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    channel.shutdownOutput();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isWritable()).isTrue();
  }

  @Test
  void acceptableIsReportedWhileConnectionsWait() throws Exception {
    ServerSocketChannel listener = listener();
    Selector accepting = selectorFor(listener);
    SelectionKey key = register(listener, accepting, OP_ACCEPT);
    assertThat(accepting.selectNow()).isZero();
    for (int i = 0; i < 2; i++) {
      client().connect(listener.getLocalAddress());
    }
    for (int i = 0; i < 2; i++) {
      assertThat(accepting.select(SOON_MS)).isEqualTo(1);
      assertThat(key.isAcceptable()).isTrue();
      accepting.selectedKeys().clear();
      assertThat(opened(listener.accept())).isNotNull();
    }
    assertThat(accepting.selectNow()).isZero();
  }

  @Test
  void aConnectionEndsASelectThatWaitsToAccept() throws Exception {
    ServerSocketChannel listener = listener();
    Selector accepting = selectorFor(listener);
    SelectionKey key = register(listener, accepting, OP_ACCEPT);
    Doing<Integer> select = Doing.start(() -> accepting.select()).whenWaiting();
    client().connect(listener.getLocalAddress());
    assertThat(select.result()).isEqualTo(1);
    assertThat(key.isAcceptable()).isTrue();
    assertThat(opened(listener.accept())).isNotNull();
  }

  @Test
  void aRefusedConnectIsConnectableAndThrown() throws Exception {
    SocketAddress nobody = nobody();
    SocketChannel refused = client();
    Selector connecting = selectorFor(refused);
    SelectionKey key = register(refused, connecting, OP_CONNECT);
    assertThatThrownBy(
            () -> {
              if (!refused.connect(nobody)) {
                assertThat(connecting.select(SOON_MS)).isEqualTo(1);
                assertThat(key.isConnectable()).isTrue();
                refused.finishConnect();
              }
            })
        .isInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
    assertThat(refused.isOpen()).isFalse();
    connecting.selectNow();
    assertThat(connecting.keys()).isEmpty();
  }

  @Test
  void aPendingConnectIsNotReported() throws Exception {
    SocketAddress silent = silent();
    SocketChannel pending = client();
    Selector connecting = selectorFor(pending);
    register(pending, connecting, OP_CONNECT);
    pending.connect(silent);
    assertThat(connecting.select(20)).isZero();
  }

  @Test
  void aConnectedChannelIsNotConnectable() throws Exception {
    SelectionKey key = registered(OP_CONNECT | OP_READ);
    feed(1);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(key.isConnectable()).isFalse();
  }

  // ---- how it is counted

  @Test
  void aKeyThatStaysSelectedIsNotCountedAgain() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(selector.select(SOON_MS)).isZero();
    assertThat(selector.selectNow()).isZero();
    assertThat(selector.selectedKeys()).containsExactly(key);
  }

  @Test
  void operationsOfASelectedKeyAddUp() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_READ);
    key.interestOps(OP_READ | OP_WRITE);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_READ | OP_WRITE);
    assertThat(selector.select(SOON_MS)).isZero();
  }

  @Test
  void aSelectedKeyKeepsWhatIsNoLongerReady() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    readFully(channel, 10);
    assertThat(selector.selectNow()).isZero();
    assertThat(key.readyOps()).isEqualTo(OP_READ);
    assertThat(selector.selectedKeys()).containsExactly(key);
  }

  @Test
  void aKeySelectedAnewForgetsWhatWasReadyBefore() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    readFully(channel, 10);
    selector.selectedKeys().clear();
    key.interestOps(OP_WRITE);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_WRITE);
  }

  @Test
  void bothOperationsAreReportedInOneSelect() throws Exception {
    SelectionKey key = registered(OP_READ | OP_WRITE);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_READ | OP_WRITE);
  }

  @Test
  void readyOperationsAreWithinTheInterest() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    feed(10);
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(key.readyOps()).isEqualTo(OP_WRITE);
    assertThat(key.isReadable()).isFalse();
  }

  @Test
  void everyReadyChannelIsReported() throws Exception {
    List<SelectionKey> keys = new ArrayList<>();
    List<SocketChannel> peers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Pair pair = pair();
      keys.add(register(pair.client, selector, OP_READ));
      peers.add(pair.server);
    }
    for (SocketChannel one : peers) {
      one.write(bytes(1, 1));
    }
    int n = 0;
    long start = System.nanoTime();
    while (selector.selectedKeys().size() < 20 && ms(start) < SOON_MS) {
      n += selector.select(100);
    }
    assertThat(n).isEqualTo(20);
    assertThat(selector.selectedKeys()).containsExactlyInAnyOrderElementsOf(keys);
  }

  @Test
  void amongManyIdleChannelsTheOneThatIsReadyIsReported() throws Exception {
    List<SelectionKey> keys = new ArrayList<>();
    List<SocketChannel> peers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      Pair pair = pair();
      keys.add(register(pair.client, selector, OP_READ));
      peers.add(pair.server);
    }
    assertThat(selector.selectNow()).isZero();
    for (int i = 0; i < 20; i++) {
      peers.get(i).write(bytes(1, 1));
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
      assertThat(selector.selectedKeys()).containsExactly(keys.get(i));
      selector.selectedKeys().clear();
      readFully((SocketChannel) keys.get(i).channel(), 1);
    }
  }

  // ---- actions

  @Test
  void anActionIsGivenEachReadyKey() throws Exception {
    SelectionKey key = registered(OP_READ);
    feed(10);
    List<SelectionKey> given = new ArrayList<>();
    assertThat(selector.select(given::add, SOON_MS)).isEqualTo(1);
    assertThat(given).containsExactly(key);
    assertThat(key.isReadable()).isTrue();
    assertThat(selector.selectedKeys()).isEmpty();
  }

  @Test
  void anActionIsGivenAReadyKeyInEverySelect() throws Exception {
    registered(OP_READ);
    feed(10);
    List<SelectionKey> given = new ArrayList<>();
    assertThat(selector.select(given::add, SOON_MS)).isEqualTo(1);
    assertThat(selector.select(given::add)).isEqualTo(1);
    assertThat(selector.selectNow(given::add)).isEqualTo(1);
    assertThat(given).hasSize(3);
    readFully(channel, 10);
    assertThat(selector.selectNow(given::add)).isZero();
  }

  @Test
  void anActionIsNotCalledWithoutReadyKeys() throws Exception {
    registered(OP_READ);
    assertThat(selector.selectNow(k -> assertThat(k).isNull())).isZero();
    assertThat(selector.select(k -> assertThat(k).isNull(), 5)).isZero();
    selector.wakeup();
    assertThat(selector.select(k -> assertThat(k).isNull())).isZero();
  }

  @Test
  void anActionSleepsUntilSomethingIsReady() throws Exception {
    SelectionKey key = registered(OP_READ);
    List<SelectionKey> given = new ArrayList<>();
    Doing<Integer> select = Doing.start(() -> selector.select(given::add)).whenWaiting();
    peer.write(bytes(1, 1));
    assertThat(select.result()).isEqualTo(1);
    assertThat(given).containsExactly(key);
  }

  @Test
  void whatAnActionThrowsComesThrough() throws Exception {
    registered(OP_WRITE);
    assertThatThrownBy(
            () ->
                selector.select(
                    key -> {
                      throw new IllegalArgumentException("mine");
                    }))
        .hasMessage("mine");
    assertThat(selector.selectNow()).isEqualTo(1);
  }

  @Test
  void aWakeupByAnActionIsForTheNextSelectOnly() throws Exception {
    registered(OP_WRITE);
    assertThat(
            selector.select(
                key -> {
                  key.interestOps(0);
                  selector.wakeup();
                }))
        .isEqualTo(1);
    assertThat(selector.select()).isZero();
    theNextSelectSleeps();
  }

  @Test
  void aWakeupWhileAnActionRunsIsForTheNextSelect() throws Exception {
    registered(OP_WRITE);
    CountDownLatch acting = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    Doing<Integer> selects =
        Doing.start(
            () -> {
              int n =
                  selector.select(
                      key -> {
                        key.interestOps(0);
                        acting.countDown();
                        await(woken);
                      });
              return n + selector.select();
            });
    await(acting);
    selector.wakeup();
    woken.countDown();
    assertThat(selects.result()).isEqualTo(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(LATE_MS, TimeUnit.MILLISECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aWakeupBeforeItsActionsEndsOneSelectOnly() throws Exception {
    registered(OP_WRITE);
    selector.wakeup();
    assertThat(selector.select(key -> key.interestOps(0))).isEqualTo(1);
    theNextSelectSleeps();
  }

  @Test
  void anActionMayNotSelect() throws Exception {
    registered(OP_WRITE);
    assertThatThrownBy(
            () ->
                selector.select(
                    key -> {
                      try {
                        selector.selectNow();
                      } catch (IOException e) {
                        throw new UncheckedIOException(e);
                      }
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(selector.selectNow()).isEqualTo(1);
  }

  @Test
  void anActionMayCloseTheSelector() throws Exception {
    registered(OP_WRITE);
    assertThatThrownBy(() -> selector.select(key -> close(selector)))
        .isInstanceOf(ClosedSelectorException.class);
    assertThat(channel.isRegistered()).isFalse();
  }

  @Test
  void anActionMayCloseItsChannel() throws Exception {
    registered(OP_WRITE);
    assertThat(selector.select(key -> close(channel))).isEqualTo(1);
    selector.selectNow();
    assertThat(selector.keys()).isEmpty();
  }

  @Test
  void anActionMayCloseAndCancelOtherKeys() throws Exception {
    registered(OP_WRITE);
    List<SelectionKey> others = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      others.add(register(pair().client, selector, OP_WRITE));
    }
    int n =
        selector.select(
            key -> {
              others.get(0).cancel();
              others.get(1).cancel();
              close(others.get(2).channel());
              close(channel);
            });
    assertThat(n).isBetween(1, 5);
    selector.selectNow();
    assertThat(selector.keys()).containsExactly(others.get(3));
  }

  @Test
  void anActionMayChangeTheInterest() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    assertThat(selector.select(k -> k.interestOps(0))).isEqualTo(1);
    assertThat(selector.selectNow(k -> assertThat(k).isNull())).isZero();
    key.interestOps(OP_WRITE);
    assertThat(selector.selectNow(k -> {})).isEqualTo(1);
  }

  @Test
  void anActionMayRegisterAnotherChannel() throws Exception {
    registered(OP_WRITE);
    SocketChannel other = pair().client;
    other.configureBlocking(false);
    List<SelectionKey> made = new ArrayList<>();
    selector.select(
        key -> {
          try {
            made.add(other.register(selector, OP_WRITE));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          key.interestOps(0);
        });
    List<SelectionKey> given = new ArrayList<>();
    selector.select(given::add, SOON_MS);
    assertThat(given).containsExactlyElementsOf(made);
  }

  @Test
  void anActionMayReadAndWrite() throws Exception {
    registered(OP_READ);
    feed(10);
    int[] n = {0};
    assertThat(
            selector.select(
                key -> {
                  try {
                    n[0] += read(channel) + channel.write(bytes(4, 1));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                },
                SOON_MS))
        .isEqualTo(1);
    assertThat(n[0]).isEqualTo(14);
    assertThat(readFully(peer, 4)).isEqualTo(bytes(4, 1));
  }

  @Test
  void selectsWithAndWithoutActionsMayAlternate() throws Exception {
    SelectionKey key = registered(OP_WRITE);
    assertThat(selector.select()).isEqualTo(1);
    assertThat(selector.selectNow(k -> {})).isEqualTo(1);
    assertThat(selector.selectedKeys()).isSubsetOf(key);
    selector.selectedKeys().clear();
    assertThat(selector.select()).isEqualTo(1);
    assertThat(selector.selectedKeys()).containsExactly(key);
  }

  // ---- several selectors and threads

  @Test
  void oneSelectorMayReadAndAnotherWrite() throws Exception {
    Selector writing = selectorFor(channel);
    registered(OP_READ);
    channel.register(writing, OP_WRITE);
    int total = 6 << 20;
    Doing<Integer> reader =
        Doing.start(
            () -> {
              int n = 0;
              ByteBuffer in = ByteBuffer.allocate(100_000);
              while (n < total) {
                assertThat(selector.select(SOON_MS)).isEqualTo(1);
                selector.selectedKeys().clear();
                n += channel.read(in.clear());
              }
              return n;
            });
    Doing<Integer> writer =
        Doing.start(
            () -> {
              ByteBuffer out = bytes(total, 3);
              while (out.hasRemaining()) {
                assertThat(writing.select(SOON_MS)).isEqualTo(1);
                writing.selectedKeys().clear();
                channel.write(out);
              }
              return out.position();
            });
    Doing<Integer> peerWriter = Doing.start(() -> peer.write(bytes(total, 4)));
    Doing<ByteBuffer> peerReader = Doing.start(() -> readFully(peer, total));
    assertThat(peerReader.result().equals(bytes(total, 3))).isTrue();
    assertThat(reader.result()).isEqualTo(total);
    assertThat(writer.result()).isEqualTo(total);
    assertThat(peerWriter.result()).isEqualTo(total);
  }

  @Test
  void bytesWakeEverySelectorThatWantsThem() throws Exception {
    Selector other = selectorFor(channel);
    registered(OP_READ);
    channel.register(other, OP_READ);
    Doing<Integer> one = Doing.start(() -> selector.select()).whenWaiting();
    Doing<Integer> two = Doing.start(() -> other.select()).whenWaiting();
    peer.write(bytes(1, 1));
    assertThat(one.result()).isEqualTo(1);
    assertThat(two.result()).isEqualTo(1);
  }

  @Test
  void aRegistrationByAnotherThreadCountsFromTheNextSelect() throws Exception {
    peer.write(bytes(1, 1));
    Await.readable(channel);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    registered(OP_READ);
    selector.wakeup();
    int n = select.result();
    assertThat(n == 1 ? n : selector.select(SOON_MS)).isEqualTo(1);
  }

  @Test
  void aRegistrationDoesNotWaitForASelectInProgress() throws Exception {
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    SelectionKey key = registered(OP_READ);
    assertThat(key.isValid()).isTrue();
    assertThat(select.done() ? 0 : 1).isBetween(0, 1);
    selector.wakeup();
    select.result();
  }

  @Test
  void bothEndsInOneSelectorEchoToEachOther() throws Exception {
    if (channel.provider() != peer.provider()) {
      return;
    }
    register(peer, selector, OP_READ);
    registered(OP_READ);
    channel.write(bytes(8, 1));
    int echoes = 0;
    while (echoes < 200) {
      assertThat(selector.select(SOON_MS)).isPositive();
      for (SelectionKey key : selector.selectedKeys()) {
        SocketChannel ready = (SocketChannel) key.channel();
        ByteBuffer in = ByteBuffer.allocate(8);
        int n = ready.read(in);
        echoes += n == 0 ? 0 : 1;
        Bytes.writeFully(ready, in.flip());
      }
      selector.selectedKeys().clear();
    }
  }
}
