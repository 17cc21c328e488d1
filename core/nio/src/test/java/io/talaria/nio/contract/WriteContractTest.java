// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** What goes into a connection, from which buffers. */
class WriteContractTest extends Contract {
  private static final int LARGE = 9 << 20;

  WriteContractTest(Variant variant) {
    super(variant);
  }

  private static Doing<ByteBuffer> reads(SocketChannel channel, int n) {
    return Doing.start(() -> readFully(channel, n));
  }

  @Test
  void aWriteTakesFromPositionToLimit() throws Exception {
    Pair pair = pair();
    ByteBuffer out = bytes(100, 1);
    out.position(10).limit(60);
    assertThat(pair.client.write(out)).isEqualTo(50);
    assertThat(out.position()).isEqualTo(60);
    assertThat(out.limit()).isEqualTo(60);
    assertThat(readFully(pair.server, 50)).isEqualTo(bytes(100, 1).slice(10, 50));
  }

  @Test
  void heapAndDirectBuffersCarryTheSameBytesBothWays() throws Exception {
    Pair pair = pair();
    for (int size : new int[] {1, 7, 4096, 65_536, 100_003}) {
      ByteBuffer sent = bytes(size, size);
      Doing<ByteBuffer> there = reads(pair.server, size);
      assertThat(pair.client.write(ByteBuffer.allocateDirect(size).put(sent.duplicate()).flip()))
          .isEqualTo(size);
      assertThat(there.result()).isEqualTo(sent);
      Doing<ByteBuffer> back = reads(pair.client, size);
      assertThat(pair.server.write(sent.duplicate())).isEqualTo(size);
      assertThat(back.result()).isEqualTo(sent);
    }
  }

  @Test
  void aReadOnlySourceIsWelcome() throws Exception {
    Pair pair = pair();
    ByteBuffer direct = ByteBuffer.allocateDirect(20).put(bytes(20, 2)).flip();
    assertThat(pair.client.write(bytes(20, 1).asReadOnlyBuffer())).isEqualTo(20);
    assertThat(pair.client.write(direct.asReadOnlyBuffer())).isEqualTo(20);
    assertThat(readFully(pair.server, 20)).isEqualTo(bytes(20, 1));
    assertThat(readFully(pair.server, 20)).isEqualTo(bytes(20, 2));
  }

  @Test
  void slicesAndDuplicatesAreWrittenFromWhereTheyStand() throws Exception {
    Pair pair = pair();
    ByteBuffer whole = bytes(100, 1);
    assertThat(pair.client.write(whole.slice(30, 20))).isEqualTo(20);
    assertThat(pair.client.write(whole.duplicate().position(90))).isEqualTo(10);
    assertThat(whole.position()).isZero();
    assertThat(readFully(pair.server, 20)).isEqualTo(whole.slice(30, 20));
    assertThat(readFully(pair.server, 10)).isEqualTo(whole.slice(90, 10));
  }

  @Test
  void aSourceMayBeReusedOnceTheWriteIsBack() throws Exception {
    Pair pair = pair();
    ByteBuffer out = ByteBuffer.allocate(64);
    for (int i = 0; i < 100; i++) {
      Arrays.fill(out.array(), (byte) i);
      pair.client.write(out.clear());
    }
    Arrays.fill(out.array(), (byte) -1);
    ByteBuffer in = readFully(pair.server, 6400);
    for (int i = 0; i < 6400; i++) {
      assertThat(in.get(i)).isEqualTo((byte) (i / 64));
    }
  }

  @Test
  void anEmptySourceWritesNothing() throws Exception {
    Pair pair = pair();
    for (boolean blocking : new boolean[] {true, false}) {
      pair.client.configureBlocking(blocking);
      assertThat(pair.client.write(ByteBuffer.allocate(0))).isZero();
      assertThat(pair.client.write(Bytes.of(ByteBuffer.allocate(0), ByteBuffer.allocate(0))))
          .isZero();
      assertThat(pair.client.write(Bytes.of())).isZero();
    }
    pair.server.configureBlocking(false);
    assertThat(Bytes.read(pair.server)).isZero();
  }

