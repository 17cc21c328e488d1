// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.stream;

import static io.talaria.nio.transport.TransportStream.BROKEN;
import static io.talaria.nio.transport.TransportStream.END;
import static io.talaria.nio.transport.TransportStream.READ;
import static io.talaria.nio.transport.TransportStream.RESET;
import static io.talaria.nio.transport.TransportStream.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportStream;
import io.talaria.testsupport.Seed;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a channel expects of a stream, the same for all transports: bytes, room, how a stream ends,
 * waiting, watching, and coming late. How it ends follows TCP, as DESIGN's table of errors does.
 */
@Tag("contract")
@Timeout(120)
class TransportStreamContractTest {
  private static final int ALL = READ | WRITE;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private StreamSession session;
  private StreamEnd client;
  private StreamEnd server;

  @BeforeEach
  void connect() throws Exception {
    session = new StreamSession(StreamVariant.transports());
    StreamSession.Ends ends = session.connect();
    client = ends.client();
    server = ends.server();
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    session.close();
  }

  private static ByteBuffer bytes(int n) {
    ByteBuffer bytes = ByteBuffer.allocate(n);
    for (int i = 0; i < n; i++) {
      bytes.put(i, (byte) (i * 31));
    }
    return bytes;
  }

  private void send(StreamEnd from, int n) {
    ByteBuffer bytes = bytes(n);
    session.until(
        () -> {
          assertThat(from.stream.write(bytes)).isNotNegative();
          return !bytes.hasRemaining();
        });
  }

  private void awaitReadable(StreamEnd end) {
    session.until(() -> end.stream.readiness(READ) != 0);
  }

  /** Reads until it is told how that ends. */
  private int readToTheEnd(StreamEnd end, int expected) {
    ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
    int[] total = {0, 0};
    session.until(
        () -> {
          int n = end.stream.read(buffer.clear());
          if (n < 0) {
            total[1] = n;
            return true;
          }
          total[0] += n;
          return false;
        });
    assertThat(total[0]).as("bytes before the end").isEqualTo(expected);
    assertThat(end.stream.read(buffer.clear())).as("the end again").isEqualTo(total[1]);
    assertThat(end.stream.unread()).isFalse();
    assertThat(end.stream.available()).isZero();
    assertThat(end.stream.readiness(READ)).as("an end is ready").isEqualTo(READ);
    return total[1];
  }

  private int fill(StreamEnd from) {
    int total = 0;
    int idle = 0;
    while (idle < 200) {
      int n = from.stream.write(ByteBuffer.allocate(1 << 16));
      assertThat(n).isNotNegative();
      total += n;
      assertThat(total).as("taken without a reader").isLessThan(StreamVariant.TOO_MUCH);
      idle = n == 0 ? idle + 1 : 0;
      int unused = server.stream.readiness(ALL) | client.stream.readiness(ALL);
    }
    return total;
  }

  // ---- bytes

  @Test
  void bytesOfAllSizesArriveOnceAndInOrder() throws Exception {
    long seed = Seed.next();
    Random random = new Random(seed);
    byte[] all = new byte[2 << 20];
    random.nextBytes(all);
    Future<byte[]> reader =
        threads.submit(
            () -> {
              Random sizes = new Random(seed + 1);
              ByteBuffer got = ByteBuffer.allocate(all.length);
              while (got.hasRemaining()) {
                int size = Math.min(got.remaining(), 1 + sizes.nextInt(100_000));
                ByteBuffer part =
                    sizes.nextBoolean()
                        ? ByteBuffer.allocate(size)
                        : ByteBuffer.allocateDirect(size);
                int n = server.stream.read(part);
                assertThat(n).isEqualTo(part.position());
                if (n == 0) {
                  server.sleep(READ);
                }
                got.put(part.flip());
              }
              return got.array();
            });
    int at = 0;
    while (at < all.length) {
      int size = Math.min(all.length - at, 1 + random.nextInt(100_000));
      ByteBuffer part = ByteBuffer.wrap(all, at, size);
      if (random.nextBoolean()) {
        part = ByteBuffer.allocateDirect(size).put(part).flip();
      }
      int before = part.position();
      int n = client.stream.write(part);
      assertThat(n).isEqualTo(part.position() - before);
      at += n;
      if (n == 0) {
        client.sleep(WRITE);
      }
    }
    assertThat(reader.get(60, TimeUnit.SECONDS)).as("with seed %d", seed).isEqualTo(all);
  }

