// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.doorbell.DoorbellAddress;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A selector's own doorbell, of which its peers have been told. */
@Timeout(60)
class ReadySetDoorbellTest {
  @TempDir Path dir;

  private PeerPair pair;
  private Connection connection;

  @BeforeEach
  void open() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), 4096, 4096);
    pair.pid = ProcessHandle.current().pid();
    connection = pair.connect();
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private ShmReadySet openReadySet() {
    return (ShmReadySet) pair.dialled.transport.openReadySet();
  }

  /** Moves the server's end there and falls asleep; the client has heard of the doorbell then. */
  private void sleepIn(ShmReadySet readySet) throws Exception {
    connection.server.stream.moveTo(readySet);
    pair.settle();
    assertThat(connection.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
  }

  /** Whether the doorbell of a ready set was rung; takes that, and wakes. */
  private static boolean rung(ShmReadySet readySet) throws IOException {
    try (Selector selector = JdkNio.provider().openSelector()) {
      readySet.selectable().register(selector, SelectionKey.OP_READ);
      boolean rung = selector.selectNow() > 0;
      readySet.selected();
      readySet.disarm();
      return rung;
    }
  }

  @Test
  void aSleepIsRungThereAndNotOnTheControlConnection() throws Exception {
    ShmReadySet readySet = openReadySet();
    sleepIn(readySet);

    ShmReadySetTest.writeTo(connection.client);

    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(0);
    assertThat(rung(readySet)).isTrue();
    assertThat(ShmReadySetTest.drain(readySet)).containsExactly(connection.server.stream);
  }

  @Test
  void aSleepIsRungOnce() throws Exception {
    ShmReadySet readySet = openReadySet();
    sleepIn(readySet);
    ShmReadySetTest.writeTo(connection.client);
    assertThat(rung(readySet)).isTrue();
    assertThat(ShmReadySetTest.drain(readySet)).containsExactly(connection.server.stream);

    ShmReadySetTest.writeTo(connection.client);

    assertThat(rung(readySet)).as("rung while it is awake").isFalse();
  }

  @Test
  void itsDoorbellIsRungHoweverOftenItHasSlept() throws Exception {
    ShmReadySet readySet = openReadySet();
    readySet.lastSleep(-1);
    sleepIn(readySet);

    ShmReadySetTest.writeTo(connection.client);

    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(0);
    assertThat(rung(readySet)).isTrue();
  }

  @Test
  void theNextReadySetOfThatNumberIsRungByItsOwnDoorbell() throws Exception {
    ShmReadySet first = openReadySet();
    sleepIn(first);
    ShmReadySetTest.writeTo(connection.client);
    assertThat(rung(first)).isTrue();
    assertThat(ShmReadySetTest.drain(first)).containsExactly(connection.server.stream);
    ShmReadySet between = openReadySet(); // has the second doorbell
    connection.server.stream.moveTo(null);
    first.close();
    ShmReadySet taker = openReadySet(); // has the first's number, and its doorbell
    assertThat(taker.index()).isEqualTo(first.index());
    taker.close();
    between.close();

    ShmReadySet next = openReadySet(); // has the first's number, and another's doorbell
    assertThat(next.index()).isEqualTo(first.index());
    ShmReadySetTest.readAll(connection.server);
    sleepIn(next);
    ShmReadySetTest.writeTo(connection.client);

    assertThat(rung(next)).isTrue();
    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(0);
  }

  @Test
  void beforeItIsKnownTheControlConnectionServes() throws Exception {
    ShmReadySet readySet = openReadySet();
    pair.pid = 0; // nothing can be proved of a process that does not say which it is
    sleepIn(readySet);

    ShmReadySetTest.writeTo(connection.client);

    assertThat(connection.client.rung).hasValue(1);
    assertThat(rung(readySet)).isFalse();
  }

  @Test
  void aDoorbellThatIsNotWhatThePeerSaysIsNotRungAndTheControlConnectionServes() throws Exception {
    pair.dialler.run(
        () ->
            pair.dialler.transport.received(
                pair.dialler, ShmMessages.doorbell(0, 0, new DoorbellAddress(0, 1))));
    ShmReadySet readySet = openReadySet();
    sleepIn(readySet);

    ShmReadySetTest.writeTo(connection.client);

    assertThat(connection.client.rung).hasValue(1);
  }

  @Test
  void aDoorbellOfAReadySetThatCannotBeEndsTheSession() throws Exception {
    for (int readySet : new int[] {-1, PeerLayout.READY_SETS}) {
      ByteBuffer message = ShmMessages.doorbell(readySet, 0, new DoorbellAddress(0, 1));
      assertThatThrownBy(
              () -> pair.dialler.run(() -> pair.dialler.transport.received(pair.dialler, message)))
          .hasCauseInstanceOf(TransportException.class)
          .hasMessageContaining("a doorbell of ready set " + readySet);
    }
  }
}
