// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A direction over which nothing is sent goes back to its page, and what it had is given back. */
@Timeout(60)
class RestTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;
  private static final int INLINE = ConnectionLayout.INLINE_RING_BYTES;

  @TempDir Path dir;

  private OwnMappings mappings;
  private PeerPair pair;
  private Connection connection;
  private long written;
  private long read;

  @BeforeEach
  void connect() throws Exception {
    mappings = new OwnMappings(dir);
    pair = new PeerPair(dir.resolve("shm"), RING, 16 * RING);
    connection = pair.connect();
    pair.settle();
  }

  @AfterEach
  void close() throws Exception {
    connection.release();
    pair.close();
    assertThat(mappings.left()).isZero();
  }

  private int write(int bytes) {
    ByteBuffer next = ByteBuffer.allocate(bytes);
    Pattern.fill(next, 9, written);
    int n = connection.client.write(next);
    written += n;
    return n;
  }

  private int read(int bytes) {
    ByteBuffer into = ByteBuffer.allocate(bytes);
    int n = connection.server.read(into);
    Pattern.check(into, 0, n, 9, read);
    read += n;
    return n;
  }

  private void readAll() {
    while (read(3 * RING) > 0) {
      // Ring after ring.
    }
    assertThat(read).isEqualTo(written);
  }

  private void rest() throws Exception {
    for (int i = 0; i < 2; i++) {
      pair.rest();
      pair.settle();
    }
  }

  private int outBytes() {
    return connection.client.stream.outBytes();
  }

  @Test
  void aRingOfASlabIsGivenBackAndTakenAgain() throws Exception {
    for (int i = 0; i < 5 * ConnectionLayout.MOVES; i++) { // its words are used again and again
      assertThat(write(2000)).isEqualTo(2000);
      assertThat(outBytes()).isEqualTo(RING);
      readAll();
      rest();
      assertThat(outBytes()).isEqualTo(INLINE);
      assertThat(write(300)).isEqualTo(300);
      readAll();
    }
    assertThat(pair.dialler.transport.mayRest()).as("looked at by the clock").isFalse();
  }

  /** The reader has read everything, but has not followed: it does not look there any more. */
  @Test
  void theRingServesAnotherConnectionAtOnce() throws Exception {
    List<Connection> others = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      others.add(pair.connect()); // in a slab with three rings a side
    }
    pair.settle();
    assertThat(write(2000)).isEqualTo(2000);
    readAll();
    for (Connection other : others.subList(0, 3)) {
      assertThat(other.client.write(ByteBuffer.allocate(2000))).isEqualTo(2000);
    }
    Connection late = others.get(3);
    connection.server.reading.lock();
    try {
      rest();
      assertThat(outBytes()).isEqualTo(INLINE);
      ByteBuffer bytes = ByteBuffer.allocate(2000);
      Pattern.fill(bytes, 4, 0);
      assertThat(late.client.write(bytes)).as("the ring that has come back").isEqualTo(2000);
    } finally {
      connection.server.reading.unlock();
    }
    assertThat(write(500)).isEqualTo(500);
    readAll();
    ByteBuffer got = ByteBuffer.allocate(3000);
    assertThat(late.server.read(got)).isEqualTo(2000);
    Pattern.check(got, 0, 2000, 4, 0);
    others.forEach(Connection::release);
  }

  @Test
  void whatIsUnreadStaysWhereItIs() throws Exception {
    assertThat(write(2000)).isEqualTo(2000);
    assertThat(read(500)).isEqualTo(500);
    rest();
    rest();
    assertThat(outBytes()).isEqualTo(RING);
    assertThat(pair.dialler.transport.mayRest()).isTrue();
    readAll();
    rest();
    assertThat(outBytes()).isEqualTo(INLINE);
  }

  @Test
  void whoIsWritingIsLeftAlone() throws Exception {
    assertThat(write(2000)).isEqualTo(2000);
    readAll();
    connection.client.writing.lock();
    try {
      rest();
      assertThat(outBytes()).isEqualTo(RING);
    } finally {
      connection.client.writing.unlock();
    }
    rest();
    assertThat(outBytes()).isEqualTo(INLINE);
  }

  @Test
  void ringsInFilesAreUnmappedAtBothSides() throws Exception {
    long mapped = mappings.count();
    for (int round = 0; round < 3; round++) {
      while (outBytes() < 16 * RING) {
        write(RING);
        pair.settle();
      }
      readAll();
      assertThat(mappings.count()).isGreaterThan(mapped);
      rest();
      assertThat(outBytes()).isEqualTo(INLINE);
      pair.settle();
      assertThat(mappings.count())
          .as("of the other side, too, though nobody reads")
          .isEqualTo(mapped);
      assertThat(write(100)).isEqualTo(100);
      readAll();
    }
  }

  /** It was asked for, and has come when nothing was under way any more. */
  @Test
  void aRingThatComesTooLateIsGivenBack() throws Exception {
    long mapped = mappings.count();
    CountDownLatch held = new CountDownLatch(1);
    pair.dialled.execute(
        () -> {
          try {
            held.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    assertThat(write(3 * RING)).as("and asks for more").isEqualTo(RING);
    readAll();
    for (int i = 0; i < 2; i++) {
      pair.dialler.run(pair.dialler.transport::rest);
    }
    assertThat(outBytes()).isEqualTo(INLINE);
    assertThat(pair.dialler.transport.mayRest()).as("until that has come").isTrue();
    held.countDown();
    pair.settle();
    assertThat(mappings.count()).isGreaterThan(mapped);

    rest();

    assertThat(outBytes()).isEqualTo(INLINE);
    assertThat(mappings.count()).isEqualTo(mapped);
    rest();
    assertThat(pair.dialler.transport.mayRest()).isFalse();
    assertThat(write(500)).isEqualTo(500);
    readAll();
  }

  /** It holds the read lock, so it has to do it itself. */
  @Test
  void whoSleepsInAReadIsWokenToLetGoOfAFile() throws Exception {
    long mapped = mappings.count();
    while (outBytes() < 4 * RING) {
      write(RING);
      pair.settle();
    }
    readAll();
    connection.server.reading.lock();
    try {
      connection.server.readerDoorbell.drainPermits();
      assertThat(connection.server.stream.await(TransportStream.READ)).isTrue();
      rest();
      assertThat(connection.server.readerDoorbell.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
      connection.server.stream.awake(TransportStream.READ);
      assertThat(read(10)).isZero();
    } finally {
      connection.server.reading.unlock();
    }
    pair.settle();
    assertThat(mappings.count()).isEqualTo(mapped);
  }

  /** Else the words of moves that the reader has not followed would be overwritten. */
  @Test
  void aWriterThatIsAllWordsAheadStaysWhereItIs() throws Exception {
    Field field = ShmStream.class.getDeclaredField("control");
    field.setAccessible(true);
    ByteBuffer page = (ByteBuffer) field.get(connection.server.stream);
    int followed = ConnectionLayout.side(1, 0) + ConnectionLayout.IN_MOVES;
    ConnectionLayout.setRelease(page, followed, -ConnectionLayout.MOVES);
    assertThat(write(2000)).as("what the page has room for").isEqualTo(INLINE);
    assertThat(outBytes()).isEqualTo(INLINE);
    ConnectionLayout.setRelease(page, followed, 0);
    assertThat(write(2000)).isEqualTo(2000);
    readAll();
  }

  @Test
  void anEndBehindARestIsSeen() throws Exception {
    assertThat(write(2000)).isEqualTo(2000);
    readAll();
    rest();
    assertThat(write(10)).isEqualTo(10);
    connection.client.stream.finishOutput();
    rest();
    assertThat(read(100)).isEqualTo(10);
    assertThat(connection.server.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.END);
  }
}
