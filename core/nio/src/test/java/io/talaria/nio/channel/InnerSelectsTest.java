// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.counters.file.SelectorTotals;
import io.talaria.nio.shm.OwnProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * How often a select asks the JDK's selector, each time with a system call: as often as the JDK's
 * own if it may not spin. Looks that do not sleep are the difference of the two counters.
 */
@Timeout(90)
class InnerSelectsTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int SELECTS = 20;

  /** Long enough not to be over before the thread comes to sleep, where others want the core. */
  private static final long VAIN_MS = 50;

  private ProcessCounters counters;
  private ServerSocketChannel listener;
  private SocketChannel client;
  private SocketChannel server;
  private Selector selector;

  @BeforeEach
  void open() throws Exception {
    System.setProperty("talaria.spin.ns", "0");
    SelectorProvider provider;
    try {
      OwnProvider own = OwnProvider.open();
      provider = own.provider();
      counters = own.counters();
    } finally {
      System.clearProperty("talaria.spin.ns");
    }
    listener = provider.openServerSocketChannel();
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    client = provider.openSocketChannel();
    client.connect(listener.getLocalAddress());
    server = listener.accept();
    client.configureBlocking(false);
    server.configureBlocking(false);
    listener.configureBlocking(false);
    selector = provider.openSelector();
  }

  @AfterEach
  void close() throws Exception {
    selector.close();
    client.close();
    server.close();
    listener.close();
  }

  private long innerSelects() {
    return counters.totals().selectors().innerSelects();
  }

  private void selectInVain() throws Exception {
    assertThat(selector.select(VAIN_MS)).isZero();
  }

  /** Sends bytes until those that come are in shared memory. */
  private void accelerate() throws Exception {
    ConnectionPath connectionPath = ((TalariaSocketChannel) server).connectionPath();
    long start = System.nanoTime();
    ByteBuffer in = ByteBuffer.allocate(64);
    while (!connectionPath.switched()
        || !((TalariaSocketChannel) client).connectionPath().switched()) {
      assertThat(System.nanoTime() - start).as("%s", server).isLessThan(DEADLINE_NS);
      for (SocketChannel channel : new SocketChannel[] {client, server}) {
        channel.write(ByteBuffer.wrap(new byte[] {1}));
        channel.read(in.clear());
      }
    }
    for (int i = 0; i < 100; i++) { // what is under way
      Thread.sleep(1);
      client.read(in.clear());
      server.read(in.clear());
      selector.selectNow();
      selector.selectedKeys().clear();
    }
  }

  @Test
  void aSelectThatSleepsAsksTheJdksSelectorOnce() throws Exception {
    listener.register(selector, SelectionKey.OP_ACCEPT);
    selectInVain();
    long before = innerSelects();

    for (int i = 0; i < SELECTS; i++) {
      selectInVain();
    }

    assertThat(innerSelects() - before).isEqualTo(SELECTS);
  }

  @Test
  void soDoesOneWithAnAcceleratedConnection() throws Exception {
    listener.register(selector, SelectionKey.OP_ACCEPT);
    server.register(selector, SelectionKey.OP_READ);
    accelerate();
    selectInVain();
    SelectorTotals before = counters.totals().selectors();

    for (int i = 0; i < SELECTS; i++) {
      selectInVain();
    }

    SelectorTotals after = counters.totals().selectors();
    assertThat(after.innerSelects() - before.innerSelects()).isEqualTo(SELECTS);
    assertThat(after.wakeUps() - before.wakeUps()).isEqualTo(SELECTS);
  }

  @Test
  void aPlainConnectionThatIsReadyCostsOneLookAMessage() throws Exception {
    listener.register(selector, SelectionKey.OP_ACCEPT);
    long before = innerSelects();
    try (SocketChannel plain = SocketChannel.open(listener.getLocalAddress())) {
      assertThat(plain.isConnected()).isTrue();
      for (int i = 0; i < SELECTS; i++) {
        assertThat(selector.select(10_000)).isEqualTo(1); // not accepted yet, so always ready
        selector.selectedKeys().clear();
      }
    }
    assertThat(innerSelects() - before).isEqualTo(SELECTS);
  }

  /** What shared memory has ready must not hide what the program has just begun to want of TCP. */
  @Test
  void aNewInterestIsLookedForAtOnce() throws Exception {
    SelectionKey always = server.register(selector, SelectionKey.OP_READ);
    accelerate();
    client.write(ByteBuffer.wrap(new byte[] {1}));
    assertThat(selector.select(10_000)).isEqualTo(1);
    try (SocketChannel other = SocketChannel.open(listener.getLocalAddress());
        SocketChannel plain = accept()) {
      assertThat(other.isConnected()).isTrue();
      plain.configureBlocking(false);
      SelectionKey key = plain.register(selector, 0);
      for (int i = 0; i < 200; i++) {
        assertThat(selector.selectNow()).isZero();
        key.interestOps(SelectionKey.OP_WRITE);

        assertThat(selector.selectNow()).as("select %d", i).isEqualTo(1);

        assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(always, key);
        key.interestOps(0);
        selector.selectedKeys().remove(key);
      }
    }
  }

  private SocketChannel accept() throws Exception {
    listener.configureBlocking(true);
    return listener.accept();
  }
}
