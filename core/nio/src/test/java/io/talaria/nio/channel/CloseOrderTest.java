// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.NioTransport;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.shm.OwnProvider;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stream is released when its close has looked at it for the last time, not before. */
@Timeout(60)
class CloseOrderTest {
  private final List<String> calls = new CopyOnWriteArrayList<>();
  private ServerSocketChannel plain;

  /** Stays open during a test: its end would end the lingering. */
  private SocketChannel peer;

  private TalariaSocketChannel channel;
  private volatile boolean flushed = true;
  private volatile boolean peerSwitched = true;
  private volatile boolean peerTakesNothing;
  private int bytesOnTcp;
  private volatile boolean failing;

  private Object answer(Object stream, Method method, Object[] arguments) throws Exception {
    calls.add(method.getName());
    return switch (method.getName()) {
      case "transport" -> transport();
      case "established" -> true;
      case "peerInputSwitched" -> peerSwitched;
      case "peerInputClosed" -> peerTakesNothing;
      case "peerSwitchAt" -> -1L;
      case "detail" -> "a fake";
      case "flushed" -> {
        if (failing) {
          throw new IllegalStateException("as the test wants");
        }
        Thread selecting = new Thread(channel::deregistered); // a selector removes its key now
        selecting.start();
        selecting.join();
        yield flushed;
      }
      default -> {
        Class<?> type = method.getReturnType();
        yield type == boolean.class
            ? (Object) false
            : type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
      }
    };
  }

  private static TransportProvider transport() {
    return (TransportProvider)
        Proxy.newProxyInstance(
            CloseOrderTest.class.getClassLoader(),
            new Class<?>[] {TransportProvider.class},
            (transport, method, arguments) ->
                method.getName().equals("kind") ? NioTransport.SHM : null);
  }

  @BeforeEach
  void listen() throws IOException {
    plain = JdkNio.provider().openServerSocketChannel();
    plain.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  @AfterEach
  void closePeer() throws IOException {
    plain.close();
    if (peer != null) {
      peer.close();
    }
  }

  private void close() throws Exception {
    SelectorProvider talaria = OwnProvider.open().provider();
    try (SocketChannel client = talaria.openSocketChannel()) {
      client.connect(plain.getLocalAddress());
      peer = plain.accept();
      channel = (TalariaSocketChannel) client;
      client.write(ByteBuffer.allocate(bytesOnTcp));
      TransportStream stream =
          (TransportStream)
              Proxy.newProxyInstance(
                  CloseOrderTest.class.getClassLoader(),
                  new Class<?>[] {TransportStream.class},
                  this::answer);
      assertThat(channel.connectionPath().upgrade().attach(stream)).isTrue();
      closeNow(client);
    }
  }

  private static void closeNow(AutoCloseable one) throws Exception {
    one.close();
  }

  @Test
  void notWhileTheCloseLooksWhetherAllIsDelivered() throws Exception {
    close();
    assertThat(calls).containsOnlyOnce("release").endsWith("release").contains("flushed");
  }

  @Test
  void notWhileTheControlConnectionLingers() throws Exception {
    flushed = false;
    close();
    for (int i = 0; i < 5; i++) {
      channel.deregistered();
    }
    assertThat(calls).contains("flushed").doesNotContain("release");
    flushed = true;
    awaitRelease();
  }

  /** Both sides may close while neither has yet seen the switch of the other. */
  @Test
  void aPeerThatHasClosedItselfIsNotWaitedFor() throws Exception {
    bytesOnTcp = 1;
    peerSwitched = false;
    peerTakesNothing = true;
    close();
    assertThat(calls).contains("release");
    assertThat(channel.control().isOpen()).isFalse();
  }

  @Test
  void theControlConnectionLingersUntilThePeerClosesItself() throws Exception {
    bytesOnTcp = 1;
    peerSwitched = false;
    close();
    assertThat(channel.control().isOpen()).as("lingers").isTrue();
    peerTakesNothing = true;
    awaitRelease();
    assertThat(channel.control().isOpen()).isFalse();
  }

  private void awaitRelease() throws InterruptedException {
    long start = System.nanoTime();
    while (!calls.contains("release")) {
      assertThat(System.nanoTime() - start).as("time to release").isLessThan(30_000_000_000L);
      Thread.sleep(1);
    }
    assertThat(calls).containsOnlyOnce("release").endsWith("release");
  }

  @Test
  void aLookThatAlwaysFailsKeepsNeitherTheStreamNorTheControlConnection() throws Exception {
    flushed = false;
    close();
    assertThat(channel.control().isOpen()).as("lingers").isTrue();
    failing = true;
    awaitRelease();
    assertThat(channel.control().isOpen()).isFalse();
  }
}