  @Test
  void aGatheringWriteTakesItsSourcesInOrder() {
    ByteBuffer[] sources = {null, bytes(3), bytes(0), bytes(700), bytes(5_000), null};
    assertThat(client.stream.write(sources, 1, 4)).isEqualTo(5_703);
    for (int i = 1; i < 5; i++) {
      assertThat(sources[i].hasRemaining()).isFalse();
    }
    ByteBuffer got = ByteBuffer.allocate(6_000);
    session.until(() -> server.stream.read(got) >= 0 && got.position() == 5_703);
    assertThat(got.get(3 + 700 + 9)).isEqualTo((byte) (9 * 31));
    assertThat(got.get(3 + 9)).isEqualTo((byte) (9 * 31));
  }

  @Test
  void noBytesAreNoTransfer() {
    assertThat(client.stream.write(ByteBuffer.allocate(0))).isZero();
    assertThat(client.stream.write(new ByteBuffer[] {ByteBuffer.allocate(0)}, 0, 1)).isZero();
    assertThat(client.stream.read(ByteBuffer.allocate(0))).isZero();
    assertThat(client.stream.read(ByteBuffer.allocate(1))).isZero();
    assertThat(client.stream.unread()).isFalse();
  }

  @Test
  void whatIsUnreadIsCounted() {
    send(client, 100);
    session.until(() -> server.stream.available() == 100);
    assertThat(server.stream.unread()).isTrue();
    assertThat(server.stream.read(ByteBuffer.allocate(40))).isEqualTo(40);
    assertThat(server.stream.available()).isEqualTo(60);
    assertThat(server.stream.read(ByteBuffer.allocate(100))).isEqualTo(60);
    assertThat(server.stream.available()).isZero();
    assertThat(server.stream.unread()).isFalse();
  }

  // ---- room

  @Test
  void aStreamWithoutAReaderTakesSomeAndThenNoMore() {
    int total = fill(client);
    assertThat(total).isPositive();
    session.until(() -> client.stream.flushed());
    client.stream.finishOutput();
    assertThat(readToTheEnd(server, total)).isEqualTo(END);
  }

  @Test
  void readingMakesRoom() {
    int unused = fill(client);
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    session.until(
        () -> {
          assertThat(server.stream.read(buffer.clear())).isNotNegative();
          return client.stream.readiness(WRITE) != 0;
        });
    session.until(() -> client.stream.write(bytes(10)) > 0);
  }

  // ---- the end of output

  @Test
  void allBytesComeBeforeTheEnd() {
    send(client, 10_000);
    client.stream.finishOutput();
    assertThat(readToTheEnd(server, 10_000)).isEqualTo(END);
  }

  @Test
  void theOtherDirectionGoesOnAfterAnEnd() {
    client.stream.finishOutput();
    assertThat(readToTheEnd(server, 0)).isEqualTo(END);
    send(server, 10_000);
    server.stream.finishOutput();
    assertThat(readToTheEnd(client, 10_000)).isEqualTo(END);
  }

  @Test
  void allBytesComeBeforeAReset() {
    send(client, 10_000);
    client.stream.abandonInput(false);
    client.stream.abort();
    assertThat(readToTheEnd(server, 10_000)).isEqualTo(RESET);
    assertThat(server.stream.write(bytes(1))).isEqualTo(BROKEN);
  }

  @Test
  void aWriteThatMeetsAResetFirstLeavesTheEndToReads() {
    send(client, 100);
    session.until(() -> server.stream.available() == 100);
    client.stream.abandonInput(false);
    client.stream.abort();
    session.until(() -> server.stream.write(bytes(1)) == RESET);
    assertThat(server.stream.write(bytes(1))).isEqualTo(BROKEN);
    assertThat(readToTheEnd(server, 100)).isEqualTo(END);
  }

  @Test
  void theFirstEndCounts() {
    client.stream.finishOutput();
    client.stream.finishOutput();
    client.stream.abort();
    assertThat(readToTheEnd(server, 0)).isEqualTo(END);
  }

  @Test
  void aWriteBehindTheOwnEndBreaksAndHarmsNobody() {
    send(client, 10);
    client.stream.finishOutput();
    ByteBuffer late = bytes(100);
    assertThat(client.stream.write(late)).isEqualTo(BROKEN);
    assertThat(client.stream.write(new ByteBuffer[] {late}, 0, 1)).isEqualTo(BROKEN);
    assertThat(late.position()).isZero();
    assertThat(readToTheEnd(server, 10)).isEqualTo(END);
    send(server, 10);
    session.until(() -> client.stream.available() == 10);
  }

