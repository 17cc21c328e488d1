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
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels of other kinds that stand beside a connection in one selector. */
class NeighboursContractTest extends Contract {
  private static final long SOON_MS = 10_000;

  @TempDir Path dir;

  private SelectorProvider provider;
  private SocketChannel channel;
  private SocketChannel peer;
  private Selector selector;
  private SelectionKey key;

  NeighboursContractTest(Variant variant) {
    super(variant);
  }

  @BeforeEach
  void open() throws IOException {
    provider = variant.client();
    Pair pair = pair();
    channel = pair.client;
    peer = pair.server;
    selector = selectorFor(channel);
    key = register(channel, selector, OP_READ);
  }

  private Pipe pipe() throws IOException {
    Pipe pipe = provider.openPipe();
    opened(pipe.source());
    opened(pipe.sink());
    return pipe;
  }

  private DatagramChannel datagrams() throws IOException {
    DatagramChannel datagrams = opened(provider.openDatagramChannel());
    datagrams.bind(new InetSocketAddress(Pair.LOOPBACK, 0));
    return datagrams;
  }

  private void assertSelects(SelectionKey expected) throws IOException {
    selector.selectedKeys().clear();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(selector.selectedKeys()).containsExactly(expected);
  }

  private void assertConnectionIsHeard() throws IOException {
    peer.write(bytes(1, 1));
    assertSelects(key);
    readFully(channel, 1);
  }

