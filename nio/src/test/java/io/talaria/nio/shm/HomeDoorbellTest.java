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
class HomeDoorbellTest {
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

  private ShmHome openHome() {
    return (ShmHome) pair.dialled.transport.openHome();
  }

  /** Moves the server's end there and falls asleep; the client has heard of the doorbell then. */
  private void sleepIn(ShmHome home) throws Exception {
    connection.server.stream.moveTo(home);
    pair.settle();
    assertThat(connection.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(home.arm()).isTrue();
  }

  /** Whether the doorbell of a home was rung; takes that, and wakes. */
  private static boolean rung(ShmHome home) throws IOException {
    try (Selector selector = JdkNio.provider().openSelector()) {
      home.selectable().register(selector, SelectionKey.OP_READ);
      boolean rung = selector.selectNow() > 0;
      home.selected();
      home.disarm();
      return rung;
    }
  }

  @Test
  void aSleepIsRungThereAndNotOnTheControlConnection() throws Exception {
    ShmHome home = openHome();
    sleepIn(home);

    ShmHomeTest.writeTo(connection.client);

    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(0);
    assertThat(rung(home)).isTrue();
    assertThat(ShmHomeTest.drain(home)).containsExactly(connection.server.stream);
  }

  @Test
  void aSleepIsRungOnce() throws Exception {
    ShmHome home = openHome();
    sleepIn(home);
    ShmHomeTest.writeTo(connection.client);
    assertThat(rung(home)).isTrue();
    assertThat(ShmHomeTest.drain(home)).containsExactly(connection.server.stream);

    ShmHomeTest.writeTo(connection.client);

    assertThat(rung(home)).as("rung while it is awake").isFalse();
  }

  @Test
  void theNextHomeOfThatNumberIsRungByItsOwnDoorbell() throws Exception {
    ShmHome first = openHome();
    sleepIn(first);
    ShmHomeTest.writeTo(connection.client);
    assertThat(rung(first)).isTrue();
    assertThat(ShmHomeTest.drain(first)).containsExactly(connection.server.stream);
    ShmHome between = openHome(); // has the second doorbell
    connection.server.stream.moveTo(null);
    first.close();
    ShmHome taker = openHome(); // has the first's number, and its doorbell
    assertThat(taker.index()).isEqualTo(first.index());
    taker.close();
    between.close();

    ShmHome next = openHome(); // has the first's number, and another's doorbell
    assertThat(next.index()).isEqualTo(first.index());
    ShmHomeTest.readAll(connection.server);
    sleepIn(next);
    ShmHomeTest.writeTo(connection.client);

    assertThat(rung(next)).isTrue();
    assertThat(connection.client.rung).as("doorbells on the control connection").hasValue(0);
  }

  @Test
  void beforeItIsKnownTheControlConnectionServes() throws Exception {
    ShmHome home = openHome();
    pair.pid = 0; // nothing can be proved of a process that does not say which it is
    sleepIn(home);

    ShmHomeTest.writeTo(connection.client);

    assertThat(connection.client.rung).hasValue(1);
    assertThat(rung(home)).isFalse();
  }

  @Test
  void aDoorbellThatIsNotWhatThePeerSaysIsNotRungAndTheControlConnectionServes() throws Exception {
    pair.dialler.run(
        () ->
            pair.dialler.transport.received(
                pair.dialler, ShmMessages.doorbell(0, 0, new DoorbellAddress(0, 1))));
    ShmHome home = openHome();
    sleepIn(home);

    ShmHomeTest.writeTo(connection.client);

    assertThat(connection.client.rung).hasValue(1);
  }

  @Test
  void aDoorbellOfAHomeThatCannotBeEndsTheSession() throws Exception {
    for (int home : new int[] {-1, PeerLayout.HOMES}) {
      ByteBuffer message = ShmMessages.doorbell(home, 0, new DoorbellAddress(0, 1));
      assertThatThrownBy(
              () -> pair.dialler.run(() -> pair.dialler.transport.received(pair.dialler, message)))
          .hasCauseInstanceOf(TransportException.class)
          .hasMessageContaining("a doorbell of home " + home);
    }
  }
}