  @Test
  void afterAPeersCleanCloseOneWriteSucceedsAndTheNextBreaks() {
    client.stream.abandonInput(false);
    client.stream.finishOutput();
    assertThat(readToTheEnd(server, 0)).isEqualTo(END);
    session.until(() -> client.stream.flushed());
    assertThat(server.stream.readiness(WRITE)).isEqualTo(WRITE);
    ByteBuffer first = bytes(10);
    assertThat(server.stream.write(first)).isEqualTo(10);
    assertThat(first.hasRemaining()).isFalse();
    ByteBuffer second = bytes(10);
    assertThat(server.stream.write(second)).isEqualTo(BROKEN);
    assertThat(second.position()).isZero();
    assertThat(server.stream.write(new ByteBuffer[] {second}, 0, 1)).isEqualTo(BROKEN);
    assertThat(server.stream.read(bytes(1))).as("reads keep giving the end").isEqualTo(END);
  }

  // ---- the end of the control connection

  /** Of a peer that was killed: one that lives says how its output ends. */
  @Test
  void aControlConnectionThatEndsEndsTheInput() throws Exception {
    send(client, 100);
    session.until(() -> server.stream.available() == 100);
    assertThat(server.stream.controlEnded(false)).isFalse();
    session.endClient();
    assertThat(readToTheEnd(server, 100)).isEqualTo(END);
  }

  @Test
  void aControlConnectionThatIsResetResetsTheInput() {
    send(client, 100);
    session.until(() -> server.stream.available() == 100);
    assertThat(server.stream.controlEnded(true)).isTrue();
    assertThat(readToTheEnd(server, 100)).isEqualTo(RESET);
    assertThat(server.stream.write(bytes(1))).isEqualTo(BROKEN);
  }

  @Test
  void whatThePeerHasSaidOfItsEndStandsBeforeAReset() {
    send(client, 100);
    client.stream.finishOutput();
    session.until(() -> server.stream.available() == 100);
    session.until(() -> client.stream.flushed());
    awaitEndAtServer();
    boolean unused = server.stream.controlEnded(true);
    assertThat(readToTheEnd(server, 100)).isEqualTo(END);
  }

  /** The peer's word of its end is a message of its own in some transports. */
  private void awaitEndAtServer() {
    ByteBuffer none = ByteBuffer.allocate(0);
    for (int i = 0; i < 1_000; i++) {
      int unused = server.stream.readiness(READ) + server.stream.read(none);
    }
  }

  @Test
  void aPeerThatIsKilledWithBytesOfOursUnreadHasReset() throws Exception {
    int unused = fill(server);
    boolean reset = server.stream.controlEnded(false);
    assertThat(reset || server.stream.expectsMore()).isTrue();
    session.endClient();
    assertThat(readToTheEnd(server, 0)).isEqualTo(RESET);
    assertThat(server.stream.controlEnded(false)).isTrue();
  }

  @Test
  void whoWaitsForAnEndThatIsNotKnownYetIsWoken() throws Exception {
    boolean unused = server.stream.controlEnded(false);
    session.endClient();
    ByteBuffer none = ByteBuffer.allocate(1);
    while (server.stream.read(none) == 0) {
      server.sleep(READ);
    }
    assertThat(server.stream.expectsMore()).isFalse();
    assertThat(server.stream.read(none)).isEqualTo(END);
  }

  @Test
  void whatThePeerSaysBehindTheControlConnectionIsHeardWhereMoreIsExpected() {
    assertThat(server.stream.controlEnded(false)).isFalse();
    if (server.stream.expectsMore()) {
      assertThat(server.stream.read(bytes(1))).isZero();
      assertThat(server.stream.readiness(READ)).isZero();
      send(client, 100);
      client.stream.abort();
      assertThat(readToTheEnd(server, 100)).isEqualTo(RESET);
    } else {
      assertThat(readToTheEnd(server, 0)).isEqualTo(END);
    }
  }

  @Test
  void lostOutputBreaksWritesAndLetsReadsGoOn() throws Exception {
    send(client, 100);
    server.stream.outputLost();
    session.until(() -> server.stream.available() == 100);
    int first = server.stream.write(bytes(1));
    assertThat(first).isIn(1, BROKEN); // as behind a close
    assertThat(server.stream.write(bytes(1))).isEqualTo(BROKEN);
    assertThat(server.stream.read(ByteBuffer.allocate(200))).isEqualTo(100);
    boolean unused = server.stream.controlEnded(false);
    session.endClient();
    assertThat(readToTheEnd(server, 0)).isEqualTo(END);
  }

