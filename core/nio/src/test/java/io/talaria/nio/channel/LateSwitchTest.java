// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.shm.OwnProvider;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The peer has switched to a transport and closed, and the end of the control connection is here
 * before the switch, because the two go different ways: readers wait for it, as long as the
 * transport expects more.
 */
@Timeout(60)
class LateSwitchTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

  /** So many looks of one who waits, that he would have found an end. */
  private static final int LOOKS = 3;

  private SelectorProvider provider;
  private TransportProvider transport;
  private SocketChannel channel;

  // What the transport knows.
  private volatile StreamOwner owner;
  private volatile boolean told;
  private volatile boolean settled;
  private volatile boolean byReset;
  private volatile long switchAt = -1;
  private volatile boolean finished;
  private volatile boolean outputGoesOn;
  private final AtomicInteger room = new AtomicInteger();
  private volatile ByteBuffer bytes = ByteBuffer.allocate(0);
  private final AtomicInteger looks = new AtomicInteger();

  private Object answer(Object stream, Method method, Object[] arguments) {
    return switch (method.getName()) {
      case "owner" -> {
        owner = (StreamOwner) arguments[0];
        yield null;
      }
      case "attachment" -> channel;
      case "transport" -> transport;
      case "wakesByItself", "established", "peerInputSwitched", "flushed" -> true;
      case "peerSwitchAt" -> switchAt;
      case "peerInputTaken" -> 0L;
      case "detail" -> "a fake";
      case "controlEnded" -> {
        told = true;
        yield settled && byReset;
      }
      case "expectsMore" -> told && !settled;
      case "outputGoesOn" -> outputGoesOn;
      case "write" -> write((ByteBuffer) arguments[0]);
      case "read" -> read((ByteBuffer) arguments[0]);
      case "available" -> bytes.remaining();
      case "unread" -> bytes.hasRemaining();
      case "await", "watch", "watchEvery" -> {
        if (told) {
          looks.incrementAndGet();
        }
        yield (ready() & (int) arguments[0]) == 0;
      }
      case "readiness" -> ready() & (int) arguments[0];
      default -> {
        Class<?> type = method.getReturnType();
        yield type == boolean.class
            ? (Object) false
            : type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
      }
    };
  }

  private int ready() {
    boolean readable = bytes.hasRemaining() || finished || (settled && !outputGoesOn);
    return (readable ? TransportStream.READ : 0) | (room.get() > 0 ? TransportStream.WRITE : 0);
  }

  private int write(ByteBuffer from) {
    int n = Math.min(from.remaining(), room.get());
    from.position(from.position() + n);
    room.addAndGet(-n);
    return n;
  }

  private int read(ByteBuffer to) {
    int n = Math.min(to.remaining(), bytes.remaining());
    for (int i = 0; i < n; i++) {
      to.put(bytes.get());
    }
    return n > 0 ? n : finished ? TransportStream.END : 0;
  }

  /** The peer's end of the connection is closed, and this side has found that out, or will. */
  @BeforeEach
  void connect() throws Exception {
    provider = OwnProvider.open().provider();
    transport = anyTransport();
    try (ServerSocketChannel plain = JdkNio.provider().openServerSocketChannel()) {
      plain.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel = provider.openSocketChannel();
      channel.connect(plain.getLocalAddress());
      try (SocketChannel peer = plain.accept()) {
        TransportStream stream =
            (TransportStream)
                Proxy.newProxyInstance(
                    LateSwitchTest.class.getClassLoader(),
                    new Class<?>[] {TransportStream.class},
                    this::answer);
        assertThat(((TalariaSocketChannel) channel).connectionPath().upgrade().attach(stream))
            .isTrue();
        assertThat(peer.isOpen()).isTrue();
      }
    }
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
  }

  /** One that selectors know. */
  private TransportProvider anyTransport() throws IOException {
    try (ServerSocketChannel listener = provider.openServerSocketChannel();
        SocketChannel client = provider.openSocketChannel()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      client.connect(listener.getLocalAddress());
      try (SocketChannel server = listener.accept()) {
        ConnectionPath connectionPath = ((TalariaSocketChannel) client).connectionPath();
        until(() -> connectionPath.stream() != null);
        assertThat(server.isOpen()).isTrue();
        return connectionPath.stream().transport();
      }
    }
  }

  private static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
  }

  private static <T> FutureTask<T> started(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "waiting");
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  private void assertWaits(FutureTask<?> task) {
    until(() -> looks.get() >= LOOKS || task.isDone());
    assertThat(task.isDone()).isFalse();
  }

  private void switchWith(int count) {
    bytes = ByteBuffer.allocate(count);
    finished = true;
    switchAt = 0;
    owner.wake();
  }

  private int readOnce() throws IOException {
    return channel.read(ByteBuffer.allocate(100));
  }

  @Test
  void aReaderGetsTheBytesBehindTheEnd() throws Exception {
    FutureTask<Integer> reader = started(this::readOnce);
    assertWaits(reader);
    switchWith(7);
    assertThat(reader.get()).isEqualTo(7);
    assertThat(readOnce()).isEqualTo(-1);
  }

  @Test
  void aReaderGetsTheEndOnceNoMoreIsExpected() throws Exception {
    FutureTask<Integer> reader = started(this::readOnce);
    assertWaits(reader);
    settled = true;
    owner.wake();
    assertThat(reader.get()).isEqualTo(-1);
    assertThat(readOnce()).isEqualTo(-1);
  }

  @Test
  void aReaderGetsTheResetThatIsKnownLate() throws Exception {
    FutureTask<Integer> reader = started(this::readOnce);
    assertWaits(reader);
    byReset = true;
    settled = true;
    owner.wake();
    assertThatThrownBy(reader::get)
        .hasCauseInstanceOf(SocketException.class)
        .hasRootCauseMessage("Connection reset");
  }

  /** A thread that looked without rest would come here some million times. */
  @Test
  void aReaderRestsMeanwhile() throws Exception {
    FutureTask<Integer> reader = started(this::readOnce);
    assertWaits(reader);
    Thread.sleep(300);
    assertThat(looks.get()).isLessThan(10_000);
    settled = true;
    owner.wake();
    assertThat(reader.get()).isEqualTo(-1);
  }

  private FutureTask<Integer> selecting(Selector selector) throws IOException {
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ);
    FutureTask<Integer> task = started(selector::select);
    until(() -> (told && looks.get() > 0) || task.isDone());
    assertThat(task.isDone()).isFalse();
    return task;
  }

  @Test
  void aSelectorWakesForTheBytesBehindTheEnd() throws Exception {
    try (Selector selector = provider.openSelector()) {
      FutureTask<Integer> select = selecting(selector);
      switchWith(7);
      assertThat(select.get()).isEqualTo(1);
      assertThat(readOnce()).isEqualTo(7);
      assertThat(readOnce()).isEqualTo(-1);
    }
  }

  @Test
  void aSelectorWakesOnceNoMoreIsExpected() throws Exception {
    try (Selector selector = provider.openSelector()) {
      FutureTask<Integer> select = selecting(selector);
      settled = true;
      owner.wake();
      assertThat(select.get()).isEqualTo(1);
      assertThat(readOnce()).isEqualTo(-1);
    }
  }

  // ---- a peer that has ended its output on TCP, and reads on

  @Test
  void aWriterWaitsForRoomThoughThePeersOutputHasEnded() throws Exception {
    outputGoesOn = true;
    settled = true;
    assertThat(readOnce()).isEqualTo(-1);
    looks.set(0);
    FutureTask<Integer> writer = started(() -> channel.write(ByteBuffer.allocate(9)));
    until(() -> looks.get() > 0 || writer.isDone());
    Thread.sleep(300);
    assertThat(writer.isDone()).isFalse();
    assertThat(looks.get()).as("looks of one who rests").isLessThan(10_000);
    room.set(9);
    owner.wake();
    assertThat(writer.get()).isEqualTo(9);
    assertThat(readOnce()).isEqualTo(-1);
  }

  @Test
  void aSelectorFindsTheEndAndThenWaitsForRoom() throws Exception {
    try (Selector selector = provider.openSelector()) {
      FutureTask<Integer> select = selecting(selector);
      outputGoesOn = true;
      settled = true;
      owner.wake();
      assertThat(select.get()).isEqualTo(1);
      assertThat(readOnce()).isEqualTo(-1);
      channel.keyFor(selector).interestOps(SelectionKey.OP_WRITE);
      selector.selectedKeys().clear();
      looks.set(0);
      FutureTask<Integer> again = started(selector::select);
      until(() -> looks.get() > 0 || again.isDone());
      assertThat(again.isDone()).isFalse();
      room.set(5);
      owner.wake();
      assertThat(again.get()).isEqualTo(1);
      assertThat(channel.write(ByteBuffer.allocate(9))).isEqualTo(5);
    }
  }
}
