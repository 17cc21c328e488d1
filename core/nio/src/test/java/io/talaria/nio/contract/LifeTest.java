// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Connections;
import io.talaria.nio.doorbell.HeldDescriptors;
import io.talaria.nio.shm.ShmTransport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections over their whole life: the switch under load, streams, churn, virtual threads. */
@Timeout(120)
class LifeTest {
  private static final long SOON_MS = 10_000;
  private static final int CONNECTIONS = Math.min(60, Race.ROUNDS);

  private static boolean within(long ms, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + ms * 1_000_000;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > until) {
        return false;
      }
      Thread.sleep(10);
    }
    return true;
  }

  // ---- the switch ------------------------------------------------------------------------------

  private static long writeRandom(SocketChannel to, int total, int seed, int most)
      throws IOException {
    CRC32 sum = new CRC32();
    Random random = new Random(seed);
    byte[] chunk = new byte[most];
    int left = total;
    while (left > 0) {
      int n = Math.min(left, 1 + random.nextInt(most));
      random.nextBytes(chunk);
      sum.update(chunk, 0, n);
      ByteBuffer out = ByteBuffer.wrap(chunk, 0, n);
      while (out.hasRemaining()) {
        to.write(out);
      }
      left -= n;
    }
    return sum.getValue();
  }

  private static long readSum(SocketChannel from, int total, int seed, int most)
      throws IOException {
    CRC32 sum = new CRC32();
    Random random = new Random(seed);
    int left = total;
    while (left > 0) {
      ByteBuffer in = ByteBuffer.allocate(Math.min(left, 1 + random.nextInt(most)));
      int n = from.read(in);
      if (n < 0) {
        throw new IOException("ended " + left + " bytes early");
      }
      sum.update(in.flip());
      left -= n;
    }
    return sum.getValue();
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void theSwitchUnderLoadLosesAndReordersNothing(Variant variant) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(variant.client())) {
      for (int i = 0; i < CONNECTIONS; i++) {
        int total = i % 10 == 0 ? 8 << 20 : 200_000;
        int most = 1 << (4 + i % 13);
        int seed = i;
        try (Pair pair = Pair.connect(variant.client(), listener)) {
          boolean blocking = i % 3 != 0;
          pair.configureBlocking(blocking);
          Doing<Long> up = Doing.start(() -> writeRandom(pair.client, total, seed, most));
          Doing<Long> down = Doing.start(() -> writeRandom(pair.server, total, seed + 1, most));
          Doing<Long> upRead = Doing.start(() -> readSum(pair.server, total, seed, most));
          Doing<Long> downRead = Doing.start(() -> readSum(pair.client, total, seed, most));
          assertThat(upRead.result()).isEqualTo(up.result());
          assertThat(downRead.result()).isEqualTo(down.result());
        }
      }
    }
  }

  // ---- streams ---------------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void streamsOfTheSocketReadInTime(Variant variant) throws Exception {
    try (Pair pair = variant.pair()) {
      InputStream in = pair.server.socket().getInputStream();
      OutputStream out = pair.client.socket().getOutputStream();
      pair.server.socket().setSoTimeout(100);
      for (int i = 0; i < 5; i++) {
        long start = System.nanoTime();
        assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
        assertThat((System.nanoTime() - start) / 1_000_000).isBetween(99L, 10_000L);
        out.write(new byte[] {(byte) 200, 1});
        assertThat(in.read()).isEqualTo(200);
        assertThat(in.read()).isEqualTo(1);
      }
      assertThat(in.available()).isEqualTo(0);
      Doing<Integer> reader = Doing.start(() -> in.read());
      Thread.sleep(20);
      pair.client.close();
      assertThat(reader.result()).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void availableCountsWhatHasArrived(Variant variant) throws Exception {
    try (Pair pair = variant.pair()) {
      InputStream in = pair.server.socket().getInputStream();
      pair.client.write(bytes(1000, 1));
      assertThat(within(SOON_MS, () -> available(in) == 1000))
          .as("available: %d", in.available())
          .isTrue();
      assertThat(in.readNBytes(1000)).hasSize(1000);
      assertThat(in.available()).isEqualTo(0);
    }
  }

  private static int available(InputStream in) {
    try {
      return in.available();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** What runs beside a close must not touch what the close gives back. */
  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void callsBesideACloseFailAsClosedOrNotAtAll(Variant variant) throws Exception {
    for (int i = 0; i < CONNECTIONS; i++) {
      try (Pair pair = variant.pair()) {
        InputStream in = pair.server.socket().getInputStream();
        List<Doing<Integer>> beside = new ArrayList<>();
        beside.add(
            Doing.start(
                () -> {
                  while (pair.server.isOpen()) {
                    in.available();
                  }
                  return 0;
                }));
        beside.add(
            Doing.start(
                () -> {
                  while (pair.server.isOpen()) {
                    assertThat(pair.server.toString()).isNotEmpty();
                    Connections.snapshot();
                  }
                  return 0;
                }));
        long until = System.nanoTime() + i * 20_000L;
        while (System.nanoTime() < until) {
          Thread.onSpinWait();
        }
        Doing<Integer> shut =
            Doing.start(
                () -> {
                  pair.server.shutdownOutput();
                  pair.server.shutdownInput();
                  return 0;
                });
        pair.server.close();
        beside.add(shut);
        for (Doing<Integer> call : beside) {
          Throwable failure = call.failure();
          if (failure != null) {
            assertThat(failure).as("round %d", i).isInstanceOf(IOException.class);
          }
        }
      }
    }
  }

  // ---- churn -----------------------------------------------------------------------------------

  private static void cycle(Variant variant, ServerSocketChannel listener, Selector selector, int i)
      throws Exception {
    try (Pair pair = Pair.connect(variant.client(), listener)) {
      if (i % 3 == 0 && variant == Variant.ACCELERATED) {
        pair.accelerate();
      }
      if (i % 2 == 0) {
        pair.server.configureBlocking(false);
        pair.server.register(selector, SelectionKey.OP_READ);
      }
      pair.client.write(bytes(100, i));
      if (i % 2 == 0) {
        assertThat(selector.select(SOON_MS)).isEqualTo(1);
        selector.selectedKeys().clear();
      }
      ByteBuffer got = readFully(pair.server, ByteBuffer.allocate(100));
      pair.server.write(got);
      assertThat(readFully(pair.client, ByteBuffer.allocate(100))).isEqualTo(bytes(100, i));
      if (i % 5 == 0) {
        pair.server.write(got.rewind()); // left unread: a reset
      }
    }
    selector.selectNow();
    assertThat(selector.keys()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void manyConnectionsLeaveNothingBehind(Variant variant) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(variant.client());
        Selector selector = variant.client().openSelector()) {
      for (int i = 0; i < 100; i++) {
        cycle(variant, listener, selector, i);
      }
      Thread.sleep(300);
      HeldDescriptors before = HeldDescriptors.now();
      long mappingsBefore = ShmTransport.liveMappings();
      int connectionsBefore = Connections.snapshot().size();
      for (int i = 0; i < 500; i++) {
        cycle(variant, listener, selector, i);
      }
      assertThat(within(SOON_MS, () -> HeldDescriptors.now().count() <= before.count()))
          .as("before %s, now %s", before, HeldDescriptors.now())
          .isTrue();
      assertThat(HeldDescriptors.now().ofDoorbells())
          .isLessThanOrEqualTo(before.ofDoorbells() + HeldDescriptors.OF_ONE_SLEEPER);
      assertThat(within(SOON_MS, () -> ShmTransport.liveMappings() <= mappingsBefore + 16))
          .as("mappings before %d, now %d", mappingsBefore, ShmTransport.liveMappings())
          .isTrue();
      assertThat(within(SOON_MS, () -> Connections.snapshot().size() <= connectionsBefore))
          .as("connections before %d, now %s", connectionsBefore, Connections.snapshot())
          .isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void listenersAndSelectorsLeaveNothingBehind(Variant variant) throws Exception {
    for (int i = 0; i < 5; i++) {
      one(variant);
    }
    Thread.sleep(500);
    HeldDescriptors before = HeldDescriptors.now();
    for (int i = 0; i < 40; i++) {
      one(variant);
    }
    assertThat(within(SOON_MS, () -> HeldDescriptors.now().all() <= before.all() + 4))
        .as("before %s, now %s", before, HeldDescriptors.now())
        .isTrue();
  }

  private static void one(Variant variant) throws Exception {
    try (Pair pair = variant.pair();
        Selector selector = variant.client().openSelector()) {
      pair.server.configureBlocking(false);
      pair.server.register(selector, SelectionKey.OP_READ);
      pair.client.write(bytes(1, 1));
      assertThat(selector.select(SOON_MS)).isEqualTo(1);
    }
  }

  // ---- virtual threads -------------------------------------------------------------------------

  private static <T> Doing<T> virtual(Callable<T> work) {
    return Doing.startVirtual(work);
  }

  @ParameterizedTest
  @EnumSource(names = {"JDK", "ACCELERATED", "NEGOTIATING"})
  void virtualThreadsWaitInReadsAndWrites(Variant variant) throws Exception {
    Assumptions.assumeTrue(Runtime.version().feature() >= 21);
    List<Pair> pairs = new ArrayList<>();
    List<Doing<Integer>> servers = new ArrayList<>();
    try (ServerSocketChannel listener = Pair.listen(variant.client())) {
      for (int i = 0; i < 30; i++) {
        Pair pair = Pair.connect(variant.client(), listener);
        if (variant == Variant.ACCELERATED) {
          pair.accelerate();
        }
        pairs.add(pair);
        servers.add(
            virtual(
                () -> {
                  ByteBuffer in = ByteBuffer.allocate(10_000);
                  int n = 0;
                  while (pair.server.read(in.clear()) >= 0) {
                    in.flip();
                    n += in.remaining();
                    pair.server.write(in);
                  }
                  return n;
                }));
      }
      List<Doing<Integer>> clients = new ArrayList<>();
      for (Pair pair : pairs) {
        clients.add(
            virtual(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    int size = 1 + i * 3000;
                    Doing<ByteBuffer> reader =
                        virtual(() -> readFully(pair.client, ByteBuffer.allocate(size)));
                    pair.client.write(bytes(size, i));
                    assertThat(reader.result()).isEqualTo(bytes(size, i));
                  }
                  pair.client.shutdownOutput();
                  return 0;
                }));
      }
      for (Doing<Integer> client : clients) {
        client.result();
      }
      for (Doing<Integer> server : servers) {
        assertThat(server.result()).isEqualTo(20 + 3000 * 190);
      }
      Pair last = pairs.get(0);
      Doing<Integer> reader = virtual(() -> last.client.read(ByteBuffer.allocate(1))).whenWaiting();
      reader.interrupt();
      assertThat(reader.failure()).isInstanceOf(java.nio.channels.ClosedByInterruptException.class);
      Pair other = pairs.get(1);
      Doing<Integer> closed =
          virtual(() -> other.client.read(ByteBuffer.allocate(1))).whenWaiting();
      other.client.close();
      assertThat(closed.failure()).isInstanceOf(java.nio.channels.AsynchronousCloseException.class);
    } finally {
      for (Pair pair : pairs) {
        pair.close();
      }
    }
  }

  // ---- cost ------------------------------------------------------------------------------------

  @Test
  void manyConnectionsThatComeAndGoDoNotHoldTheNextOneUp() throws Exception {
    try (ServerSocketChannel listener = Pair.listen(Variant.ACCELERATED.client())) {
      for (int i = 0; i < 1000; i++) {
        Pair.connect(Variant.ACCELERATED.client(), listener).close();
      }
      long start = System.nanoTime();
      try (Pair pair = Pair.connect(Variant.ACCELERATED.client(), listener)) {
        pair.accelerate();
      }
      assertThat((System.nanoTime() - start) / 1_000_000).isLessThan(5000);
    }
  }
}
