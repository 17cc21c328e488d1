// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** How a connection ends, and what the other side sees of it. */
class EndingContractTest extends Contract {
  EndingContractTest(Variant variant) {
    super(variant);
  }

  private static void reset(SocketChannel channel) throws IOException {
    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
    channel.close();
  }

  /**
   * Bytes for the client. One is read: only then the rest is certainly here. During a switch to UCX
   * a selector may report a channel whose bytes are still under way (docs/limits.md).
   */
  private static void leaveUnread(Pair pair) throws IOException {
    pair.server.write(bytes(10, 1));
    assertThat(readFully(pair.client, 1)).isEqualTo(bytes(10, 1).slice(0, 1));
  }

  private static void assertReset(SocketChannel channel) {
    assertThatThrownBy(() -> read(channel))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  private static void assertBroken(SocketChannel channel) {
    assertThatThrownBy(() -> channel.write(bytes(1, 1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
  }

  // ---- clean ends

  @Test
  void aCleanCloseIsTheEndAfterAllBytes() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(50_000, 1));
    pair.client.close();
    assertThat(readFully(pair.server, 50_000)).isEqualTo(bytes(50_000, 1));
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void anEndStaysTheEnd() throws Exception {
    Pair pair = pair();
    pair.client.close();
    for (int i = 0; i < 5; i++) {
      assertThat(read(pair.server)).isEqualTo(-1);
      assertThat(pair.server.read(Bytes.of(ByteBuffer.allocate(1)))).isEqualTo(-1);
    }
    pair.server.configureBlocking(false);
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(pair.server.isOpen()).isTrue();
    assertThat(pair.server.isConnected()).isTrue();
  }

  @Test
  void theEndComesToTheClientToo() throws Exception {
    Pair pair = pair();
    pair.server.write(bytes(70_000, 1));
    pair.server.close();
    assertThat(readFully(pair.client, 70_000)).isEqualTo(bytes(70_000, 1));
    assertThat(read(pair.client)).isEqualTo(-1);
  }

  @Test
  void aReadThatBringsBytesDoesNotTellTheEnd() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(10, 1));
    pair.client.close();
    ByteBuffer in = ByteBuffer.allocate(100);
    assertThat(pair.server.read(in)).isEqualTo(10);
    assertThat(pair.server.read(in)).isEqualTo(-1);
    assertThat(in.position()).isEqualTo(10);
  }

  @Test
  void afterThePeersCleanCloseOneWriteSucceeds() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
    assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
  }

