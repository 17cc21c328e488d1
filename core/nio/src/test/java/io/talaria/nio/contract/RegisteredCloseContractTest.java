// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import static io.talaria.nio.contract.Bytes.bytes;
import static io.talaria.nio.contract.Bytes.read;
import static io.talaria.nio.contract.Bytes.readFully;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/**
 * The close of a channel that a selector has is one in two steps: the output ends at once, and the
 * rest when the last selector has let go of it. A server that answers before it has read the whole
 * request, and closes, is heard to the end.
 */
class RegisteredCloseContractTest extends Contract {
  private static final int ANSWER = 20_000;

  RegisteredCloseContractTest(Variant variant) {
    super(variant);
  }

  /** A pair whose server is registered, and has so much of a request unread. */
  private Pair asked(Selector selector, int unread) throws Exception {
    Pair pair = pair();
    if (unread > 0) {
      pair.client.write(bytes(unread, 1));
      Await.readable(pair.server);
    }
    register(pair.server, selector, 0);
    return pair;
  }

  private Selector selector() throws IOException {
    return opened(variant.server().openSelector());
  }

  private static void answerAndClose(Pair pair) throws IOException {
    Bytes.writeFully(pair.server, bytes(ANSWER, 2));
    pair.server.close();
  }

  private static void assertAnsweredToTheEnd(Pair pair) throws IOException {
    assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
    assertEnded(pair);
  }

  private static void assertEnded(Pair pair) throws IOException {
    for (int i = 0; i < 3; i++) {
      assertThat(read(pair.client)).isEqualTo(-1);
    }
  }

  /** Writes reach the peer's system, if only to be left unread there. */
  private static void assertWritesGoOn(Pair pair) throws IOException {
    for (int i = 0; i < 5; i++) {
      assertThat(pair.client.write(bytes(100, i))).isEqualTo(100);
    }
  }