  @Test
  void anEmptySourceDoesNotWaitWhenTheBuffersAreFull() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    Bytes.fill(pair.client);
    pair.client.configureBlocking(true);
    assertThat(pair.client.write(ByteBuffer.allocate(0))).isZero();
    assertThat(pair.client.write(Bytes.of(ByteBuffer.allocate(0)))).isZero();
  }

  @Test
  void noSourceIsRefused() throws Exception {
    Pair pair = pair();
    assertThatThrownBy(() -> pair.client.write((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.client.write((ByteBuffer[]) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.client.write(Bytes.of(null, ByteBuffer.allocate(1))))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  void badRangesOfSourcesAreRefused() throws Exception {
    Pair pair = pair();
    ByteBuffer[] two = Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1));
    int[][] bad = {{-1, 1}, {0, 3}, {1, 2}, {2, 1}, {3, 0}, {0, -1}, {1, Integer.MAX_VALUE}};
    for (int[] range : bad) {
      assertThatThrownBy(() -> pair.client.write(two, range[0], range[1]))
          .as("%d, %d", range[0], range[1])
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(two[0].position()).isZero();
  }

  @Test
  void aGatheringWriteKeepsToItsRange() throws Exception {
    Pair pair = pair();
    ByteBuffer[] out = Bytes.of(null, bytes(5, 1), bytes(6, 2), bytes(7, 3));
    assertThat(pair.client.write(out, 1, 2)).isEqualTo(11);
    assertThat(out[3].position()).isZero();
    assertThat(readFully(pair.server, 5)).isEqualTo(bytes(5, 1));
    assertThat(readFully(pair.server, 6)).isEqualTo(bytes(6, 2));
    assertThat(pair.client.write(out, 4, 0)).isZero();
  }

  @Test
  void gatheredBytesArriveInOrder() throws Exception {
    Pair pair = pair();
    ByteBuffer all = bytes(1000, 3);
    ByteBuffer[] parts =
        Bytes.of(
            all.slice(0, 1),
            ByteBuffer.allocate(0),
            ByteBuffer.allocateDirect(499).put(all.slice(1, 499)).flip(),
            all.slice(500, 500).asReadOnlyBuffer());
    assertThat(pair.client.write(parts)).isEqualTo(1000);
    assertThat(readFully(pair.server, 1000)).isEqualTo(all);
    for (ByteBuffer part : parts) {
      assertThat(part.hasRemaining()).isFalse();
    }
  }

  // ---- writes that are cut short

  private static final int MORE_THAN_BUFFERS = 24 << 20;

  private interface Write {
    long of(ByteBuffer first, ByteBuffer second) throws IOException;
  }

  /** A blocking write that has given away some bytes and waits for room, in two forms. */
  private void whileWriting(Cut cut) throws Exception {
    Pair one = pair();
    cut.run(one, new Writing(one, (first, second) -> one.client.write(first)));
    Pair two = pair();
    cut.run(two, new Writing(two, (first, second) -> two.client.write(Bytes.of(first, second))));
  }

  private interface Cut {
    void run(Pair pair, Writing writing) throws Exception;
  }

  private static final class Writing {
    final ByteBuffer first = ByteBuffer.allocate(MORE_THAN_BUFFERS);
    final ByteBuffer second = ByteBuffer.allocate(10);
    final Doing<Long> doing;

    Writing(Pair pair, Write write) throws Exception {
      doing = Doing.start(() -> write.of(first, second));
      readFully(pair.server, 1);
      doing.whenWaiting();
    }

    /** How many bytes it says it has written: some, and as many as the sources have lost. */
    long part() throws Exception {
      long n = doing.result();
      assertThat(n).isBetween(1L, MORE_THAN_BUFFERS - 1L);
      assertThat(first.position() + second.position()).isEqualTo((int) n);
      return n;
    }
  }

  @Test
  void aCloseCutsAWriteShort() throws Exception {
    whileWriting(
        (pair, writing) -> {
          pair.client.close();
          assertThat(Bytes.readToEnd(pair.server)).isEqualTo(writing.part() - 1);
          assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
              .isExactlyInstanceOf(ClosedChannelException.class);
        });
  }

  @Test
  void shutdownOutputCutsAWriteShort() throws Exception {
    whileWriting(
        (pair, writing) -> {
          pair.client.shutdownOutput();
          assertThat(Bytes.readToEnd(pair.server)).isEqualTo(writing.part() - 1);
          assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
              .isExactlyInstanceOf(AsynchronousCloseException.class);
        });
  }

  /**
   * A transport whose peer hears of a close later than of what is written may have taken all of a
   * write by then, as TCP takes one after a clean close.
   */
  private static void assumeCloseIsHeardAtOnce() {
    Assumptions.assumeTrue(System.getProperty("talaria.test.transport") == null);
  }

  @Test
  void thePeersCloseCutsAWriteShortAndTheNextTells() throws Exception {
    assumeCloseIsHeardAtOnce();
    whileWriting(
        (pair, writing) -> {
          pair.server.close();
          writing.part();
          assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
              .isInstanceOf(IOException.class)
              .hasMessage("Connection reset by peer");
          assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
              .isInstanceOf(IOException.class)
              .hasMessage("Broken pipe");
          assertThat(Bytes.read(pair.client)).isEqualTo(-1);
        });
  }

  @Test
  void thePeersCloseCutsAWriteShortAndTheNextReadTells() throws Exception {
    assumeCloseIsHeardAtOnce();
    whileWriting(
        (pair, writing) -> {
          pair.server.close();
          writing.part();
          for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> Bytes.read(pair.client))
                .isInstanceOf(SocketException.class)
                .hasMessage("Connection reset");
            assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
                .isInstanceOf(IOException.class)
                .hasMessage("Broken pipe");
          }
        });
  }

  /** However much of it was written: an interrupt is told at once. */
  @Test
  void anInterruptFailsAWriteThatHasBegun() throws Exception {
    whileWriting(
        (pair, writing) -> {
          writing.doing.interrupt();
          assertThat(writing.doing.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(Bytes.readToEnd(pair.server)).isEqualTo(writing.first.position() - 1L);
        });
  }

  @Test
  void aStreamsWriteFailsIfItIsCutShort() throws Exception {
    byte[] large = new byte[MORE_THAN_BUFFERS];
    Pair closed = pair();
    Pair shut = pair();
    Pair left = pair();
    List<Doing<Void>> writing = new ArrayList<>();
    for (Pair pair : List.of(closed, shut, left)) {
      OutputStream out = pair.client.socket().getOutputStream();
      Doing<Void> one =
          Doing.start(
              () -> {
                out.write(large);
                return null;
              });
      readFully(pair.server, 1);
      writing.add(one.whenWaiting());
    }
    closed.client.close();
    assertThat(writing.get(0).failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    shut.client.shutdownOutput();
    assertThat(writing.get(1).failure()).isInstanceOf(IOException.class).hasMessage("Broken pipe");
    assumeCloseIsHeardAtOnce();
    left.server.close();
    assertThat(writing.get(2).failure())
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset by peer");
    assertThat(Bytes.read(left.client)).isEqualTo(-1);
  }

  @Test
  void aClosedChannelRefusesWrites() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
        .isExactlyInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.write(ByteBuffer.allocate(0)))
        .isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.write(Bytes.of(bytes(1, 1))))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void badArgumentsOfAClosedChannelAreRefused() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(() -> pair.client.write((ByteBuffer) null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> pair.client.write(Bytes.of(bytes(1, 1)), 0, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aBlockingWriteGivesAllAwayHoweverLittleThePeerTakes() throws Exception {
    Pair pair = pair();
    ByteBuffer all = bytes(LARGE, 6);
    Doing<Integer> writer = Doing.start(() -> pair.client.write(all.duplicate())).whenWaiting();
    ByteBuffer got = ByteBuffer.allocate(LARGE);
    int step = 1;
    while (got.hasRemaining()) {
      got.limit(Math.min(got.capacity(), got.position() + step));
      assertThat(pair.server.read(got)).isPositive();
      got.limit(got.capacity());
      step = step % 100_000 + 977;
    }
    assertThat(writer.result()).isEqualTo(LARGE);
    assertThat(got.flip().equals(all)).isTrue();
  }

  @Test
  void aBlockingGatheringWriteTakesAtLeastOneByteAndLosesNone() throws Exception {
    Pair pair = pair();
    ByteBuffer all = bytes(LARGE, 6);
    ByteBuffer[] parts =
        Bytes.of(
            all.slice(0, 10), all.slice(10, 4 << 20), all.slice((4 << 20) + 10, (5 << 20) - 10));
    Doing<ByteBuffer> reader = reads(pair.server, LARGE);
    long n = 0;
    while (n < LARGE) {
      long step = pair.client.write(parts);
      assertThat(step).isPositive();
      n += step;
    }
    assertThat(reader.result().equals(all)).isTrue();
  }

  @Test
  void aNonBlockingWriteTakesWhatHasRoomAndMovesThePositionByIt() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    ByteBuffer all = bytes(24 << 20, 5);
    int n = pair.client.write(all);
    assertThat(n).isPositive().isLessThan(24 << 20);
    assertThat(all.position()).isEqualTo(n);
    assertThat(readFully(pair.server, n).equals(bytes(24 << 20, 5).limit(n))).isTrue();
  }

  @Test
  void aNonBlockingWriteIntoFullBuffersIsZero() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    // The system may find room some time after it has said that there is none, and much of it.
    Await.until("full", () -> fullFor(pair.client, () -> pair.client.write(bytes(10, 1))));
    Await.until(
        "full",
        () -> fullFor(pair.client, () -> pair.client.write(Bytes.of(bytes(10, 1), bytes(10, 1)))));
  }

  private static boolean fullFor(SocketChannel channel, Callable<Number> write) throws Exception {
    Bytes.fill(channel);
    return write.call().longValue() == 0;
  }

  @Test
  void buffersTakeSomeHundredKilobytesBeforeTheyAreFull() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    long n = Bytes.fill(pair.client);
    assertThat(n).isBetween(100L << 10, 24L << 20);
    assertThat(readFully(pair.server, (int) n).remaining()).isEqualTo((int) n);
  }

  @Test
  void aNonBlockingWriterGoesOnWhenThePeerReads() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    ByteBuffer all = bytes(24 << 20, 5);
    ByteBuffer out = all.duplicate();
    int first = pair.client.write(out);
    assertThat(first).isPositive();
    Doing<ByteBuffer> reader = reads(pair.server, 24 << 20);
    Bytes.writeFully(pair.client, out);
    assertThat(reader.result().equals(all)).isTrue();
  }

  @Test
  void aNonBlockingGatherMayEndInsideABuffer() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    ByteBuffer all = bytes(24 << 20, 5);
    ByteBuffer[] parts = Bytes.of(all.slice(0, 1 << 20), all.slice(1 << 20, 23 << 20));
    long n = pair.client.write(parts);
    assertThat(n).isPositive();
    assertThat(parts[0].position() + parts[1].position()).isEqualTo((int) n);
    assertThat(readFully(pair.server, (int) n).equals(all.slice(0, (int) n))).isTrue();
  }

  @Test
  void bothDirectionsMayBeFullAtOnce() throws Exception {
    Pair pair = pair();
    Doing<Integer> there = Doing.start(() -> pair.client.write(bytes(LARGE, 1)));
    Doing<Integer> back = Doing.start(() -> pair.server.write(bytes(LARGE, 2)));
    Doing<ByteBuffer> atServer = reads(pair.server, LARGE);
    Doing<ByteBuffer> atClient = reads(pair.client, LARGE);
    assertThat(atServer.result().equals(bytes(LARGE, 1))).isTrue();
    assertThat(atClient.result().equals(bytes(LARGE, 2))).isTrue();
    assertThat(there.result()).isEqualTo(LARGE);
    assertThat(back.result()).isEqualTo(LARGE);
  }

  @Test
  void blockingWritesOfSeveralThreadsAreNotMixed() throws Exception {
    Pair pair = pair();
    int each = 300_000;
    List<Doing<Integer>> writers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      byte[] chunk = new byte[each];
      Arrays.fill(chunk, (byte) i);
      writers.add(Doing.start(() -> pair.client.write(ByteBuffer.wrap(chunk))));
    }
    ByteBuffer got = readFully(pair.server, 4 * each);
    for (Doing<Integer> writer : writers) {
      assertThat(writer.result()).isEqualTo(each);
    }
    byte[] chunk = new byte[each];
    for (int part = 0; part < 4; part++) {
      Arrays.fill(chunk, got.get(part * each));
      assertThat(got.slice(part * each, each).equals(ByteBuffer.wrap(chunk))).isTrue();
    }
  }

  @Test
  void readersAndWritersOfManyThreadsLoseNothing() throws Exception {
    Pair pair = pair();
    int each = 100_000;
    List<Doing<Long>> writers = new ArrayList<>();
    List<Doing<Long>> readers = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      byte value = (byte) i;
      writers.add(Doing.start(() -> writeOnes(pair.client, value, each)));
      readers.add(Doing.start(() -> sumOfAll(pair.server)));
    }
    long written = 0;
    for (Doing<Long> writer : writers) {
      written += writer.result();
    }
    pair.client.shutdownOutput();
    long read = 0;
    for (Doing<Long> reader : readers) {
      read += reader.result();
    }
    assertThat(read).isEqualTo(written).isEqualTo(10L * each);
  }

  private static long writeOnes(SocketChannel to, byte value, int n) throws IOException {
    byte[] chunk = new byte[1000];
    Arrays.fill(chunk, value);
    long sum = 0;
    for (int i = 0; i < n / 1000; i++) {
      sum += (long) value * to.write(ByteBuffer.wrap(chunk));
    }
    return sum;
  }

  private static long sumOfAll(SocketChannel from) throws IOException {
    ByteBuffer chunk = ByteBuffer.allocate(777);
    long sum = 0;
    while (from.read(chunk.clear()) >= 0) {
      chunk.flip();
      while (chunk.hasRemaining()) {
        sum += chunk.get();
      }
    }
    return sum;
  }

  /** More than any buffers hold, so that a blocking write waits with a part of it written. */
  private static final int NEVER_TAKEN = 64 << 20;

  @Test
  void aGatheringWriteCutShortReportsItsPart() throws Exception {
    Pair pair = pair();
    ByteBuffer[] large = {
      bytes(10, 1), ByteBuffer.allocateDirect(NEVER_TAKEN), ByteBuffer.allocateDirect(10)
    };
    Doing<Long> writing = Doing.start(() -> pair.client.write(large));
    Await.readable(pair.server);
    writing.whenWaiting();
    pair.client.shutdownOutput();
    long part = writing.result();
    assertThat(part).isEqualTo(large[0].position() + large[1].position()).isGreaterThan(10);
    assertThat(large[2].position()).isZero();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(part);
  }
}
