// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Threads that wait in a channel, and what a close or an interrupt does to them. */
class InterruptionContractTest extends Contract {
  InterruptionContractTest(Variant variant) {
    super(variant);
  }

  private static Callable<Long> scatter(SocketChannel channel) {
    return () -> channel.read(Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1)));
  }

  private static <T> Doing<T> interrupted(Callable<T> work) {
    return Doing.start(
        () -> {
          Thread.currentThread().interrupt();
          return work.call();
        });
  }

  private static void assertClosedByInterrupt(Doing<?> doing, java.nio.channels.Channel channel)
      throws Exception {
    assertThat(doing.failure()).isExactlyInstanceOf(ClosedByInterruptException.class);
    assertThat(doing.wasInterrupted()).isTrue();
    assertThat(channel.isOpen()).isFalse();
  }

  // ---- close

  @Test
  void aCloseEndsARead() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.client.close();
    assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(reader.wasInterrupted()).isFalse();
  }

  @Test
  void aCloseEndsAReadOfTheServer() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    pair.server.close();
    assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(read(pair.client)).isEqualTo(-1);
  }

  @Test
  void aCloseEndsAScatteredRead() throws Exception {
    Pair pair = pair();
    Doing<Long> reader = Doing.start(scatter(pair.client)).whenWaiting();
    pair.client.close();
    assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
  }

  @Test
  void aCloseEndsAWrite() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.into(pair.client).whenFull();
    pair.client.close();
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
    assertThat(flood.doing().wasInterrupted()).isFalse();
  }

  @Test
  void aCloseEndsAGatheringWrite() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.gatheredInto(pair.client).whenFull();
    pair.client.close();
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aCloseEndsAReadAndAWriteTogether() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    Flood flood = Flood.into(pair.client).whenFull();
    pair.client.close();
    assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aCloseEndsAllReadersThatWaitForTheirTurn() throws Exception {
    Pair pair = pair();
    Doing<Integer> one = Doing.start(() -> read(pair.client)).whenWaiting();
    Doing<Integer> two = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.client.close();
    assertThat(one.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(two.failure()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aCloseDoesNotWaitForTheReader() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.client.close();
    assertThat(pair.client.isOpen()).isFalse();
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(reader.failure()).isNotNull();
  }

  @Test
  void aCloseUnderAReaderDeliversWhatWasWritten() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.client.write(bytes(10_000, 1));
    pair.client.close();
    assertThat(readFully(pair.server, 10_000)).isEqualTo(bytes(10_000, 1));
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(reader.failure()).isNotNull();
  }

  @Test
  void aCloseEndsAnAccept() throws Exception {
    ServerSocketChannel listener = listener();
    Doing<SocketChannel> accept = Doing.start(listener::accept).whenWaiting();
    listener.close();
    assertThat(accept.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThatThrownBy(listener::accept).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aCloseEndsAConnect() throws Exception {
    SocketAddress silent = silent();
    SocketChannel channel = client();
    Doing<Boolean> connect = Doing.start(() -> channel.connect(silent)).whenWaiting();
    assertThat(channel.isConnectionPending()).isTrue();
    channel.close();
    assertThat(connect.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(channel.isConnectionPending()).isFalse();
    assertThat(channel.isConnected()).isFalse();
  }

  @Test
  void aCloseEndsAFinishConnect() throws Exception {
    SocketAddress silent = silent();
    SocketChannel channel = client();
    channel.configureBlocking(false);
    channel.connect(silent);
    channel.configureBlocking(true);
    Doing<Boolean> finish = Doing.start(channel::finishConnect).whenWaiting();
    channel.close();
    assertThat(finish.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
  }

  // ---- interrupt

  @Test
  void anInterruptClosesTheChannelUnderARead() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    reader.interrupt();
    assertClosedByInterrupt(reader, pair.client);
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void anInterruptClosesTheChannelUnderAScatteredRead() throws Exception {
    Pair pair = pair();
    Doing<Long> reader = Doing.start(scatter(pair.client)).whenWaiting();
    reader.interrupt();
    assertClosedByInterrupt(reader, pair.client);
  }

  @Test
  void anInterruptClosesTheChannelUnderAWrite() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.into(pair.client).whenFull();
    flood.doing().interrupt();
    assertClosedByInterrupt(flood.doing(), pair.client);
  }

  @Test
  void anInterruptClosesTheChannelUnderAGatheringWrite() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.gatheredInto(pair.client).whenFull();
    flood.doing().interrupt();
    assertClosedByInterrupt(flood.doing(), pair.client);
  }

  @Test
  void anInterruptOfTheReaderEndsTheWriterToo() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    Flood flood = Flood.into(pair.client).whenFull();
    reader.interrupt();
    assertClosedByInterrupt(reader, pair.client);
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
    assertThat(flood.doing().wasInterrupted()).isFalse();
  }

  @Test
  void anInterruptOfTheWriterEndsTheReaderToo() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    Flood flood = Flood.into(pair.client).whenFull();
    flood.doing().interrupt();
    assertClosedByInterrupt(flood.doing(), pair.client);
    assertThat(reader.failure()).isExactlyInstanceOf(AsynchronousCloseException.class);
    assertThat(reader.wasInterrupted()).isFalse();
  }

  @Test
  void anInterruptClosesTheListenerUnderAnAccept() throws Exception {
    ServerSocketChannel listener = listener();
    Doing<SocketChannel> accept = Doing.start(listener::accept).whenWaiting();
    accept.interrupt();
    assertClosedByInterrupt(accept, listener);
  }

  @Test
  void anInterruptClosesTheChannelUnderAConnect() throws Exception {
    SocketAddress silent = silent();
    SocketChannel channel = client();
    Doing<Boolean> connect = Doing.start(() -> channel.connect(silent)).whenWaiting();
    connect.interrupt();
    assertClosedByInterrupt(connect, channel);
    assertThat(channel.isConnectionPending()).isFalse();
  }

  @Test
  void anInterruptClosesTheChannelUnderAFinishConnect() throws Exception {
    SocketAddress silent = silent();
    SocketChannel channel = client();
    channel.configureBlocking(false);
    channel.connect(silent);
    channel.configureBlocking(true);
    Doing<Boolean> finish = Doing.start(channel::finishConnect).whenWaiting();
    finish.interrupt();
    assertClosedByInterrupt(finish, channel);
  }

  @Test
  void anInterruptUnwindsAVirtualThreadToo() throws Exception {
    if (Runtime.version().feature() < 21) {
      return;
    }
    Pair pair = pair();
    Doing<Integer> reader = Doing.startVirtual(() -> read(pair.client)).whenWaiting();
    reader.interrupt();
    assertClosedByInterrupt(reader, pair.client);
  }

  // ---- the status set before

  @Test
  void withTheStatusSetABlockingReadClosesTheChannel() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(1, 1));
    Await.readable(pair.client);
    assertClosedByInterrupt(interrupted(() -> read(pair.client)), pair.client);
  }

  @Test
  void withTheStatusSetABlockingScatteredReadClosesTheChannel() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(1, 1));
    assertClosedByInterrupt(interrupted(scatter(pair.client)), pair.client);
  }

  @Test
  void withTheStatusSetABlockingWriteClosesTheChannel() throws Exception {
    Pair pair = pair();
    assertClosedByInterrupt(interrupted(() -> pair.client.write(bytes(1, 1))), pair.client);
  }

  @Test
  void withTheStatusSetABlockingGatheringWriteClosesTheChannel() throws Exception {
    Pair pair = pair();
    assertClosedByInterrupt(
        interrupted(() -> pair.client.write(Bytes.of(bytes(1, 1)))), pair.client);
  }

  @Test
  void withTheStatusSetAnEmptyBlockingReadOrWriteClosesTheChannel() throws Exception {
    Pair one = pair();
    assertClosedByInterrupt(interrupted(() -> one.client.read(ByteBuffer.allocate(0))), one.client);
    Pair two = pair();
    assertClosedByInterrupt(
        interrupted(() -> two.client.write(ByteBuffer.allocate(0))), two.client);
  }

  @Test
  void withTheStatusSetABlockingReadOfAnInputThatIsShutClosesTheChannel() throws Exception {
    Pair one = pair();
    one.client.shutdownInput();
    assertClosedByInterrupt(interrupted(() -> read(one.client)), one.client);
    Pair two = pair();
    two.client.shutdownInput();
    assertClosedByInterrupt(interrupted(scatter(two.client)), two.client);
  }

  @Test
  void withTheStatusSetABlockingConnectOfAConnectedChannelClosesIt() throws Exception {
    Pair one = pair();
    SocketAddress address = one.client.getRemoteAddress();
    assertClosedByInterrupt(interrupted(() -> one.client.connect(address)), one.client);
    Pair two = pair();
    assertClosedByInterrupt(
        interrupted(
            () -> {
              two.client.socket().connect(address, 10_000);
              return null;
            }),
        two.client);
  }

  @Test
  void withTheStatusSetABlockingReadResetsThePeerIfBytesAreUnread() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(5, 1));
    Await.readable(pair.client);
    assertClosedByInterrupt(interrupted(() -> read(pair.client)), pair.client);
    assertThatThrownBy(() -> pair.server.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aCloseUnderAWriteResetsThePeerIfBytesAreUnread() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(5, 1));
    Await.readable(pair.client);
    Flood writer = Flood.into(pair.client).whenFull();
    pair.client.close();
    assertThatThrownBy(
            () -> {
              ByteBuffer in = ByteBuffer.allocate(1 << 16);
              while (pair.server.read(in.clear()) > 0) {
                // what had arrived before the reset
              }
            })
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    assertThat(writer.failure()).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void withTheStatusSetABlockingAcceptClosesTheListener() throws Exception {
    ServerSocketChannel listener = listener();
    assertClosedByInterrupt(interrupted(listener::accept), listener);
  }

  @Test
  void withTheStatusSetABlockingConnectClosesTheChannel() throws Exception {
    SocketAddress address = listener().getLocalAddress();
    SocketChannel channel = client();
    assertClosedByInterrupt(interrupted(() -> channel.connect(address)), channel);
  }

  @Test
  void withTheStatusSetANonBlockingReadAndWriteWork() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    Doing<Integer> operation =
        interrupted(() -> pair.client.write(bytes(3, 1)) + read(pair.client));
    assertThat(operation.result()).isEqualTo(3);
    assertThat(operation.wasInterrupted()).isTrue();
    assertThat(pair.client.isOpen()).isTrue();
  }

  @Test
  void withTheStatusSetANonBlockingAcceptAndConnectWork() throws Exception {
    ServerSocketChannel listener = listener();
    listener.configureBlocking(false);
    SocketChannel channel = client();
    channel.configureBlocking(false);
    Doing<Boolean> operation =
        interrupted(
            () -> {
              channel.connect(listener.getLocalAddress());
              SocketChannel accepted = listener.accept();
              return accepted == null || accepted.isOpen();
            });
    assertThat(operation.result()).isTrue();
    assertThat(channel.isOpen()).isTrue();
    assertThat(listener.isOpen()).isTrue();
  }

  @Test
  void withTheStatusSetTheChannelCanBeClosedAndConfigured() throws Exception {
    Pair pair = pair();
    Doing<Boolean> operation =
        interrupted(
            () -> {
              pair.client.configureBlocking(false);
              pair.client.shutdownOutput();
              pair.client.close();
              return pair.client.isOpen();
            });
    assertThat(operation.result()).isFalse();
    assertThat(operation.wasInterrupted()).isTrue();
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  // ---- modes

  @Test
  void theModeCanBeChangedAndAsked() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.configureBlocking(false)).isSameAs(pair.client);
    assertThat(pair.client.isBlocking()).isFalse();
    pair.client.configureBlocking(false);
    assertThat(read(pair.client)).isZero();
    pair.client.configureBlocking(true);
    assertThat(pair.client.isBlocking()).isTrue();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.server.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
  }

  @Test
  void theModeOfAClosedChannelCannotBeChanged() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(() -> pair.client.configureBlocking(false))
        .isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(() -> pair.client.configureBlocking(true))
        .isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void theModeIsChangedOnlyOnceAReadInProgressIsOver() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    Doing<SocketChannel> configure =
        Doing.start(() -> (SocketChannel) pair.client.configureBlocking(false)).whenWaiting();
    pair.server.write(bytes(1, 1));
    assertThat(reader.result()).isEqualTo(1);
    assertThat(configure.result().isBlocking()).isFalse();
    assertThat(read(pair.client)).isZero();
  }

  @Test
  void theBlockingLockIsOneObject() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.blockingLock()).isSameAs(pair.client.blockingLock());
    synchronized (pair.client.blockingLock()) {
      pair.server.write(bytes(1, 1));
      assertThat(read(pair.client)).isEqualTo(1);
    }
  }

  @Test
  void anInterruptedWriteAfterShutdownOutputClosesTheChannel() throws Exception {
    Pair pair = pair();
    pair.client.shutdownOutput();
    Doing<Integer> writing =
        Doing.start(
            () -> {
              Thread.currentThread().interrupt();
              return pair.client.write(bytes(1, 1));
            });
    assertThat(writing.failure()).isInstanceOf(ClosedByInterruptException.class);
    assertThat(pair.client.isOpen()).isFalse();
  }
}
