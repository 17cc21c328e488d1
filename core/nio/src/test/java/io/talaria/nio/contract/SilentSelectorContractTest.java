// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.readFully;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A channel in two selectors, of which the second wants nothing most of the time: so do programs
 * that read and write by different threads.
 */
class SilentSelectorContractTest extends Contract {
  private static final long SOON_MS = 10_000;

  private SocketChannel channel;
  private SocketChannel peer;
  private Selector reading;
  private Selector silent;
  private SelectionKey read;
  private SelectionKey quiet;
  private boolean silentFirst;

  SilentSelectorContractTest(Variant variant) {
    super(variant);
  }

  @BeforeEach
  void open() throws IOException {
    Pair pair = pair();
    channel = pair.client;
    peer = pair.server;
    reading = selectorFor(channel);
    silent = selectorFor(channel);
    if (silentFirst) {
      quiet = register(channel, silent, 0);
      silent.selectNow();
    }
    read = register(channel, reading, OP_READ);
    if (!silentFirst) {
      quiet = register(channel, silent, 0);
    }
  }

  private static void assertSelects(Selector selector, SelectionKey key, int ops)
      throws IOException {
    selector.selectedKeys().clear();
    assertThat(selector.select(SOON_MS)).isEqualTo(1);
    assertThat(selector.selectedKeys()).containsExactly(key);
    assertThat(key.readyOps()).isEqualTo(ops);
  }

  private void assertReads(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      peer.write(bytes(3, i));
      assertSelects(reading, read, OP_READ);
      assertThat(readFully(channel, 3)).isEqualTo(bytes(3, i));
      assertThat(silent.selectNow()).isZero();
    }
  }

  @Test
  void theSilentOneMayWaitForAWhile() throws Exception {
    assertReads(10);
    for (int i = 0; i < 5; i++) {
      quiet.interestOps(OP_WRITE);
      assertSelects(silent, quiet, OP_WRITE);
      quiet.interestOps(0);
      assertReads(5);
    }
    quiet.interestOps(OP_READ);
    peer.write(bytes(1, 1));
    assertSelects(reading, read, OP_READ);
    assertSelects(silent, quiet, OP_READ);
  }

  @Test
  void theSilentOneMayBeTheFirst() throws Exception {
    silentFirst = true;
    for (int i = 0; i < 10; i++) {
      open();
      assertReads(3);
      reading.selectedKeys().clear();
      Doing<Integer> reader = Doing.start(() -> reading.select(SOON_MS)).whenWaiting();
      assertThat(silent.select(1)).isZero();
      peer.write(bytes(1, 1));
      assertThat(reader.result()).isEqualTo(1);
      quiet.interestOps(OP_READ);
      assertSelects(silent, quiet, OP_READ);
      readFully(channel, 1);
      peer.write(bytes(1, 1));
      assertSelects(reading, read, OP_READ);
      assertSelects(silent, quiet, OP_READ);
    }
  }

  @Test
  void theSilentOneStaysWhenTheOtherIsGone() throws Exception {
    assertReads(10);
    read.cancel();
    reading.selectNow();
    assertThat(silent.selectNow()).isZero();
    quiet.interestOps(OP_READ);
    for (int i = 0; i < 10; i++) {
      peer.write(bytes(1, i));
      assertSelects(silent, quiet, OP_READ);
      readFully(channel, 1);
    }
  }

  @Test
  void bothSleepAndEachIsWoken() throws Exception {
    for (int i = 0; i < Race.ROUNDS; i++) {
      Doing<Integer> reader = Doing.start(() -> reading.select(SOON_MS));
      Doing<Integer> other = Doing.start(() -> silent.select(SOON_MS));
      if (i % 3 == 0) {
        reader.whenWaiting();
        other.whenWaiting();
      }
      peer.write(bytes(1, i));
      assertThat(reader.result()).isEqualTo(1);
      assertThat(readFully(channel, 1)).isEqualTo(bytes(1, i));
      reading.selectedKeys().clear();
      quiet.interestOps(OP_WRITE);
      silent.wakeup(); // the JDK's selectors see a change of interest at the next select only
      assertThat(other.result()).isBetween(0, 1);
      silent.selectedKeys().clear();
      assertSelects(silent, quiet, OP_WRITE);
      silent.selectedKeys().clear();
      quiet.interestOps(0);
    }
  }

  /** What wakes the first must stay set, however long the second looks. */
  @Test
  void theSilentOneLooksWhileTheOtherSleeps() throws Exception {
    for (int looks = 1; looks <= 200; looks = 3 * looks + 1) {
      open();
      Doing<Integer> reader = Doing.start(() -> reading.select(SOON_MS)).whenWaiting();
      for (int i = 0; i < looks; i++) {
        assertThat(silent.selectNow()).isZero();
      }
      assertThat(silent.select(1)).isZero();
      peer.write(bytes(1, 1));
      assertThat(reader.result()).isEqualTo(1);
    }
  }

  /** The second begins to wait while the first is given the connection's stream. */
  @Test
  void bothBeginToWaitAtTheSameTime() throws Exception {
    for (int i = 0; i < Race.ROUNDS; i++) {
      open();
      peer.write(bytes(2, i));
      Doing<Integer> reader =
          Doing.start(
              () -> {
                int got = 0;
                while (got < 4) {
                  assertThat(reading.select(SOON_MS)).isEqualTo(1);
                  reading.selectedKeys().clear();
                  got += Math.max(0, Bytes.read(channel));
                }
                return got;
              });
      Doing<Integer> other =
          Doing.start(
              () -> {
                silent.selectNow();
                quiet.interestOps(OP_WRITE);
                return silent.select(SOON_MS);
              });
      peer.write(bytes(1, i));
      assertThat(other.result()).isEqualTo(1);
      peer.write(bytes(1, i));
      assertThat(reader.result()).isEqualTo(4);
      channel.close();
      peer.close();
      reading.close();
      silent.close();
    }
  }
}
