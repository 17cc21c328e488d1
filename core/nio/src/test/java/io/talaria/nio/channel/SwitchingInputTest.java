// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Role;
import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.jdk.JdkProbe;
import io.talaria.nio.shm.OwnProvider;
import io.talaria.nio.transport.TransportStream;
import java.lang.reflect.InvocationHandler;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is taken from TCP while a connection switches. */
@Timeout(60)
class SwitchingInputTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

  /** A stream over which nobody has agreed yet. */
  private static TransportStream stream(InvocationHandler answers) {
    return (TransportStream)
        Proxy.newProxyInstance(
            SwitchingInputTest.class.getClassLoader(),
            new Class<?>[] {TransportStream.class},
            answers);
  }

  private static Object answer(Object stream, Method method, Object[] arguments) {
    Class<?> type = method.getReturnType();
    return switch (method.getName()) {
      case "peerSwitchAt" -> -1L;
      case "withdraw" -> true;
      default ->
          type == boolean.class
              ? (Object) false
              : type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
    };
  }

  /** Has so many bytes on the way to the channel, and waits until they are there. */
  private static void send(SocketChannel peer, TalariaSocketChannel to, int count)
      throws Exception {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      peer.write(bytes);
    }
    long start = System.nanoTime();
    while (to.control().socket().getInputStream().available() < count) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
  }

  private static void pull(SwitchingInput input, TalariaSocketChannel channel, int wanted) {
    channel.readLock().lock();
    try {
      input.pull(wanted);
    } finally {
      channel.readLock().unlock();
    }
  }

  private interface Use {
    void with(TalariaSocketChannel ours, SocketChannel peer) throws Exception;
  }

  /** Connects a channel of ours, which gets the stream, with one of the JDK. */
  private static void connected(TransportStream stream, Use use) throws Exception {
    try (ServerSocketChannel plain = JdkNio.provider().openServerSocketChannel()) {
      plain.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel channel = OwnProvider.open().provider().openSocketChannel()) {
        channel.connect(plain.getLocalAddress());
        TalariaSocketChannel ours = (TalariaSocketChannel) channel;
        assertThat(ours.connectionPath().upgrade().attach(stream)).isTrue();
        try (SocketChannel peer = plain.accept()) {
          use.with(ours, peer);
        }
      }
    }
  }

  @Test
  void whatIsKeptHasAsMuchMemoryAsItNeeds() throws Exception {
    TransportStream stream = stream(SwitchingInputTest::answer);
    connected(
        stream,
        (ours, peer) -> {
          SwitchingInput input =
              new SwitchingInput(
                  ours.connectionPath(),
                  stream,
                  ours.control(),
                  ProcessCounters.onHeap("a test").connection(Role.CLIENT, null, null),
                  0);
          send(peer, ours, 3);
          pull(input, ours, SwitchingInput.KEPT_BYTES);
          assertThat(input.kept().remaining()).isEqualTo(3);
          assertThat(input.kept().capacity()).isEqualTo(ControlLink.DOORBELLS_AT_ONCE);

          send(peer, ours, 10_000);
          pull(input, ours, SwitchingInput.KEPT_BYTES);
          assertThat(input.takenBytes()).isEqualTo(10_003);
          assertThat(input.kept().remaining()).isEqualTo(10_003);
          assertThat(input.kept().capacity()).isEqualTo(10_003);

          pull(input, ours, SwitchingInput.KEPT_BYTES);
          assertThat(input.over()).as("nothing more yet is not the end").isFalse();
          assertThat(input.takenBytes()).isEqualTo(10_003);

          send(peer, ours, 5_000);
          pull(input, ours, 2_000);
          assertThat(input.takenBytes()).as("no more than there is room for").isEqualTo(12_003);
        });
  }

  /** Has a connection that may switch, over a stream that can be withdrawn, and bytes for it. */
  private static void withBytesOnTcp(TransportStream stream, Use use) throws Exception {
    connected(
        stream,
        (ours, peer) -> {
          assertThat(ours.connectionPath().input().tryAccept()).isTrue();
          send(peer, ours, 3);
          use.with(ours, peer);
        });
  }

  /** Holds the negotiation thread between TCP and what is kept, until a closer has looked. */
  private static void withBytesOnTheirWay(Use use) throws Exception {
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    TransportStream stream =
        stream(
            (self, method, arguments) -> {
              if (method.getName().equals("inputTaken") && (long) arguments[0] > 0) {
                taken.countDown();
                goOn.await();
              }
              return answer(self, method, arguments);
            });
    withBytesOnTcp(
        stream,
        (ours, peer) -> {
          Thread negotiation = new Thread(ours.connectionPath().input()::controlReadable);
          negotiation.start();
          taken.await();
          Thread later =
              new Thread(
                  () -> {
                    LockSupport.parkNanos(20_000_000); // who looks is there first
                    goOn.countDown();
                  });
          later.start();
          use.with(ours, peer);
          negotiation.join();
          later.join();
        });
  }

  private static void assertReset(SocketChannel peer) {
    assertThatThrownBy(() -> peer.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void bytesOnTheirWayFromTcpAreUnread() throws Exception {
    withBytesOnTheirWay(
        (ours, peer) -> assertThat(ours.connectionPath().input().unreadTcp()).isTrue());
  }

  @Test
  void anEndOnTcpWithBytesOnTheirWayIsReset() throws Exception {
    withBytesOnTheirWay(
        (ours, peer) -> {
          ours.close();
          assertReset(peer);
        });
  }

  @Test
  void nothingIsTakenBetweenTheEndAndTheClose() throws Exception {
    withBytesOnTcp(
        stream(SwitchingInputTest::answer),
        (ours, peer) -> {
          ours.connectionPath().output().end();
          ours.connectionPath().input().controlReadable();
          ours.close();
          assertReset(peer);
        });
  }

  /** The peer has decided for the stream, which this side, whose output stays, has yet to hear. */
  @Test
  void aCloseOnTcpWithBytesUnreadOnTheTransportIsReset() throws Exception {
    TransportStream stream =
        stream(
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "peerSwitchAt" -> 0L;
                  case "unread" -> true;
                  default -> answer(self, method, arguments);
                });
    connected(
        stream,
        (ours, peer) -> {
          ours.close();
          assertReset(peer);
        });
  }

  /**
   * A selector has reported the end of the peer's output, and a stream comes before the program
   * reads, over which the peer might be believed to switch.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void anEndThatStandsBeforeTheConsentIsTheInputs(int bytesBefore) throws Exception {
    AtomicBoolean withdrawn = new AtomicBoolean();
    TransportStream stream =
        stream(
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "withdraw" -> {
                    withdrawn.set(true);
                    yield true;
                  }
                  case "withdrawn" -> withdrawn.get();
                  case "wakesByItself" -> true;
                  case "expectsMore" -> !withdrawn.get();
                  default -> answer(self, method, arguments);
                });
    try (ServerSocketChannel plain = JdkNio.provider().openServerSocketChannel();
        SocketChannel channel = OwnProvider.open().provider().openSocketChannel();
        Selector selector = channel.provider().openSelector()) {
      plain.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel.connect(plain.getLocalAddress());
      channel.configureBlocking(false);
      SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
      try (SocketChannel peer = plain.accept()) {
        TalariaSocketChannel ours = (TalariaSocketChannel) channel;
        send(peer, ours, bytesBefore);
        peer.shutdownOutput();
        awaitEnd(ours);
        assertThat(selector.select()).isEqualTo(1);
        assertThat(ours.connectionPath().upgrade().attach(stream)).isTrue();
        assertThat(key.isReadable()).isTrue();
        ByteBuffer room = ByteBuffer.allocate(10);
        while (room.position() < bytesBefore) {
          assertThat(channel.read(room)).isPositive();
        }
        assertThat(channel.read(room)).isEqualTo(-1);
        selector.selectedKeys().clear();
        assertThat(selector.select()).as("reports the end again").isEqualTo(1);
        assertThat(channel.read(room)).isEqualTo(-1);
        assertThat(channel.write(ByteBuffer.allocate(5))).isEqualTo(5);
        assertThat(peer.read(ByteBuffer.allocate(10))).isEqualTo(5);
      }
    }
  }

  private static void awaitEnd(TalariaSocketChannel of) {
    long start = System.nanoTime();
    while (!JdkProbe.inputOver(of.control())) {
      assertThat(System.nanoTime() - start).as("time").isLessThan(DEADLINE_NS);
      Thread.onSpinWait();
    }
  }
}
