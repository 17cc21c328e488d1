// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Connections;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Selecting while the upgrade is on its way: between attached and established. */
@Timeout(120)
@TestMethodOrder(MethodOrderer.MethodName.class)
class SelectorNegotiationTest {
  private static final long SOON_MS = 10_000;

  private static Doing<Integer> reads(SocketChannel channel, int bytes) {
    return Doing.start(
        () -> {
          ByteBuffer all = ByteBuffer.allocate(bytes);
          while (all.hasRemaining() && channel.read(all) >= 0) {}
          return all.position();
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void writableIsReportedWhileThePeerSleepsInARead(Variant variant) throws Exception {
    try (Pair pair = variant.pair();
        Selector selector = variant.client().openSelector()) {
      Doing<Integer> reader = reads(pair.client, 1).whenWaiting();
      pair.server.configureBlocking(false);
      pair.server.register(selector, SelectionKey.OP_WRITE);
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).isEqualTo(1);
      assertThat(selector.select(SOON_MS)).isEqualTo(0); // is selected already
      selector.selectedKeys().clear();
      assertThat(selector.selectNow(key -> assertThat(key.isWritable()).isTrue())).isEqualTo(1);
      pair.server.write(ByteBuffer.allocate(1));
      assertThat(reader.result()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void selectNowSeesBytesAtTheFirstLook(Variant variant) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(variant.client());
        Selector selector = variant.client().openSelector()) {
      for (int i = 0; i < 60; i++) {
        try (Pair pair = Pair.connect(variant.client(), listener)) {
          if (variant == Variant.ACCELERATED) {
            pair.accelerate();
          }
          pair.client.write(ByteBuffer.allocate(10));
          pair.server.configureBlocking(false);
          SelectionKey key = pair.server.register(selector, SelectionKey.OP_READ);
          Thread.sleep(i % 10);
          assertThat(selector.selectNow()).as("look " + i + " at " + pair.server).isEqualTo(1);
          assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ);
          selector.selectedKeys().clear();
          key.cancel();
          selector.selectNow();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void aKeyReadyForTwoOperationsCountsOnce(Variant variant) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(variant.client());
        Selector selector = variant.client().openSelector()) {
      for (int i = 0; i < 60; i++) {
        try (Pair pair = Pair.connect(variant.client(), listener)) {
          if (variant == Variant.ACCELERATED) {
            pair.accelerate();
          }
          pair.client.write(ByteBuffer.allocate(10));
          pair.server.configureBlocking(false);
          pair.server.register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
          Thread.sleep(i % 10);
          assertThat(selector.select(SOON_MS))
              .as("select " + i + " of " + pair.server)
              .isEqualTo(1);
          assertThat(selector.selectedKeys()).hasSize(1);
          assertThat(selector.selectNow()).as("again " + i + " of " + pair.server).isLessThan(2);
          selector.selectedKeys().clear();
        }
        selector.selectNow();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void aLargeAnswerReachesAPeerThatHasShutItsOutputAtOnce(Variant variant) throws Exception {
    int bytes = 16 << 20;
    try (ServerSocketChannel listener = Pair.listen(variant.client());
        Selector selector = variant.client().openSelector()) {
      for (int i = 0; i < 10; i++) {
        try (Pair pair = Pair.connect(variant.client(), listener)) {
          if (variant == Variant.ACCELERATED) {
            pair.accelerate();
          }
          Thread.sleep(i % 4);
          pair.client.write(ByteBuffer.allocate(10));
          pair.client.shutdownOutput();
          pair.server.configureBlocking(false);
          SelectionKey key = pair.server.register(selector, SelectionKey.OP_WRITE);
          Doing<Integer> reader =
              Doing.start(
                  () -> {
                    Thread.sleep(60); // so that the writer finds TCP full
                    return reads(pair.client, bytes).result();
                  });
          ByteBuffer all = ByteBuffer.allocate(bytes);
          while (all.hasRemaining()) {
            assertThat(selector.select(SOON_MS)).as("round %d at %s", i, pair.server).isEqualTo(1);
            selector.selectedKeys().clear();
            pair.server.write(all);
          }
          assertThat(reader.result()).isEqualTo(bytes);
          key.cancel();
          selector.selectNow();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void aSelectorWithNothingToReportSleeps(Variant variant) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (Pair pair = variant.pair();
        Selector selector = variant.client().openSelector()) {
      Doing<Integer> reader = reads(pair.client, 1).whenWaiting();
      pair.server.configureBlocking(false);
      SelectionKey key = pair.server.register(selector, SelectionKey.OP_READ);
      for (int i = 0; i < 2; i++) {
        long before = threads.getCurrentThreadCpuTime();
        assertThat(selector.select(500)).isEqualTo(0);
        assertThat(threads.getCurrentThreadCpuTime() - before).isLessThan(200_000_000L);
      }
      key.interestOps(0);
      long before = threads.getCurrentThreadCpuTime();
      assertThat(selector.select(500)).isEqualTo(0);
      assertThat(threads.getCurrentThreadCpuTime() - before).isLessThan(200_000_000L);
      pair.server.write(ByteBuffer.allocate(1));
      assertThat(reader.result()).isEqualTo(1);
    }
  }

  /** A selector takes note of the switch while another thread makes it by writing. */
  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void writersAndSelectorsDoNotLockEachOtherOut(Variant variant) throws Exception {
    int before = Connections.snapshot().size();
    try (ServerSocketChannel listener = Pair.listen(variant.client());
        Selector one = variant.client().openSelector();
        Selector other = variant.client().openSelector()) {
      AtomicBoolean over = new AtomicBoolean();
      Doing<Void> selecting = Doing.start(() -> selectUntil(one, over));
      Doing<Void> selectingToo = Doing.start(() -> selectUntil(other, over));
      try {
        for (int i = 0; i < 300; i++) {
          try (Pair pair = Pair.connect(variant.client(), listener)) {
            pair.client.configureBlocking(false);
            pair.client.register(one, SelectionKey.OP_READ);
            pair.client.register(other, i % 2 == 0 ? SelectionKey.OP_READ : 0);
            one.wakeup();
            other.wakeup();
            Doing<Integer> writes =
                Doing.start(
                    () -> {
                      int n = 0;
                      for (int j = 0; j < 50; j++) {
                        n += pair.client.write(ByteBuffer.allocate(10));
                      }
                      return n;
                    });
            ByteBuffer all = ByteBuffer.allocate(500);
            Doing<Integer> reads =
                Doing.start(
                    () -> {
                      while (all.hasRemaining() && pair.server.read(all) >= 0) {}
                      return all.position();
                    });
            assertThat(writes.result()).isEqualTo(500);
            assertThat(reads.result()).isEqualTo(500);
          }
        }
      } finally {
        over.set(true);
        one.wakeup();
        other.wakeup();
      }
      selecting.result();
      selectingToo.result();
    }
    // Those who looked at a channel while it closed must have finished the close.
    long until = System.nanoTime() + SOON_MS * 1_000_000;
    while (Connections.snapshot().size() > before && System.nanoTime() < until) {
      Thread.sleep(10);
    }
    assertThat(Connections.snapshot()).hasSizeLessThanOrEqualTo(before);
  }

  private static Void selectUntil(Selector selector, AtomicBoolean over) throws Exception {
    while (!over.get()) {
      selector.select(1000);
      selector.selectedKeys().clear();
    }
    return null;
  }
}