  // ---- agreeing

  @Test
  void aStreamThatIsWithdrawnIsWithdrawnAtBothEnds() throws Exception {
    StreamSession.Ends ends = session.offer();
    TransportStream first = ends.server().stream;
    assertThat(first.withdraw()).isTrue();
    assertThat(first.withdrawn()).isTrue();
    session.until(() -> ends.client().stream.withdrawn());
    assertThat(ends.client().stream.withdraw()).isTrue();
    assertThat(first.established()).isFalse();
  }

  @Test
  void anEstablishedStreamIsNotWithdrawn() {
    assertThat(client.stream.withdraw()).isFalse();
    assertThat(server.stream.withdraw()).isFalse();
    assertThat(client.stream.withdrawn()).isFalse();
    assertThat(server.stream.established()).isTrue();
  }

  @Test
  void bothLearnWhatTheOtherHasTakenFromTcp() {
    assertThat(client.stream.peerInputSwitched()).isFalse();
    server.stream.inputSwitched();
    session.until(() -> client.stream.peerInputSwitched());
    assertThat(server.stream.peerInputSwitched()).isFalse();
  }

  @Test
  void bothLearnThatTheOtherTakesNothingAnyMore() {
    assertThat(client.stream.peerInputClosed()).isFalse();
    server.stream.abandonInput(false);
    session.until(() -> client.stream.peerInputClosed());
    assertThat(server.stream.peerInputClosed()).isFalse();
  }

  // ---- waiting and watching

  @Test
  void whoAwaitsBytesIsWokenByThemAndByAnEnd() throws Exception {
    for (int i = 0; i < 300; i++) {
      Future<?> sleeper = asleep(server, READ);
      if (i < 299) {
        send(client, 1 + i);
      } else {
        client.stream.finishOutput();
      }
      sleeper.get(60, TimeUnit.SECONDS);
      int unused = server.stream.read(ByteBuffer.allocate(1_000));
    }
    assertThat(readToTheEnd(server, 0)).isEqualTo(END);
  }

  private Future<?> asleep(StreamEnd end, int op) {
    return threads.submit(
        () -> {
          while (end.stream.readiness(op) == 0) {
            end.sleep(op);
          }
          return null;
        });
  }

  @Test
  void whoAwaitsRoomIsWokenByAReader() throws Exception {
    int total = fill(client);
    Future<?> sleeper = asleep(client, WRITE);
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    while (total > 0) {
      int n = server.stream.read(buffer.clear());
      assertThat(n).isNotNegative();
      total -= n;
    }
    sleeper.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aReadySetHandsOverWhatItsStreamsWereWatchedFor() {
    ReadySet readySet = StreamVariant.transports().accepting().openReadySet();
    try {
      server.stream.moveTo(readySet);
      List<TransportStream> ready = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        ready.clear();
        assertThat(server.stream.watch(READ)).isTrue();
        send(client, 5);
        session.until(
            () -> {
              int unused = readySet.progress(100) + readySet.drainReady(ready::add, 10);
              return ready.contains(server.stream);
            });
        assertThat(server.stream.watch(READ)).as("ready already").isFalse();
        assertThat(server.stream.read(ByteBuffer.allocate(10))).isEqualTo(5);
      }
      server.stream.moveTo(null);
    } finally {
      readySet.close();
    }
  }

  // ---- the end of the stream

  @Test
  void whoComesLateToAReleasedStreamDoesNoHarm() throws Exception {
    session.release(client);
    TransportStream stream = client.stream;
    stream.finishOutput();
    stream.abandonInput(false);
    stream.abort();
    boolean unused = stream.controlEnded(false);
    boolean unusedToo = stream.flushed();
    assertThat(stream.peerInputSwitched()).isTrue();
    assertThat(stream.peerInputClosed()).isTrue();
    assertThat(stream.write(bytes(1))).isEqualTo(BROKEN);
    assertThat(stream.read(bytes(1))).isNegative();
    assertThat(stream.readiness(READ)).isEqualTo(READ);
    assertThat(stream.unread()).isFalse();
    session.release(server);
    session.settle();
    StreamSession.Ends next = session.connect();
    stream.abort();
    send(next.client(), 10);
    awaitReadable(next.server());
    assertThat(next.server().stream.read(bytes(20))).isEqualTo(10);
  }
}
