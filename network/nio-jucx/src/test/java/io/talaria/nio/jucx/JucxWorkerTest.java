// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.ucx.binding.Block;
import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import io.talaria.nio.ucx.binding.DescriptorSet;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the protocol builds on, call by call. */
@Timeout(180)
class JucxWorkerTest {
  private static final int ROUNDS = 20_000;
  private static final int MAX_BYTES_AN_OPERATION = 100;

  /** An exception of JUCX has 640; one in a hundred may be thrown all the same. */
  private static final int MAX_BYTES_A_SLEEP = 7;

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 2048, 2049, 65_536, 65_537, 1_000_000})
  void bytesArriveInOrderWhateverTheBlock(int bytes) {
    try (Two two = new Two()) {
      for (int i = 0; i < bytes; i++) {
        two.sent.bytes().put(i, (byte) (i * 31));
      }
      byte[] got = new byte[bytes];
      for (int round = 0; round < 20; round++) {
        long request = two.out.sendStream(two.sent, bytes);
        assertThat(request).isNotNegative();
        int[] count = {0};
        byte[] piece = new byte[bytes];
        two.until(
            () -> {
              int taken = two.take(piece);
              System.arraycopy(piece, 0, got, count[0], taken);
              count[0] += taken;
              return count[0] == bytes;
            });
        two.until(() -> request == 0 || two.here.status(request) != BoundWorker.IN_PROGRESS);
        assertThat(request == 0 ? 0 : two.here.poll(request)).isEqualTo(BoundWorker.OK);
        for (int i = 0; i < bytes; i++) {
          assertThat(got[i]).isEqualTo((byte) (i * 31));
        }
      }
    }
  }

  @Test
  void aMessageTellsItsTagAndLength() {
    try (Two two = new Two()) {
      Block block = Two.BINDING.newBlock(16);
      for (long tag : new long[] {0, 1, -1, Long.MIN_VALUE, 0x1234_5678_9abc_def0L}) {
        for (int length : new int[] {0, 1, 16}) {
          long sent = two.out.sendTag(two.sent, length, tag);
          two.until(two.there::hasMessage);
          long got = two.there.receiveTag(block, 16);
          two.until(() -> two.there.status(got) != BoundWorker.IN_PROGRESS);
          assertThat(two.there.status(got)).isEqualTo(BoundWorker.OK);
          assertThat(two.there.receivedTag(got)).isEqualTo(tag);
          assertThat(two.there.receivedBytes(got)).isEqualTo(length);
          two.there.release(got);
          two.until(() -> sent == 0 || two.here.status(sent) != BoundWorker.IN_PROGRESS);
          assertThat(sent == 0 ? 0 : two.here.poll(sent)).isEqualTo(BoundWorker.OK);
        }
      }
      assertThat(two.there.hasMessage()).isFalse();
    }
  }

  @Test
  void whatCameBeforeTheEndpointWasMadeIsNews() {
    try (Two two = new Two()) {
      BoundWorker third = Two.BINDING.openWorker();
      third.enter();
      BoundEndpoint early = third.connect(two.there.address(), "early");
      two.sent.bytes().putLong(0, 42);
      assertThat(early.sendStream(two.sent, Long.BYTES)).isNotNegative();
      for (int i = 0; i < 10_000; i++) {
        third.progress();
        two.there.progress();
      }
      BoundEndpoint late = two.there.connect(third.address(), "late");
      Object[] named = new Object[BoundWorker.MAX_READY];
      two.until(
          () -> {
            third.progress();
            return two.there.progress() > 0
                && two.there.pollStreams(named) == 1
                && named[0].equals("late");
          });
      assertThat(late.isOpen()).isTrue();
      third.exit();
      third.close();
    }
  }

  @Test
  void aSleeperIsWokenByTheDescriptor() throws Exception {
    try (Two two = new Two();
        Selector selector = JdkNio.provider().openSelector()) {
      DescriptorSet set = Two.BINDING.newDescriptorSet();
      set.add(two.there.eventDescriptor());
      assertThatThrownBy(() -> set.add(two.there.eventDescriptor()))
          .isInstanceOf(IllegalStateException.class);
      try (SelectableChannel channel = JdkNio.channelOver(set.descriptor())) {
        channel.register(selector, SelectionKey.OP_READ);
        byte[] got = new byte[16];
        for (int i = 0; i < 100; i++) {
          two.until(two.there::arm);
          CompletableFuture<Integer> sleeper =
              CompletableFuture.supplyAsync(
                  () -> {
                    try {
                      return selector.select(60_000);
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
          two.send(16);
          assertThat(sleeper.get(90, TimeUnit.SECONDS)).isEqualTo(1);
          selector.selectedKeys().clear();
          int[] count = {0};
          two.until(() -> (count[0] += two.take(got)) == 16);
        }
        set.remove(two.there.eventDescriptor());
      }
    }
  }

  /**
   * One thread sends, another sleeps whenever there is nothing: it must neither sleep for good nor
   * wait inside UCX.
   */
  @Test
  void noWakeUpIsLost() throws Exception {
    try (Two two = new Two();
        Selector selector = JdkNio.provider().openSelector()) {
      DescriptorSet set = Two.BINDING.newDescriptorSet();
      set.add(two.there.eventDescriptor());
      try (SelectableChannel channel = JdkNio.channelOver(set.descriptor())) {
        channel.register(selector, SelectionKey.OP_READ);
        byte[] got = new byte[ROUNDS];
        two.here.exit();
        CompletableFuture<Void> sender =
            CompletableFuture.runAsync(
                () -> {
                  two.here.enter();
                  for (int i = 0; i < ROUNDS; i++) {
                    two.sendAlone(1);
                    if (i % 8 == 0) {
                      LockSupport.parkNanos(1000L * (i % 64));
                    }
                  }
                  two.here.exit();
                });
        int count = 0;
        int sleeps = 0;
        while (count < ROUNDS) {
          int taken = two.take(got);
          count += taken;
          if (taken == 0 && two.there.arm()) {
            sleeps++;
            assertThat(selector.select(60_000)).as("after %d bytes", count).isEqualTo(1);
            selector.selectedKeys().clear();
          }
        }
        sender.get(90, TimeUnit.SECONDS);
        two.here.enter();
        assertThat(count).isEqualTo(ROUNDS);
        assertThat(sleeps).isPositive();
        set.remove(two.there.eventDescriptor());
      }
    }
  }

  @Test
  void anEndpointIsClosedWithItsReceivePosted() {
    try (Two two = new Two()) {
      two.send(16);
      byte[] got = new byte[16];
      two.until(() -> two.take(got) == 16);
      long request = two.in.closeForced();
      two.until(() -> request <= 0 || two.there.status(request) != BoundWorker.IN_PROGRESS);
      assertThat(two.in.isOpen()).isFalse();
      assertThatThrownBy(two.in::closeForced).isInstanceOf(IllegalStateException.class);
      long flush = two.out.closeForced();
      two.until(() -> flush <= 0 || two.here.status(flush) != BoundWorker.IN_PROGRESS);
    }
  }

  @Test
  void nobodyIsInsideWhoHasNotEntered() {
    BoundWorker worker = Two.BINDING.openWorker();
    assertThatThrownBy(worker::entered).isInstanceOf(IllegalStateException.class);
    worker.close();
    assertThatThrownBy(worker::enter).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(worker::tryEnter).isInstanceOf(IllegalStateException.class);
  }

  /** An operation is a send or a receive; JUCX makes an object for each. */
  @Test
  void anOperationAllocatesWhatJucxAllocates() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Two two = new Two()) {
      byte[] got = new byte[16];
      long before = 0;
      for (int i = 0; i < 2 * ROUNDS; i++) {
        if (i == ROUNDS) {
          before = threads.getCurrentThreadAllocatedBytes();
        }
        two.send(16);
        int count = 0;
        while (count < 16) {
          count += two.take(got);
          two.here.progress();
        }
      }
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      System.out.println("allocated by an operation: " + bytes / 2 / ROUNDS + " bytes");
      assertThat(bytes / 2 / ROUNDS).isLessThanOrEqualTo(MAX_BYTES_AN_OPERATION);
    }
  }

  /** UCX says «busy» once to the thread that was woken, which JUCX would throw. */
  @Test
  void aSleepAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Two two = new Two()) {
      byte[] got = new byte[16];
      long bytes = 0;
      int busy = 0;
      for (int i = 0; i < 2 * ROUNDS; i++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        while (!two.there.arm()) {
          busy++;
          if (two.take(got) != 0) {
            throw new AssertionError("bytes that nobody has sent");
          }
        }
        if (i >= ROUNDS) {
          bytes += threads.getCurrentThreadAllocatedBytes() - before;
        }
        two.send(16);
        int count = 0;
        while (count < 16) {
          count += two.take(got);
          two.here.progress();
        }
      }
      System.out.println(
          "allocated by a sleep: " + bytes / ROUNDS + " bytes; busy " + busy + " times");
      assertThat(busy).as("how often it was busy").isGreaterThanOrEqualTo(ROUNDS);
      assertThat(bytes / ROUNDS).isLessThanOrEqualTo(MAX_BYTES_A_SLEEP);
    }
  }
}