  @Test
  void aPipeIsHeardBesideAConnection() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    for (int i = 0; i < 20; i++) {
      pipe.sink().write(bytes(1, 1));
      assertSelects(source);
      assertThat(read(pipe.source())).isEqualTo(1);
      assertConnectionIsHeard();
    }
  }

  @Test
  void thePipesSinkIsWritable() throws Exception {
    Pipe pipe = pipe();
    SelectionKey sink = register(pipe.sink(), selector, OP_WRITE);
    assertSelects(sink);
    assertThat(sink.isWritable()).isTrue();
  }

  @Test
  void aPipeWakesASleepingSelect() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    pipe.sink().write(bytes(1, 1));
    assertThat(select.result()).isEqualTo(1);
    assertThat(source.isReadable()).isTrue();
  }

  @Test
  void aSelectThatIsWokenReportsAPipeAllTheSame() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    pipe.sink().write(bytes(1, 1));
    selector.wakeup();
    assertSelects(source);
  }

  @Test
  void anInterruptedSelectReportsAPipeAllTheSame() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    pipe.sink().write(bytes(1, 1));
    Thread.currentThread().interrupt();
    try {
      assertSelects(source);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void theEndOfAPipeIsReadable() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    pipe.sink().close();
    assertSelects(source);
    assertThat(read(pipe.source())).isEqualTo(-1);
  }

  @Test
  void datagramsAreHeardBesideAConnection() throws Exception {
    DatagramChannel datagrams = datagrams();
    SelectionKey datagram = register(datagrams, selector, OP_READ);
    for (int i = 0; i < 20; i++) {
      datagrams.send(bytes(1, 1), datagrams.getLocalAddress());
      assertSelects(datagram);
      assertThat(datagrams.receive(ByteBuffer.allocate(10))).isNotNull();
      assertConnectionIsHeard();
    }
  }

  @Test
  void aDatagramWakesASleepingSelect() throws Exception {
    DatagramChannel datagrams = datagrams();
    SelectionKey datagram = register(datagrams, selector, OP_READ);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    datagrams.send(bytes(1, 1), datagrams.getLocalAddress());
    assertThat(select.result()).isEqualTo(1);
    assertThat(datagram.isReadable()).isTrue();
  }

  @Test
  void unixConnectionsAreHeardBesideAConnection() throws Exception {
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(dir.resolve("s"));
    ServerSocketChannel listener =
        opened(provider.openServerSocketChannel(StandardProtocolFamily.UNIX));
    listener.bind(address);
    SelectionKey accept = register(listener, selector, OP_ACCEPT);
    assertThat(selector.selectNow()).isZero();
    SocketChannel client = opened(provider.openSocketChannel(StandardProtocolFamily.UNIX));
    client.connect(address);
    assertSelects(accept);
    SocketChannel server = opened(listener.accept());
    SelectionKey read = register(server, selector, OP_READ);
    for (int i = 0; i < 20; i++) {
      client.write(bytes(3, i));
      assertSelects(read);
      assertThat(readFully(server, 3)).isEqualTo(bytes(3, i));
      assertConnectionIsHeard();
    }
    client.close();
    assertSelects(read);
    assertThat(read(server)).isEqualTo(-1);
  }

  @Test
  void aListenerIsHeardBesideAConnection() throws Exception {
    ServerSocketChannel listener = opened(Pair.listen(provider));
    SelectionKey accept = register(listener, selector, OP_ACCEPT);
    for (int i = 0; i < 5; i++) {
      SocketChannel client = client();
      client.connect(listener.getLocalAddress());
      assertSelects(accept);
      assertThat(opened(listener.accept())).isNotNull();
      assertConnectionIsHeard();
    }
  }

  @Test
  void aConnectIsHeardBesideAConnection() throws Exception {
    ServerSocketChannel listener = listener();
    SocketChannel client = client();
    SelectionKey connect = register(client, selector, OP_CONNECT);
    if (!client.connect(listener.getLocalAddress())) {
      assertSelects(connect);
      assertThat(client.finishConnect()).isTrue();
    }
    connect.interestOps(0);
    assertConnectionIsHeard();
  }

  @Test
  void aBusyConnectionDoesNotSilenceAPipe() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    peer.write(bytes(1, 1));
    pipe.sink().write(bytes(1, 1));
    boolean[] heard = {false};
    Await.until(
        "the pipe beside a connection that is always readable",
        () -> {
          selector.select();
          heard[0] |= selector.selectedKeys().contains(source);
          selector.selectedKeys().clear();
          return heard[0];
        });
  }

  @Test
  void aBusyPipeDoesNotSilenceAConnection() throws Exception {
    Pipe pipe = pipe();
    register(pipe.source(), selector, OP_READ);
    pipe.sink().write(bytes(1, 1));
    peer.write(bytes(1, 1));
    boolean[] heard = {false};
    Await.until(
        "a connection beside a pipe that is always readable",
        () -> {
          selector.select();
          heard[0] |= selector.selectedKeys().contains(key);
          selector.selectedKeys().clear();
          return heard[0];
        });
  }

  @Test
  void closedNeighboursLeaveWithTheNextSelect() throws Exception {
    Pipe pipe = pipe();
    DatagramChannel datagrams = datagrams();
    register(pipe.source(), selector, OP_READ);
    register(datagrams, selector, OP_READ);
    selector.selectNow();
    pipe.sink().close();
    pipe.source().close();
    datagrams.close();
    selector.selectNow();
    assertThat(selector.keys()).containsExactly(key);
    assertConnectionIsHeard();
  }

  @Test
  void aNeighbourMayBecomeBlockingOnceItsKeyIsGone() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    selector.selectNow();
    assertThatThrownBy(() -> pipe.source().configureBlocking(true))
        .isInstanceOf(IllegalBlockingModeException.class);
    source.cancel();
    selector.selectNow();
    pipe.source().configureBlocking(true);
    pipe.sink().write(bytes(1, 1));
    assertThat(read(pipe.source())).isEqualTo(1);
  }

  @Test
  void aNeighbourMayMoveToAnotherSelector() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    selector.selectNow();
    source.cancel();
    Selector other = selectorFor(channel);
    SelectionKey moved = pipe.source().register(other, OP_READ);
    pipe.sink().write(bytes(1, 1));
    assertThat(other.select(SOON_MS)).isEqualTo(1);
    assertThat(moved.isReadable()).isTrue();
    assertThat(selector.selectNow()).isZero();
    assertThat(selector.keys()).containsExactly(key);
  }

  @Test
  void aNeighboursKeyIsAsGoodAsAnother() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    assertThat(pipe.source().keyFor(selector)).isSameAs(source);
    assertThat(pipe.source().isRegistered()).isTrue();
    assertThat(source.attach("a")).isNull();
    assertThat(source.channel()).isSameAs(pipe.source());
    assertThat(source.selector()).isSameAs(selector);
    assertThat(source.interestOps(0)).isSameAs(source);
    pipe.sink().write(bytes(1, 1));
    assertThat(selector.select(20)).isZero();
    assertThat(source.interestOpsOr(OP_READ)).isZero();
    assertSelects(source);
    source.cancel();
    selector.selectNow();
    assertThat(pipe.source().isRegistered()).isFalse();
  }

  @Test
  void closingTheSelectorLeavesTheNeighboursOpen() throws Exception {
    Pipe pipe = pipe();
    SelectionKey source = register(pipe.source(), selector, OP_READ);
    selector.close();
    assertThat(source.isValid()).isFalse();
    assertThat(pipe.source().isOpen()).isTrue();
    assertThat(pipe.source().isRegistered()).isFalse();
    pipe.source().configureBlocking(true);
    pipe.sink().write(bytes(1, 1));
    assertThat(read(pipe.source())).isEqualTo(1);
  }

  @Test
  void channelsOfOtherKindsComeFromTheProvider() throws Exception {
    assertThat(pipe().source().isBlocking()).isTrue();
    assertThat(datagrams().isOpen()).isTrue();
    assertThat(opened(provider.openDatagramChannel(StandardProtocolFamily.INET)).isOpen()).isTrue();
    assertThatThrownBy(() -> provider.openSocketChannel(null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> provider.openServerSocketChannel(null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> provider.openDatagramChannel(null))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  void channelsOfOneProtocolFamilyConnect() throws Exception {
    ServerSocketChannel listener =
        opened(variant.server().openServerSocketChannel(StandardProtocolFamily.INET));
    listener.bind(new InetSocketAddress("127.0.0.1", 0));
    SocketChannel client = opened(variant.client().openSocketChannel(StandardProtocolFamily.INET));
    client.connect(listener.getLocalAddress());
    SocketChannel server = opened(listener.accept());
    client.write(bytes(10, 1));
    assertThat(readFully(server, 10)).isEqualTo(bytes(10, 1));
  }

  @Test
  void anAddressOfAnotherFamilyIsRefused() throws Exception {
    SocketChannel client = opened(variant.client().openSocketChannel(StandardProtocolFamily.INET));
    assertThatThrownBy(() -> client.connect(new InetSocketAddress("::1", 1)))
        .isInstanceOf(java.nio.channels.UnsupportedAddressTypeException.class);
    assertThat(client.isOpen()).isTrue();
  }

  @Test
  void aNeighbourThatIsClosedWhileASelectSleepsIsFreed() throws Exception {
    Pipe pipe = pipe();
    register(pipe.sink(), selector, 0);
    Doing<Integer> select = Doing.start(() -> selector.select()).whenWaiting();
    pipe.sink().close();
    selector.wakeup();
    assertThat(select.result()).isZero();
    assertThat(selector.keys()).containsExactly(key);
    pipe.source().configureBlocking(false);
    assertThat(read(pipe.source())).as("the end").isEqualTo(-1);
  }

  @Test
  void aNewKeyIsHeardByTheNextSelectThoughAnotherIsCancelled() throws Exception {
    Pipe busy = pipe();
    Pipe left = pipe();
    Pipe late = pipe();
    SelectionKey first = register(busy.source(), selector, OP_READ);
    SelectionKey gone = register(left.source(), selector, OP_READ);
    busy.sink().write(bytes(1, 1));
    late.sink().write(bytes(1, 1));
    assertSelects(first);
    gone.cancel();
    SelectionKey second = register(late.source(), selector, OP_READ);
    selector.selectedKeys().clear();
    assertThat(selector.selectNow()).isEqualTo(2);
    assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(first, second);
  }
}
