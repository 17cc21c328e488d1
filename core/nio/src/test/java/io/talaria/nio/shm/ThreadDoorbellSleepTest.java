// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.doorbell.DoorbellAddress;
import io.talaria.nio.doorbell.DoorbellAudit;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.doorbell.ThreadDoorbell;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which doorbell of a thread a peer rings, and what it does where it cannot. */
@Timeout(60)
class ThreadDoorbellSleepTest {
  private static final long MOMENT_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int RING = 4096;

  @TempDir Path dir;

  private PeerPair pair;
  private Connection connection;
  private ShmStream sleeper;
  private ThreadDoorbell doorbell;

  private static final ThreadDoorbell.Sleeper NOBODY =
      new ThreadDoorbell.Sleeper() {
        private final DoorbellAudit none =
            new DoorbellAudit(DoorbellPool.ofProcess(), () -> {}, () -> {});

        @Override
        public DoorbellAudit audit() {
          return none;
        }

        @Override
        public boolean ready(int waitsFor) {
          return false;
        }
      };

  @BeforeEach
  void open() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), RING, RING);
    pair.pid = ProcessHandle.current().pid();
    connection = pair.connect();
    sleeper = connection.server.stream;
    pair.settle();
    doorbell = leased();
  }

  /** A doorbell that nobody rings any more who came late in another test. */
  private static ThreadDoorbell leased() throws Exception {
    ThreadDoorbell leased = DoorbellPool.ofProcess().lease(null);
    while (leased.sleep(NOBODY, TransportStream.READ, MOMENT_NS)) {
      Thread.onSpinWait();
    }
    return leased;
  }

  @AfterEach
  void close() {
    doorbell.giveBack();
    connection.release();
    pair.close();
  }

  private boolean rung() throws Exception {
    return doorbell.sleep(NOBODY, TransportStream.READ, MOMENT_NS);
  }

  /** Has the peer know the doorbell. */
  private void tell() throws Exception {
    sleeper.rings(doorbell.number());
    pair.settle();
  }

  private void fill() {
    while (sleeper.write(ByteBuffer.allocate(RING)) > 0) {
      Thread.onSpinWait();
    }
  }

  private void empty() {
    while (connection.client.stream.read(ByteBuffer.allocate(RING)) > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void theFirstSleepIsRungOnTheControlConnectionAndTheNextOnTheDoorbell() throws Exception {
    assertThat(sleeper.ringsDoorbells()).isTrue();
    assertThat(sleeper.rings(doorbell.number())).isFalse();
    assertThat(sleeper.await(TransportStream.READ)).isTrue();
    pair.settle();
    ShmReadySetTest.writeTo(connection.client);
    assertThat(connection.client.rung).hasValue(1);
    assertThat(rung()).isFalse();
    ShmReadySetTest.readAll(connection.server);

    assertThat(sleeper.rings(doorbell.number())).isTrue();
    assertThat(sleeper.await(TransportStream.READ, doorbell.number())).isTrue();
    ShmReadySetTest.writeTo(connection.client);

    assertThat(rung()).isTrue();
    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(1);
  }

  @Test
  void aSleepIsRungOnceAndTheNextAgain() throws Exception {
    tell();
    for (int i = 0; i < 3; i++) {
      assertThat(sleeper.await(TransportStream.READ, doorbell.number())).isTrue();
      ShmReadySetTest.writeTo(connection.client);
      assertThat(rung()).as("sleep %d", i).isTrue();
      ShmReadySetTest.writeTo(connection.client);
      assertThat(rung()).as("rung again, %d", i).isFalse();
      sleeper.awake(TransportStream.READ);
      ShmReadySetTest.readAll(connection.server);
    }
    assertThat(connection.client.rung).hasValue(0);
  }

  @Test
  void aWriterWithoutRoomIsRungThere() throws Exception {
    tell();
    fill();
    assertThat(sleeper.await(TransportStream.WRITE, doorbell.number())).isTrue();

    empty();

    assertThat(rung()).isTrue();
  }

  @Test
  void readerAndWriterOfOneConnectionAreRungByTheirOwn() throws Exception {
    tell();
    ThreadDoorbell writers = leased();
    assertThat(sleeper.rings(writers.number())).isFalse();
    pair.settle();
    fill();
    assertThat(sleeper.await(TransportStream.WRITE, writers.number())).isTrue();
    assertThat(sleeper.await(TransportStream.READ, doorbell.number())).isTrue();

    ShmReadySetTest.writeTo(connection.client);
    assertThat(rung()).as("the reader").isTrue();
    assertThat(writers.sleep(NOBODY, TransportStream.WRITE, MOMENT_NS)).isFalse();

    empty();
    assertThat(writers.sleep(NOBODY, TransportStream.WRITE, MOMENT_NS)).isTrue();
    assertThat(rung()).as("the reader").isFalse();
    writers.giveBack();
  }

  @Test
  void anEndRingsWhoeverSleeps() throws Exception {
    tell();
    assertThat(sleeper.await(TransportStream.READ, doorbell.number())).isTrue();
    connection.client.stream.finishOutput();
    assertThat(rung()).isTrue();
  }

  @Test
  void aPeerThatCannotOpenItSaysSoAndIsNotAskedAgain() throws Exception {
    pair.pid = 0; // nothing can be proved of a process that does not say which it is
    tell();
    assertThat(sleeper.rings(doorbell.number())).isFalse();
    assertThat(sleeper.ringsDoorbells()).isFalse();
  }

  /** Nobody listens to the control connection: the session tells the sleeper's process as well. */
  @Test
  void whereADoorbellIsNotKnownTheSessionAndTheControlConnectionAreRung() throws Exception {
    assertThat(sleeper.await(TransportStream.READ, doorbell.number()))
        .isTrue(); // without having told
    int before = connection.server.woken.get();

    ShmReadySetTest.writeTo(connection.client);
    pair.settle();

    assertThat(connection.client.rung).hasValue(1);
    assertThat(connection.server.woken.get() - before).isEqualTo(1);
  }

  @Test
  void whatIsNoNumberOfADoorbellIsNotRungOutsideTheSession() throws Exception {
    assertThat(sleeper.await(TransportStream.READ, 2046)).isTrue();
    ShmReadySetTest.writeTo(connection.client);
    assertThat(connection.client.rung).hasValue(1);
  }

  @Test
  void afterTheSessionNoDoorbellIsRungNorAskedFor() throws Exception {
    tell();
    assertThat(sleeper.await(TransportStream.READ, doorbell.number())).isTrue();
    pair.dialler.run(() -> pair.dialler.transport.peerGone(pair.dialler));
    ShmReadySetTest.writeTo(connection.client);
    assertThat(rung()).isFalse();
    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(1);

    pair.dialled.run(() -> pair.dialled.transport.peerGone(pair.dialled));
    assertThat(sleeper.ringsDoorbells()).isFalse();
    assertThat(sleeper.rings(doorbell.number())).isFalse();
  }

  @Test
  void aDoorbellThatCannotBeEndsTheSession() throws Exception {
    DoorbellAddress address = doorbell.address();
    for (int number : new int[] {-1, PeerLayout.THREAD_DOORBELLS}) {
      assertRefused(
          ShmMessages.threadDoorbell(number, address), "doorbell " + number + " of its threads");
    }
    assertRefused(
        ShmMessages.threadDoorbell(1, new DoorbellAddress(-1, 1)),
        "doorbell 1 of its threads, descriptor -1");
    tell();
    assertRefused(
        ShmMessages.threadDoorbell(doorbell.number(), new DoorbellAddress(address.descriptor(), 1)),
        "a second time");
  }

  private void assertRefused(ByteBuffer message, String why) {
    assertThatThrownBy(
            () -> pair.dialler.run(() -> pair.dialler.transport.received(pair.dialler, message)))
        .hasCauseInstanceOf(TransportException.class)
        .hasMessageContaining(why);
  }

  /** The region has a bit for each, and the wait word a number. */
  @Test
  void thereIsRoomForAllDoorbellsOfAPool() {
    assertThat(DoorbellPool.MAX_FOR_THREADS).isEqualTo(PeerLayout.THREAD_DOORBELLS);
    for (int number : new int[] {TransportStream.NO_DOORBELL, 0, 1, 255, 2046}) {
      long word = ConnectionLayout.waitWord(77, number, ConnectionLayout.WAIT_DOORBELL);
      assertThat(ConnectionLayout.doorbell(word)).isEqualTo(number);
      assertThat(word & 7).isEqualTo(ConnectionLayout.WAIT_DOORBELL);
    }
    assertThat(PeerLayout.refused(1) + Long.BYTES).isLessThanOrEqualTo(4096);
    assertThat(PeerLayout.refused(0) + Long.BYTES).isLessThanOrEqualTo(PeerLayout.opened(1, 0));
  }
}
