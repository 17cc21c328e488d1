// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes through a pair of channels. */
@Timeout(60)
class ReadWriteContractTest {

  static ByteBuffer bytes(int n, int seed) {
    byte[] random = new byte[n];
    new Random(seed).nextBytes(random);
    return ByteBuffer.wrap(random);
  }

  static ByteBuffer readFully(SocketChannel from, ByteBuffer into) throws IOException {
    while (into.hasRemaining()) {
      if (from.read(into) < 0) {
        throw new IOException("ended after " + into.position());
      }
    }
    return into.flip();
  }

  private static ByteBuffer[] of(ByteBuffer... buffers) {
    return buffers;
  }

  @ParameterizedTest
  @EnumSource
  void heapAndDirectBuffersCarryTheSameBytesBothWays(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      for (int size : new int[] {1, 7, 4096, 65_536, 100_003}) {
        ByteBuffer sent = bytes(size, size);
        ByteBuffer direct = ByteBuffer.allocateDirect(size).put(sent.duplicate()).flip();
        Doing<ByteBuffer> heapReader =
            Doing.start(() -> readFully(pair.server, ByteBuffer.allocate(size)));
        assertThat(pair.client.write(direct)).isEqualTo(size);
        assertThat(heapReader.result()).isEqualTo(sent);
        Doing<ByteBuffer> directReader =
            Doing.start(() -> readFully(pair.client, ByteBuffer.allocateDirect(size)));
        assertThat(pair.server.write(sent.duplicate().asReadOnlyBuffer())).isEqualTo(size);
        assertThat(directReader.result()).isEqualTo(sent);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void positionsAndLimitsMoveOnlyByWhatWasMoved(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer out = bytes(100, 1);
      out.position(10).limit(60);
      assertThat(pair.client.write(out)).isEqualTo(50);
      assertThat(out.position()).isEqualTo(60);
      assertThat(out.limit()).isEqualTo(60);
      ByteBuffer in = ByteBuffer.allocate(200);
      in.position(20).limit(40);
      assertThat(pair.server.read(in)).isEqualTo(20);
      assertThat(in.position()).isEqualTo(40);
      in.limit(200).position(100);
      assertThat(pair.server.read(in)).isEqualTo(30);
      assertThat(in.position()).isEqualTo(130);
      assertThat(in.get(20)).isEqualTo(out.get(10));
      assertThat(in.get(129)).isEqualTo(out.get(59));
    }
  }

  @ParameterizedTest
  @EnumSource
  void emptyBuffersMoveNothing(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer empty = ByteBuffer.allocate(0);
      for (int i = 0; i < 2; i++) {
        pair.configureBlocking(i == 0);
        assertThat(pair.client.write(empty)).isEqualTo(0);
        assertThat(pair.client.read(empty)).isEqualTo(0);
        assertThat(pair.client.write(of(empty, empty))).isEqualTo(0);
        assertThat(pair.client.read(of(empty, empty))).isEqualTo(0);
        assertThat(pair.client.write(of())).isEqualTo(0);
        assertThat(pair.client.read(of())).isEqualTo(0);
      }
      pair.configureBlocking(true);
      pair.server.close();
      assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThat(pair.client.read(empty)).isEqualTo(0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void readOnlyDestinationsAreRefused(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer readOnly = ByteBuffer.allocate(10).asReadOnlyBuffer();
      pair.server.write(bytes(10, 1));
      assertThatThrownBy(() -> pair.client.read(readOnly))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> pair.client.read(of(readOnly, ByteBuffer.allocate(1))))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(readFully(pair.client, ByteBuffer.allocate(10))).isEqualTo(bytes(10, 1));
      assertThatThrownBy(() -> pair.client.read((ByteBuffer) null))
          .isInstanceOf(NullPointerException.class);
      assertThatThrownBy(() -> pair.client.write((ByteBuffer) null))
          .isInstanceOf(NullPointerException.class);
      assertThatThrownBy(() -> pair.client.read(of(readOnly), 0, 2))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> pair.client.write(of(readOnly), 1, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void gatheredBytesAreScatteredInOrder(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer all = bytes(1000, 3);
      ByteBuffer[] parts =
          of(
              ByteBuffer.allocate(5),
              all.slice(0, 1),
              ByteBuffer.allocate(0),
              ByteBuffer.allocateDirect(499).put(all.slice(1, 499)).flip(),
              all.slice(500, 500).asReadOnlyBuffer(),
              ByteBuffer.allocate(9));
      assertThat(pair.client.write(parts, 1, 4)).isEqualTo(1000);
      assertThat(parts[0].remaining()).isEqualTo(5);
      assertThat(parts[5].remaining()).isEqualTo(9);
      Thread.sleep(20);
      ByteBuffer[] into =
          of(
              ByteBuffer.allocate(3),
              ByteBuffer.allocate(0),
              ByteBuffer.allocateDirect(600),
              ByteBuffer.allocate(397),
              ByteBuffer.allocate(50));
      long n = 0;
      while (n < 1000) {
        long read = pair.server.read(into);
        assertThat(read).isPositive();
        n += read;
      }
      ByteBuffer got = ByteBuffer.allocate(1000);
      for (ByteBuffer part : into) {
        got.put(part.flip());
      }
      assertThat(got.flip()).isEqualTo(all);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNonBlockingReadOfNothingGivesZeroAtOnce(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.configureBlocking(false);
      ByteBuffer one = ByteBuffer.allocate(1);
      for (int i = 0; i < 100; i++) {
        assertThat(pair.client.read(one)).isEqualTo(0);
        assertThat(pair.client.read(of(one))).isEqualTo(0);
        Thread.sleep(1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aNonBlockingWriterFillsUpAndGoesOnWhenThePeerReads(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.configureBlocking(false);
      ByteBuffer all = bytes(32 << 20, 5);
      int zeros = 0;
      while (zeros < 20) {
        int before = all.position();
        int n = pair.client.write(all);
        assertThat(all.position() - before).isEqualTo(n);
        if (n == 0) {
          zeros++;
          Thread.sleep(5);
        }
      }
      assertThat(all.position()).isBetween(30_000, 31 << 20);
      assertThat(pair.client.write(of(all, bytes(10, 1)))).isEqualTo(0);
      pair.server.configureBlocking(true);
      Doing<ByteBuffer> reader =
          Doing.start(() -> readFully(pair.server, ByteBuffer.allocate(32 << 20)));
      while (all.hasRemaining()) {
        if (pair.client.write(of(ByteBuffer.allocate(0), all)) == 0) {
          Thread.sleep(1);
        }
      }
      assertThat(reader.result().equals(all.flip())).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBlockingWriterGivesAllAwayHoweverLittleThePeerTakes(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer all = bytes(12 << 20, 6);
      Doing<Integer> writer = Doing.start(() -> pair.client.write(all.duplicate())).whenWaiting();
      ByteBuffer got = ByteBuffer.allocate(12 << 20);
      int step = 1;
      while (got.hasRemaining()) {
        got.limit(Math.min(got.capacity(), got.position() + step));
        assertThat(pair.server.read(got)).isPositive();
        got.limit(got.capacity());
        step = step % 100_000 + 977;
      }
      assertThat(writer.result()).isEqualTo(12 << 20);
      assertThat(got.flip().equals(all)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBlockingGatherGivesAllAway(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      ByteBuffer all = bytes(12 << 20, 6);
      ByteBuffer[] parts =
          of(all.slice(0, 10), all.slice(10, 6 << 20), all.slice(6291466, 6291446));
      Doing<Long> writer = Doing.start(() -> pair.client.write(parts)).whenWaiting();
      ByteBuffer got = readFully(pair.server, ByteBuffer.allocate(12 << 20));
      assertThat(writer.result()).isEqualTo(12 << 20);
      assertThat(got.equals(all)).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anUnconnectedChannelSaysSo(Ground ground) throws Exception {
    SocketChannel channel = ground.provider().openSocketChannel();
    try (channel) {
      ByteBuffer one = ByteBuffer.allocate(1);
      assertThatThrownBy(() -> channel.read(one)).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(() -> channel.write(one)).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(channel::shutdownInput).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(channel::shutdownOutput).isInstanceOf(NotYetConnectedException.class);
      assertThat(channel.getRemoteAddress()).isNull();
      assertThat(channel.getLocalAddress()).isNull();
      assertThat(channel.isConnected()).isFalse();
    }
    ByteBuffer one = ByteBuffer.allocate(1);
    assertThatThrownBy(() -> channel.read(one)).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> channel.write(one)).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(channel::shutdownInput).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(channel::getRemoteAddress).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(channel::getLocalAddress).isInstanceOf(ClosedChannelException.class);
  }

  @ParameterizedTest
  @EnumSource
  void readersAndWritersOfManyThreadsLoseNothing(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      int each = 200_000;
      java.util.List<Doing<Long>> writers = new java.util.ArrayList<>();
      java.util.List<Doing<Long>> readers = new java.util.ArrayList<>();
      for (int i = 1; i <= 4; i++) {
        byte value = (byte) i;
        writers.add(
            Doing.start(
                () -> {
                  byte[] chunk = new byte[1000];
                  java.util.Arrays.fill(chunk, value);
                  long sum = 0;
                  for (int j = 0; j < each / 1000; j++) {
                    sum += (long) value * pair.client.write(ByteBuffer.wrap(chunk));
                  }
                  return sum;
                }));
        readers.add(
            Doing.start(
                () -> {
                  ByteBuffer chunk = ByteBuffer.allocate(777);
                  long sum = 0;
                  while (pair.server.read(chunk) >= 0) {
                    chunk.flip();
                    while (chunk.hasRemaining()) {
                      sum += chunk.get();
                    }
                    chunk.clear();
                  }
                  return sum;
                }));
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
  }
}