  @Test
  void brokenPipesStayBroken() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
    assertBroken(pair.server);
    assertThatThrownBy(() -> pair.server.write(Bytes.of(bytes(10, 1))))
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
    assertThat(pair.server.isOpen()).isTrue();
    assertThat(pair.server.isConnected()).isTrue();
  }

  @Test
  void afterABrokenPipeTheEndIsStillRead() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void anEmptyWriteAfterABrokenPipeIsZero() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
    assertThat(pair.server.write(ByteBuffer.allocate(0))).isZero();
  }

  @Test
  void aCleanCloseEndsAReadInProgress() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    pair.client.close();
    assertThat(reader.result()).isEqualTo(-1);
  }

  @Test
  void aCloseOfThePeerEndsAWriteInProgress() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.into(pair.server).whenFull();
    pair.client.close();
    assertThat(flood.failure()).isInstanceOf(IOException.class);
    assertThat(flood.failure()).isNotInstanceOf(ClosedChannelException.class);
    assertThat(pair.server.isOpen()).isTrue();
  }

  @Test
  void whatWasWrittenBeforeACloseArrivesHoweverSlowThePeer() throws Exception {
    Pair pair = pair();
    pair.client.configureBlocking(false);
    int n = (int) Bytes.fill(pair.client);
    pair.client.close();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(n);
  }

  @Test
  void whatWasWrittenInBlockingModeBeforeACloseArrives() throws Exception {
    for (int i = 0; i < 10; i++) {
      Pair pair = pair();
      pair.client.write(bytes(20_000, i));
      pair.client.close();
      assertThat(readFully(pair.server, 20_000)).isEqualTo(bytes(20_000, i));
      assertThat(read(pair.server)).isEqualTo(-1);
    }
  }

  @Test
  void aPositiveLingerChangesNothingForOneWhoReads() throws Exception {
    Pair pair = pair();
    pair.client.setOption(StandardSocketOptions.SO_LINGER, 5);
    pair.client.write(bytes(30_000, 1));
    pair.client.close();
    assertThat(readFully(pair.server, 30_000)).isEqualTo(bytes(30_000, 1));
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void closingInNonBlockingModeIsTheSameEnd() throws Exception {
    Pair pair = pair();
    pair.configureBlocking(false);
    Bytes.writeFully(pair.client, bytes(1000, 1));
    pair.client.close();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(1000);
  }

  @Test
  void aConnectionThatNeverCarriedAByteEndsToo() throws Exception {
    Pair pair = pair();
    pair.server.close();
    assertThat(read(pair.client)).isEqualTo(-1);
    pair.client.close();
  }

  // ---- resets

  @Test
  void aCloseWithUnreadBytesResetsThePeer() throws Exception {
    Pair pair = pair();
    leaveUnread(pair);
    pair.client.close();
    assertReset(pair.server);
  }

  @Test
  void aResetComesAfterTheData() throws Exception {
    Pair pair = pair();
    leaveUnread(pair);
    pair.client.write(bytes(1000, 2));
    Await.readable(pair.server);
    pair.client.close();
    assertThat(readFully(pair.server, 1000)).isEqualTo(bytes(1000, 2));
    assertReset(pair.server);
  }

  @Test
  void aResetStaysAReset() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    for (int i = 0; i < 3; i++) {
      assertReset(pair.server);
    }
    assertThatThrownBy(() -> pair.server.read(Bytes.of(ByteBuffer.allocate(1))))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    assertThat(pair.server.isOpen()).isTrue();
    assertThat(pair.server.isConnected()).isTrue();
  }

  @Test
  void aWriteAfterAResetThatWasReadIsABrokenPipe() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    assertReset(pair.server);
    assertBroken(pair.server);
    assertBroken(pair.server);
  }

  /** Not of UCX: there a write may find the pipe broken before the word of the reset is here. */
  private static void assertToldByWrite(SocketChannel channel) throws Exception {
    Assumptions.assumeTrue(System.getProperty("talaria.test.transport") == null);
    assertThat(Await.writeFailure(channel))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset by peer");
  }

  @Test
  void aResetThatAWriteHasToldIsTheEndForReads() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    Await.readable(pair.server);
    assertThatThrownBy(() -> pair.server.write(bytes(1, 1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset by peer");
    for (int i = 0; i < 2; i++) {
      assertBroken(pair.server);
      assertThat(read(pair.server)).isEqualTo(-1);
      assertThat(pair.server.read(Bytes.of(ByteBuffer.allocate(1)))).isEqualTo(-1);
      assertThat(pair.server.read(ByteBuffer.allocate(0))).isZero();
    }
    assertThat(pair.server.isOpen()).isTrue();
  }

  @Test
  void aGatheringWriteTellsAResetToo() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    Await.readable(pair.server);
    assertThatThrownBy(() -> pair.server.write(Bytes.of(bytes(1, 1), bytes(1, 2))))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset by peer");
    assertThat(read(pair.server)).isEqualTo(-1);
    assertBroken(pair.server);
  }

  @Test
  void aResetByAPeerWithUnreadBytesIsToldByAWrite() throws Exception {
    Pair pair = pair();
    leaveUnread(pair);
    pair.client.close();
    Await.readable(pair.server);
    assertToldByWrite(pair.server);
    assertThat(read(pair.server)).isEqualTo(-1);
    assertBroken(pair.server);
  }

  @Test
  void whatCameBeforeAResetIsReadWhenAWriteHasToldIt() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(1000, 2));
    Await.readable(pair.server);
    reset(pair.client);
    assertToldByWrite(pair.server);
    assertThat(readFully(pair.server, 1000)).isEqualTo(bytes(1000, 2));
    assertThat(read(pair.server)).isEqualTo(-1);
    assertBroken(pair.server);
  }

  @Test
  void aWriteTellsAResetAlsoBetweenReadsOfWhatCameBefore() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(1000, 2));
    Await.readable(pair.server);
    reset(pair.client);
    readFully(pair.server, 500);
    assertToldByWrite(pair.server);
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(500);
  }

  @Test
  void aSelectorShowsAResetHoweverItWasTold() throws Exception {
    for (boolean writeFirst : new boolean[] {false, true}) {
      Pair pair = pair();
      Selector selector = selectorFor(pair.server);
      SelectionKey key =
          register(pair.server, selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
      reset(pair.client);
      Await.until("the reset", () -> selector.selectNow() >= 0 && key.isReadable());
      assertThat(key.isWritable()).isTrue();
      if (writeFirst) {
        assertToldByWrite(pair.server);
        assertThat(read(pair.server)).isEqualTo(-1);
      } else {
        assertReset(pair.server);
        assertBroken(pair.server);
      }
      selector.selectedKeys().clear();
      assertThat(selector.select(10_000)).isEqualTo(1);
      assertThat(key.readyOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }

  @Test
  void ofAReaderAndAWriterOneTellsAReset() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    reset(pair.client);
    IOException atWriter = Await.writeFailure(pair.server);
    Throwable atReader = reader.failure();
    if (atReader == null) {
      assertThat(reader.result()).isEqualTo(-1);
      assertThat(atWriter).hasMessage("Connection reset by peer");
      assertThat(read(pair.server)).isEqualTo(-1);
    } else {
      assertThat(atReader).isInstanceOf(SocketException.class).hasMessage("Connection reset");
      assertThat(atWriter).hasMessage("Broken pipe");
      assertReset(pair.server);
    }
  }

  @Test
  void aResetIsToldByTheStreamsOfASocketToo() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    Await.readable(pair.server);
    OutputStream out = pair.server.socket().getOutputStream();
    InputStream in = pair.server.socket().getInputStream();
    assertThatThrownBy(() -> out.write(1))
        .isInstanceOf(IOException.class)
        .hasMessage("Connection reset by peer");
    assertThat(in.read()).isEqualTo(-1);
    assertThatThrownBy(() -> out.write(1))
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
  }

  @Test
  void afterShutdownInputAResetThatWasReadIsTheEnd() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    assertReset(pair.server);
    pair.server.shutdownInput();
    assertThat(read(pair.server)).isEqualTo(-1);
    assertBroken(pair.server);
  }

  @Test
  void aWriteBehindTheOwnEndLeavesTheResetToReads() throws Exception {
    Pair pair = pair();
    pair.server.shutdownOutput();
    reset(pair.client);
    Await.readable(pair.server);
    assertThatThrownBy(() -> pair.server.write(bytes(1, 1)))
        .isInstanceOf(ClosedChannelException.class);
    assertReset(pair.server);
  }

  @Test
  void lingerZeroResetsThePeerAfterItsData() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(1000, 2));
    Await.readable(pair.server);
    reset(pair.client);
    assertThat(readFully(pair.server, 1000)).isEqualTo(bytes(1000, 2));
    assertReset(pair.server);
  }

  @Test
  void lingerZeroOfTheServerResetsTheClient() throws Exception {
    Pair pair = pair();
    reset(pair.server);
    assertReset(pair.client);
  }

  @Test
  void aNonBlockingReadSeesTheReset() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    Await.readable(pair.server);
    pair.server.configureBlocking(false);
    assertReset(pair.server);
  }

  @Test
  void anEmptyReadMeetsAResetOnlyOnceAnotherHas() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    Await.readable(pair.server);
    assertThat(pair.server.read(ByteBuffer.allocate(0))).isZero();
    assertReset(pair.server);
    assertThatThrownBy(() -> pair.server.read(ByteBuffer.allocate(0)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    assertThatThrownBy(() -> pair.server.read(Bytes.of(ByteBuffer.allocate(0))))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void aResetEndsAReadInProgress() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.server)).whenWaiting();
    reset(pair.client);
    assertThat(reader.failure()).isInstanceOf(SocketException.class).hasMessage("Connection reset");
  }

  @Test
  void aResetEndsAScatteredReadInProgress() throws Exception {
    Pair pair = pair();
    Doing<Long> reader =
        Doing.start(
                () -> pair.server.read(Bytes.of(ByteBuffer.allocate(1), ByteBuffer.allocate(1))))
            .whenWaiting();
    reset(pair.client);
    assertThat(reader.failure()).isInstanceOf(SocketException.class).hasMessage("Connection reset");
  }

  @Test
  void aResetEndsAWriteInProgress() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.into(pair.server).whenFull();
    reset(pair.client);
    assertThat(flood.failure()).isInstanceOf(IOException.class);
    assertThat(pair.server.isOpen()).isTrue();
  }

  @Test
  void aResetChannelCanBeShutAndClosed() throws Exception {
    Pair pair = pair();
    reset(pair.client);
    assertReset(pair.server);
    pair.server.close();
    assertThat(pair.server.isOpen()).isFalse();
    assertThatThrownBy(() -> read(pair.server)).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aLingerThatWasTakenBackDoesNotReset() throws Exception {
    Pair pair = pair();
    pair.client.setOption(StandardSocketOptions.SO_LINGER, 0);
    pair.client.setOption(StandardSocketOptions.SO_LINGER, -1);
    pair.client.write(bytes(10, 1));
    pair.client.close();
    assertThat(readFully(pair.server, 10)).isEqualTo(bytes(10, 1));
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void bytesOnTheirWayToAClosedChannelResetTheSender() throws Exception {
    Pair pair = pair();
    pair.client.close();
    pair.server.write(bytes(10, 1));
    assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
  }

  // ---- half-close

  @Test
  void shutdownOutputIsTheEndForThePeer() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(100, 1));
    assertThat(pair.client.shutdownOutput()).isSameAs(pair.client);
    assertThat(readFully(pair.server, 100)).isEqualTo(bytes(100, 1));
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(pair.client.isOpen()).isTrue();
    assertThat(pair.client.isConnected()).isTrue();
  }

  @Test
  void shutdownOutputEndsWriting() throws Exception {
    Pair pair = pair();
    pair.client.shutdownOutput();
    for (boolean blocking : new boolean[] {true, false}) {
      pair.client.configureBlocking(blocking);
      assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
          .isExactlyInstanceOf(AsynchronousCloseException.class);
      assertThatThrownBy(() -> pair.client.write(ByteBuffer.allocate(0)))
          .isExactlyInstanceOf(AsynchronousCloseException.class);
      assertThatThrownBy(() -> pair.client.write(Bytes.of(bytes(1, 1))))
          .isExactlyInstanceOf(AsynchronousCloseException.class);
    }
  }

  @Test
  void withTheStatusSetAWriteBehindTheOwnEndClosesTheChannel() throws Exception {
    Pair pair = pair();
    pair.client.shutdownOutput();
    pair.client.shutdownInput();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
        .isExactlyInstanceOf(ClosedByInterruptException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(pair.client.isOpen()).isFalse();
    pair.server.shutdownInput();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> read(pair.server))
        .isExactlyInstanceOf(ClosedByInterruptException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(pair.server.isOpen()).isFalse();
  }

  @Test
  void shuttingDownTwiceIsShuttingDownOnce() throws Exception {
    Pair pair = pair();
    pair.client.shutdownOutput();
    assertThat(pair.client.shutdownOutput()).isSameAs(pair.client);
    pair.client.shutdownInput();
    assertThat(pair.client.shutdownInput()).isSameAs(pair.client);
  }

  @Test
  void afterShutdownOutputMuchCanStillBeRead() throws Exception {
    Pair pair = pair();
    pair.client.shutdownOutput();
    assertThat(read(pair.server)).isEqualTo(-1);
    ByteBuffer large = bytes(8 << 20, 2);
    Doing<Integer> writer = Doing.start(() -> pair.server.write(large.duplicate()));
    assertThat(readFully(pair.client, 8 << 20).equals(large)).isTrue();
    assertThat(writer.result()).isEqualTo(8 << 20);
    pair.server.shutdownOutput();
    assertThat(read(pair.client)).isEqualTo(-1);
  }

  @Test
  void theServerMayHalfCloseFirst() throws Exception {
    Pair pair = pair();
    pair.server.shutdownOutput();
    assertThat(read(pair.client)).isEqualTo(-1);
    ByteBuffer large = bytes(8 << 20, 2);
    Doing<Integer> writer = Doing.start(() -> pair.client.write(large.duplicate()));
    assertThat(readFully(pair.server, 8 << 20).equals(large)).isTrue();
    assertThat(writer.result()).isEqualTo(8 << 20);
  }

  @Test
  void bothOutputsMayBeShutDown() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(5, 1));
    pair.server.write(bytes(6, 2));
    pair.client.shutdownOutput();
    pair.server.shutdownOutput();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(5);
    assertThat(Bytes.readToEnd(pair.client)).isEqualTo(6);
    assertThat(pair.client.isOpen()).isTrue();
  }

  @Test
  void aCloseAfterShutdownOutputIsNoReset() throws Exception {
    Pair pair = pair();
    pair.client.write(bytes(100, 1));
    pair.client.shutdownOutput();
    pair.client.close();
    assertThat(Bytes.readToEnd(pair.server)).isEqualTo(100);
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void shutdownOutputEndsAWriteInProgress() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.into(pair.server).whenFull();
    pair.server.shutdownOutput();
    // The AsynchronousCloseException among them, unless the write in progress has written a part.
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
    assertThat(pair.server.isOpen()).isTrue();
  }

  @Test
  void shutdownOutputEndsAGatheringWriteInProgress() throws Exception {
    Pair pair = pair();
    Flood flood = Flood.gatheredInto(pair.server).whenFull();
    pair.server.shutdownOutput();
    assertThat(flood.failure()).isInstanceOf(ClosedChannelException.class);
    assertThat(pair.server.isOpen()).isTrue();
  }

  @Test
  void shutdownInputEndsReading() throws Exception {
    Pair pair = pair();
    assertThat(pair.client.shutdownInput()).isSameAs(pair.client);
    assertThat(read(pair.client)).isEqualTo(-1);
    assertThat(pair.client.read(Bytes.of(ByteBuffer.allocate(1)))).isEqualTo(-1);
    pair.client.configureBlocking(false);
    assertThat(read(pair.client)).isEqualTo(-1);
    assertThat(pair.client.isOpen()).isTrue();
  }

  @Test
  void shutdownInputEndsAReadInProgress() throws Exception {
    Pair pair = pair();
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.client.shutdownInput();
    assertThat(reader.result()).isEqualTo(-1);
  }

  @Test
  void afterShutdownInputTheOutputGoesOn() throws Exception {
    Pair pair = pair();
    pair.client.shutdownInput();
    pair.client.write(bytes(10_000, 2));
    assertThat(readFully(pair.server, 10_000)).isEqualTo(bytes(10_000, 2));
  }

  @Test
  void afterShutdownInputThePeerMayStillWrite() throws Exception {
    Pair pair = pair();
    pair.client.shutdownInput();
    assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
    assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
    assertThat(read(pair.client)).isEqualTo(-1);
  }

  @Test
  void bothDirectionsMayBeShutDown() throws Exception {
    Pair pair = pair();
    pair.client.shutdownInput();
    pair.client.shutdownOutput();
    assertThat(read(pair.client)).isEqualTo(-1);
    assertThat(read(pair.server)).isEqualTo(-1);
    assertThat(pair.client.isOpen()).isTrue();
    assertThat(pair.client.isConnected()).isTrue();
  }

  @Test
  void afterBothDirectionsAreShutDownThePeersBytesBreakItsWrites() throws Exception {
    for (boolean inputFirst : new boolean[] {true, false}) {
      Pair pair = pair();
      if (inputFirst) {
        pair.client.shutdownInput();
        pair.client.shutdownOutput();
      } else {
        pair.client.shutdownOutput();
        pair.client.shutdownInput();
      }
      assertThat(read(pair.server)).isEqualTo(-1);
      assertThat(pair.server.write(bytes(10, 1))).isEqualTo(10);
      assertThat(Await.writeFailure(pair.server)).hasMessage("Broken pipe");
      assertThat(read(pair.server)).isEqualTo(-1);
      assertThat(read(pair.client)).isEqualTo(-1);
    }
  }

  @Test
  void aCloseWithUnreadBytesAfterShutdownOutputBreaksThePeersWritesAtOnce() throws Exception {
    Pair pair = pair();
    leaveUnread(pair);
    pair.client.shutdownOutput();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    Await.readable(pair.server); // whatever has been said of the end is here then
    assertBroken(pair.server);
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void shuttingDownAfterThePeerHasClosedWorks() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThat(read(pair.server)).isEqualTo(-1);
    pair.server.shutdownInput();
    pair.server.shutdownOutput();
    assertThat(read(pair.server)).isEqualTo(-1);
  }

  @Test
  void shuttingDownAClosedChannelIsRefused() throws Exception {
    Pair pair = pair();
    pair.client.close();
    assertThatThrownBy(pair.client::shutdownInput).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(pair.client::shutdownOutput).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aRequestEndedByShutdownIsAnswered() throws Exception {
    Pair pair = pair();
    Doing<Integer> server =
        Doing.start(
            () -> {
              int n = (int) Bytes.readToEnd(pair.server);
              pair.server.write(bytes(n, 7));
              pair.server.close();
              return n;
            });
    pair.client.write(bytes(12_345, 1));
    pair.client.shutdownOutput();
    assertThat(readFully(pair.client, 12_345)).isEqualTo(bytes(12_345, 7));
    assertThat(read(pair.client)).isEqualTo(-1);
    assertThat(server.result()).isEqualTo(12_345);
  }
}