  private static void assertReset(SocketChannel channel) {
    assertThatThrownBy(() -> read(channel))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  private static void assertBroken(Pair pair) {
    assertThatThrownBy(() -> pair.client.write(bytes(1, 1)))
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
  }

  // ---- between the close and the deregistration

  @Test
  void theAnswerIsReadToTheEndWhateverIsUnread() throws Exception {
    for (int unread : new int[] {0, 1, 50_000}) {
      Pair pair = asked(selector(), unread);
      answerAndClose(pair);
      assertAnsweredToTheEnd(pair);
      assertWritesGoOn(pair);
      assertEnded(pair);
    }
  }

  @Test
  void aReaderThatWaitsIsToldAtOnce() throws Exception {
    Pair pair = asked(selector(), 10);
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    pair.server.close();
    assertThat(reader.result()).isEqualTo(-1);
    assertWritesGoOn(pair);
  }

  @Test
  void aSelectorOfThePeerHearsTheEnd() throws Exception {
    Pair pair = asked(selector(), 10);
    Selector theirs = selectorFor(pair.client);
    SelectionKey key = register(pair.client, theirs, SelectionKey.OP_READ);
    Doing<Integer> selecting = Doing.start(() -> theirs.select(30_000)).whenWaiting();
    pair.server.close();
    assertThat(selecting.result()).isEqualTo(1);
    assertThat(key.isReadable()).isTrue();
    assertThat(read(pair.client)).isEqualTo(-1);
    assertThat(pair.client.write(bytes(100, 1))).isEqualTo(100);
  }

  @Test
  void aLingerOfSomeTimeChangesNothing() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    pair.server.setOption(StandardSocketOptions.SO_LINGER, 5);
    answerAndClose(pair);
    assertAnsweredToTheEnd(pair);
    assertWritesGoOn(pair);
    selector.selectNow();
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  /** Else one peer that does not read would keep all others of the selector waiting. */
  @Test
  void aLingerTimeDoesNotMakeTheSelectWait() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 0);
    pair.server.setOption(StandardSocketOptions.SO_LINGER, 1000);
    long written = Bytes.fill(pair.server);
    pair.server.close();
    Doing<Integer> select = Doing.start(() -> selector.selectNow());
    assertThat(select.result()).isZero(); // before the peer has read anything
    assertThat(selector.keys()).isEmpty();
    assertThat(Bytes.readToEnd(pair.client)).isEqualTo(written);
  }

  @Test
  void afterTheInputWasShutDownThePeersBytesBreakItsWrites() throws Exception {
    Pair pair = asked(selector(), 0);
    pair.server.shutdownInput();
    answerAndClose(pair);
    assertAnsweredToTheEnd(pair);
    assertThat(pair.client.write(bytes(10, 1))).isEqualTo(10);
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  // ---- the deregistration

  @Test
  void withBytesUnreadItBreaksThePeersWritesAtOnce() throws Exception {
    for (int unread : new int[] {1, 50_000}) {
      Selector selector = selector();
      Pair pair = asked(selector, unread);
      answerAndClose(pair);
      selector.selectNow();
      Await.until("the answer", () -> readable(pair.client));
      assertAnsweredToTheEnd(pair);
      assertBroken(pair);
      assertBroken(pair);
      assertEnded(pair);
    }
  }

  private static boolean readable(SocketChannel channel) throws IOException {
    Await.readable(channel);
    return true;
  }

  @Test
  void withAllBytesReadOneMoreWriteOfThePeersIsTaken() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 0);
    answerAndClose(pair);
    selector.selectNow();
    assertAnsweredToTheEnd(pair);
    assertThat(pair.client.write(bytes(10, 1))).isEqualTo(10);
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void bytesThatCameAfterTheCloseAreUnreadToo() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 0);
    answerAndClose(pair);
    assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
    assertWritesGoOn(pair);
    selector.selectNow();
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void itEndsAWriteThatWaitsForRoom() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    pair.server.close();
    Flood flood = Flood.into(pair.client).whenFull();
    selector.selectNow();
    assertThat(flood.failure()).isInstanceOf(IOException.class).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void aWriteThatWaitsForRoomWaitsUntilThen() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    Flood flood = Flood.into(pair.client).whenFull();
    pair.server.close();
    assertEnded(pair);
    assertThat(flood.doing().done()).isFalse();
    selector.selectNow();
    assertThat(flood.failure()).isInstanceOf(IOException.class).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void theCloseOfTheSelectorIsOne() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    answerAndClose(pair);
    assertAnsweredToTheEnd(pair);
    assertWritesGoOn(pair);
    selector.close();
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void ofTwoSelectorsTheLastOneCounts() throws Exception {
    Selector first = selector();
    Selector second = selector();
    Pair pair = asked(first, 10);
    pair.server.register(second, SelectionKey.OP_READ);
    answerAndClose(pair);
    first.selectNow();
    assertAnsweredToTheEnd(pair);
    assertWritesGoOn(pair);
    second.selectNow();
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void aCancelledKeyCountsUntilItsSelectorHasLetGo() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    pair.server.keyFor(selector).cancel();
    answerAndClose(pair);
    assertAnsweredToTheEnd(pair);
    assertWritesGoOn(pair);
    selector.selectNow();
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
    assertEnded(pair);
  }

  @Test
  void aKeyThatItsSelectorHasLetGoCountsNoMore() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    pair.server.keyFor(selector).cancel();
    selector.selectNow();
    answerAndClose(pair);
    assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
    assertReset(pair.client);
  }

  /** The JDK's versions differ in what the peer hears before the selector has let go of it. */
  @Test
  void inBlockingModeThePeerIsToldAtLastWhenACancelledKeyIsLetGo() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 0);
    pair.server.keyFor(selector).cancel();
    pair.server.configureBlocking(true);
    answerAndClose(pair);
    assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
    selector.selectNow();
    assertEnded(pair);
    assertThat(Await.writeFailure(pair.client)).hasMessage("Broken pipe");
  }

  @Test
  void theSelectorMaySleepMeanwhile() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    Doing<Integer> selecting = Doing.start(() -> selector.select()).whenWaiting();
    answerAndClose(pair);
    assertAnsweredToTheEnd(pair);
    pair.client.close();
    selector.wakeup();
    assertThat(selecting.result()).isZero();
    selector.selectNow();
    assertThat(selector.keys()).isEmpty();
  }

  @Test
  void aSelectingThreadMayRaceWithTheClose() throws Exception {
    Race.rounds(
        60,
        round -> {
          try (Selector selector = variant.server().openSelector();
              Pair pair = variant.pair()) {
            pair.client.write(bytes(10, 1));
            register(pair.server, selector, round % 2 == 0 ? 0 : SelectionKey.OP_READ);
            Bytes.writeFully(pair.server, bytes(ANSWER, 2));
            Doing<Void> selecting =
                Doing.start(
                    () -> {
                      while (!selector.keys().isEmpty()) {
                        selector.selectNow();
                        selector.selectedKeys().clear();
                      }
                      return null;
                    });
            if (round % 3 == 0) {
              pair.server.keyFor(selector).cancel();
            }
            pair.server.close();
            assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
            if (round % 3 != 0) { // else it may have been let go before
              assertEnded(pair);
            }
            selecting.result();
            assertThat(Await.writeFailure(pair.client)).isInstanceOf(IOException.class);
          }
        });
  }

  // ---- a linger of 0

  @Test
  void withALingerOfZeroThePeerHearsNothingUntilTheDeregistration() throws Exception {
    Selector selector = selector();
    Pair pair = asked(selector, 10);
    pair.server.setOption(StandardSocketOptions.SO_LINGER, 0);
    answerAndClose(pair);
    assertThat(readFully(pair.client, ANSWER)).isEqualTo(bytes(ANSWER, 2));
    assertWritesGoOn(pair);
    pair.client.configureBlocking(false);
    assertThat(read(pair.client)).isZero();
    pair.client.configureBlocking(true);
    Doing<Integer> reader = Doing.start(() -> read(pair.client)).whenWaiting();
    selector.selectNow();
    assertThat(reader.failure()).isInstanceOf(SocketException.class).hasMessage("Connection reset");
    assertBroken(pair);
  }
}
