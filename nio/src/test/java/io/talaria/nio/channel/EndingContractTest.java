// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static io.talaria.nio.channel.ReadWriteContractTest.bytes;
import static io.talaria.nio.channel.ReadWriteContractTest.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a connection ends, and what the other side sees of it. */
@Timeout(60)
class EndingContractTest {

  private static int read(SocketChannel channel) throws IOException {
    return channel.read(ByteBuffer.allocate(100));
  }

  private static int writeForEver(SocketChannel channel) throws IOException {
    while (true) {
      channel.write(ByteBuffer.allocate(1 << 20));
    }
  }

  /** Writes until it fails; a reset may need a moment to arrive. */
  private static Throwable writeUntilFailure(SocketChannel channel) throws Exception {
    for (int i = 0; i < 200; i++) {
      try {
        channel.write(ByteBuffer.allocate(1));
      } catch (IOException e) {
        return e;
      }
      Thread.sleep(5);
    }
    return null;
  }

  @ParameterizedTest
  @EnumSource
  void aCleanCloseIsTheEndAfterAllBytesAndStaysIt(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.client.write(bytes(50_000, 1));
      pair.client.close();
      assertThat(readFully(pair.server, ByteBuffer.allocate(50_000))).isEqualTo(bytes(50_000, 1));
      for (int i = 0; i < 5; i++) {
        assertThat(read(pair.server)).isEqualTo(-1);
        assertThat(pair.server.read(new ByteBuffer[] {ByteBuffer.allocate(1)})).isEqualTo(-1);
      }
      pair.server.configureBlocking(false);
      assertThat(read(pair.server)).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void afterThePeersCleanCloseOneWriteSucceeds(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.client.close();
      assertThat(read(pair.server)).isEqualTo(-1);
      assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
      Thread.sleep(50);
      assertThatThrownBy(() -> pair.server.write(bytes(10, 1)))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
      assertThatThrownBy(() -> pair.server.write(new ByteBuffer[] {bytes(10, 1)}))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
      assertThat(pair.server.isOpen()).isTrue();
      assertThat(pair.server.isConnected()).isTrue();
      assertThat(read(pair.server)).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCloseWithUnreadBytesResetsThePeerAfterItsData(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.server.write(bytes(10, 1));
      pair.client.write(bytes(1000, 2));
      Thread.sleep(50);
      pair.client.close();
      Thread.sleep(50);
      assertThat(readFully(pair.server, ByteBuffer.allocate(1000))).isEqualTo(bytes(1000, 2));
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> read(pair.server))
            .isInstanceOf(SocketException.class)
            .hasMessage("Connection reset");
      }
      assertThatThrownBy(() -> pair.server.write(bytes(1, 1)))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
    }
  }

  @ParameterizedTest
  @EnumSource
  void lingerZeroResetsThePeerAfterItsData(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
      pair.client.write(bytes(1000, 2));
      Thread.sleep(50);
      pair.client.close();
      Thread.sleep(50);
      assertThat(readFully(pair.server, ByteBuffer.allocate(1000))).isEqualTo(bytes(1000, 2));
      assertThatThrownBy(() -> read(pair.server))
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
      assertThat(writeUntilFailure(pair.server)).hasMessage("Broken pipe");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aResetEndsAReadInProgress(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
      pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
      pair.client.close();
      assertThat(reader.failure())
          .isInstanceOf(SocketException.class)
          .hasMessage("Connection reset");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCleanCloseEndsAReadInProgress(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
      pair.client.close();
      assertThat(reader.result()).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCloseOfThePeerEndsAWriteInProgress(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> writer = Doing.start(() -> writeForEver(pair.server)).whenWaiting();
      pair.client.close();
      assertThat(writer.failure()).isInstanceOf(IOException.class);
      assertThat(pair.server.isOpen()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void halfCloseLeavesTheOtherDirection(Ground ground) throws Exception {
    for (boolean clientFirst : new boolean[] {true, false}) {
      try (Pair pair = ground.pair()) {
        SocketChannel first = clientFirst ? pair.client : pair.server;
        SocketChannel second = clientFirst ? pair.server : pair.client;
        first.write(bytes(100, 1));
        assertThat(first.shutdownOutput()).isSameAs(first);
        first.shutdownOutput();
        assertThatThrownBy(() -> first.write(bytes(1, 1)))
            .isInstanceOf(ClosedChannelException.class);
        assertThat(readFully(second, ByteBuffer.allocate(100))).isEqualTo(bytes(100, 1));
        assertThat(read(second)).isEqualTo(-1);
        ByteBuffer large = bytes(8 << 20, 2);
        Doing<Integer> writer = Doing.start(() -> second.write(large.duplicate()));
        assertThat(readFully(first, ByteBuffer.allocate(8 << 20)).equals(large)).isTrue();
        assertThat(writer.result()).isEqualTo(8 << 20);
        second.shutdownOutput();
        assertThat(read(first)).isEqualTo(-1);
        assertThat(first.isOpen()).isTrue();
        assertThat(first.isConnected()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void afterShutdownInputReadsEndAndThePeerMayWrite(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
      assertThat(pair.client.shutdownInput()).isSameAs(pair.client);
      pair.client.shutdownInput();
      assertThat(reader.result()).isEqualTo(-1);
      assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
      Thread.sleep(20);
      assertThat(read(pair.client)).isEqualTo(-1);
      pair.client.write(bytes(10, 2));
      assertThat(readFully(pair.server, ByteBuffer.allocate(10))).isEqualTo(bytes(10, 2));
      pair.client.configureBlocking(false);
      assertThat(read(pair.client)).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shutdownOutputEndsAWriteInProgress(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> writer = Doing.start(() -> writeForEver(pair.server)).whenWaiting();
      pair.server.shutdownOutput();
      assertThat(writer.failure()).isInstanceOf(java.nio.channels.AsynchronousCloseException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWasWrittenBeforeACloseArrivesHoweverSlowThePeer(Ground ground) throws Exception {
    for (int i = 0; i < 10; i++) {
      try (Pair pair = ground.pair()) {
        pair.client.configureBlocking(false);
        ByteBuffer all = bytes(3 << 20, i);
        int n = pair.client.write(all);
        Thread.sleep(i);
        n += pair.client.write(all);
        pair.client.close();
        Thread.sleep(5);
        ByteBuffer got = readFully(pair.server, ByteBuffer.allocate(n));
        assertThat(got.equals(bytes(3 << 20, i).limit(n))).isTrue();
        assertThat(read(pair.server)).isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void bothSidesMayCloseAtOnce(Ground ground) throws Exception {
    for (int i = 0; i < 30; i++) {
      try (Pair pair = ground.pair()) {
        Doing<Integer> one = Doing.start(() -> closed(pair.client));
        Doing<Integer> other = Doing.start(() -> closed(pair.server));
        one.result();
        other.result();
        assertThatThrownBy(() -> read(pair.client)).isInstanceOf(ClosedChannelException.class);
      }
    }
  }

  private static int closed(SocketChannel channel) throws IOException {
    channel.close();
    return 0;
  }
}
