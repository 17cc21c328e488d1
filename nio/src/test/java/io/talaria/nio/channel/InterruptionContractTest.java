// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that wait, and what other threads do to them. */
@Timeout(60)
class InterruptionContractTest {

  @AfterEach
  void clearStatus() {
    Thread.interrupted();
  }

  private static Callable<Integer> read(SocketChannel channel) {
    return () -> channel.read(ByteBuffer.allocate(1));
  }

  private static Callable<Integer> scatter(SocketChannel channel) {
    return () ->
        (int) channel.read(new ByteBuffer[] {ByteBuffer.allocate(1), ByteBuffer.allocate(1)});
  }

  private static Callable<Integer> write(SocketChannel channel) {
    return () -> {
      while (true) {
        channel.write(ByteBuffer.allocate(1 << 20));
      }
    };
  }

  private static Callable<Integer> gather(SocketChannel channel) {
    return () -> {
      while (true) {
        channel.write(new ByteBuffer[] {ByteBuffer.allocate(1), ByteBuffer.allocate(1 << 20)});
      }
    };
  }

  @ParameterizedTest
  @EnumSource
  void aCloseEndsReadsAndWritesInProgress(Ground ground) throws Exception {
    for (int i = 0; i < 4; i++) {
      try (Pair pair = ground.pair()) {
        SocketChannel channel = i % 2 == 0 ? pair.client : pair.server;
        Doing<?> reader = Doing.start(i < 2 ? read(channel) : scatter(channel));
        Doing<?> writer = Doing.start(i < 2 ? write(channel) : gather(channel)).whenWaiting();
        reader.whenWaiting();
        channel.close();
        assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
        assertThat(reader.wasInterrupted()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptClosesTheChannelUnderARead(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> reader = Doing.start(read(pair.server)).whenWaiting();
      reader.interrupt();
      assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
      assertThat(reader.wasInterrupted()).isTrue();
      assertThat(pair.server.isOpen()).isFalse();
      assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptClosesTheChannelUnderAWrite(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> writer = Doing.start(write(pair.server)).whenWaiting();
      writer.interrupt();
      assertThat(writer.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
      assertThat(writer.wasInterrupted()).isTrue();
      assertThat(pair.server.isOpen()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptOfTheReaderEndsTheWriterToo(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      Doing<Integer> reader = Doing.start(read(pair.server));
      Doing<Integer> writer = Doing.start(write(pair.server)).whenWaiting();
      reader.interrupt();
      assertThat(reader.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
      assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void withTheStatusSetABlockingOperationClosesTheChannel(Ground ground) throws Exception {
    for (int i = 0; i < 4; i++) {
      try (Pair pair = ground.pair()) {
        pair.server.write(ByteBuffer.allocate(1));
        ByteBuffer one = ByteBuffer.allocate(1);
        int which = i;
        Doing<Number> operation =
            Doing.start(
                () -> {
                  Thread.currentThread().interrupt();
                  return switch (which) {
                    case 0 -> pair.client.read(one);
                    case 1 -> pair.client.write(one);
                    case 2 -> pair.client.read(new ByteBuffer[] {one});
                    default -> pair.client.write(new ByteBuffer[] {one});
                  };
                });
        assertThat(operation.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
        assertThat(operation.wasInterrupted()).isTrue();
        assertThat(pair.client.isOpen()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void withTheStatusSetANonBlockingOperationWorks(Ground ground) throws Exception {
    try (Pair pair = ground.pair()) {
      pair.client.configureBlocking(false);
      Doing<Integer> operation =
          Doing.start(
              () -> {
                Thread.currentThread().interrupt();
                return pair.client.write(ByteBuffer.allocate(3))
                    + pair.client.read(ByteBuffer.allocate(3));
              });
      assertThat(operation.result()).isEqualTo(3);
      assertThat(operation.wasInterrupted()).isTrue();
      assertThat(pair.client.isOpen()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void acceptEndsByCloseAndByInterrupt(Ground ground) throws Exception {
    ServerSocketChannel closed = Pair.listen(ground.provider());
    Doing<SocketChannel> accept = Doing.start(closed::accept).whenWaiting();
    closed.close();
    assertThat(accept.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThatThrownBy(closed::accept).isInstanceOf(ClosedChannelException.class);

    ServerSocketChannel interrupted = Pair.listen(ground.provider());
    accept = Doing.start(interrupted::accept).whenWaiting();
    accept.interrupt();
    assertThat(accept.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
    assertThat(accept.wasInterrupted()).isTrue();
    assertThat(interrupted.isOpen()).isFalse();

    ServerSocketChannel before = Pair.listen(ground.provider());
    accept =
        Doing.start(
            () -> {
              Thread.currentThread().interrupt();
              return before.accept();
            });
    assertThat(accept.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
    assertThat(before.isOpen()).isFalse();
  }

  /** A listener whose backlog is full leaves a further connect without an answer. */
  @ParameterizedTest
  @EnumSource
  void connectEndsByCloseAndByInterrupt(Ground ground) throws Exception {
    try (ServerSocketChannel full = ground.provider().openServerSocketChannel()) {
      full.bind(new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0), 1);
      java.util.List<SocketChannel> fill = new java.util.ArrayList<>();
      for (int i = 0; i < 4; i++) {
        SocketChannel channel = ground.provider().openSocketChannel();
        channel.configureBlocking(false);
        channel.connect(full.getLocalAddress());
        fill.add(channel);
      }
      Thread.sleep(50);
      for (int i = 0; i < 3; i++) {
        SocketChannel channel = ground.provider().openSocketChannel();
        boolean before = i == 2;
        Doing<Boolean> connect =
            Doing.start(
                () -> {
                  if (before) {
                    Thread.currentThread().interrupt();
                  }
                  return channel.connect(full.getLocalAddress());
                });
        if (i == 0) {
          connect.whenWaiting();
          assertThat(channel.isConnectionPending()).isTrue();
          channel.close();
          assertThat(connect.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
        } else {
          if (i == 1) {
            connect.whenWaiting();
            connect.interrupt();
          }
          assertThat(connect.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
          assertThat(connect.wasInterrupted()).isTrue();
        }
        assertThat(channel.isOpen()).isFalse();
        assertThat(channel.isConnected()).isFalse();
        assertThat(channel.isConnectionPending()).isFalse();
      }
      for (SocketChannel channel : fill) {
        channel.close();
      }
    }
  }

  /** Never the end of the stream: that would tell the reader that the peer has closed. */
  @ParameterizedTest
  @EnumSource
  void aReadThatMeetsACloseOfItsOwnChannelNeverSeesAnEnd(Ground ground) throws Exception {
    try (ServerSocketChannel listener = Pair.listen(ground.provider())) {
      for (int i = 0; i < 300; i++) {
        try (Pair pair = Pair.connect(ground.provider(), listener)) {
          if (ground == Ground.ACCELERATED) {
            pair.accelerate();
          }
          Doing<Integer> reader = Doing.start(read(pair.server));
          Doing<Integer> writer = Doing.start(write(pair.server));
          long until = System.nanoTime() + (i % 50) * 10_000L;
          while (System.nanoTime() < until) {
            Thread.onSpinWait();
          }
          pair.server.close();
          assertThat(reader.failure()).as("round %d", i).isInstanceOf(ClosedChannelException.class);
          assertThat(writer.failure()).as("round %d", i).isInstanceOf(ClosedChannelException.class);
        }
      }
    }
  }
}
