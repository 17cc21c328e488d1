// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a selector is told, and when it is rung. */
@Timeout(60)
class ShmHomeTest {
  @TempDir Path dir;

  PeerPair pair;

  @BeforeEach
  void open() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), 4096, 4096);
    pair.dialled.transport.summarizedFrom = summarizedFrom();
  }

  /** From so many words of ready bits on, homes want summaries. */
  int summarizedFrom() {
    return Integer.MAX_VALUE;
  }

  @AfterEach
  void close() throws Exception {
    pair.close();
  }

  static int writeTo(End end) {
    return end.stream.write(ByteBuffer.allocate(1));
  }

  static void readAll(End end) {
    assertThat(end.stream.read(ByteBuffer.allocate(100))).isPositive();
  }

  static List<TransportStream> drain(ShmHome home) {
    List<TransportStream> ready = new ArrayList<>();
    int count = home.drainReady(ready::add, 1000);
    assertThat(ready).hasSize(count);
    return ready;
  }

  @Test
  void aSleepingSelectorIsRungOnceAndFindsTheStream() throws Exception {
    Connection a = pair.connect();
    Connection b = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);
    b.server.stream.moveTo(home);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(b.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(home.arm()).isTrue();

    writeTo(a.client);
    writeTo(b.client);
    writeTo(a.client);

    assertThat(a.client.rung.get() + b.client.rung.get()).isEqualTo(1);
    home.disarm();
    assertThat(drain(home)).containsExactlyInAnyOrder(a.server.stream, b.server.stream);
    assertThat(drain(home)).isEmpty();
  }

  @Test
  void aDoorbellThatIsNotWrittenDoesNotSilenceTheNeighbours() throws Exception {
    Connection a = pair.connect();
    Connection b = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);
    b.server.stream.moveTo(home);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(b.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(home.arm()).isTrue();
    a.client.mute = true;

    writeTo(a.client);
    writeTo(b.client);

    assertThat(b.client.rung).as("doorbells of the neighbour").hasValue(1);
  }

  @Test
  void aReadyBitThatStandsAlreadyIsNoDoorbell() throws Exception {
    Connection a = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);
    assertThat(a.server.stream.watchEvery(TransportStream.READ)).isTrue();
    assertThat(home.arm()).isTrue();
    a.client.mute = true;
    writeTo(a.client); // sets the bit, and is heard by nobody
    a.client.mute = false;

    writeTo(a.client);
    writeTo(a.client);

    assertThat(a.client.rung).as("doorbells, the first of them in vain").hasValue(2);
  }

  @Test
  void theNumberOfAClosedHomeIsNotGivenAwayWhileAStreamNamesIt() throws Exception {
    Connection a = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);

    home.close();

    ShmHome next = (ShmHome) pair.dialled.transport.openHome();
    assertThat(next.index()).isNotEqualTo(home.index());
    a.server.stream.moveTo(null);
    assertThat(((ShmHome) pair.dialled.transport.openHome()).index()).isEqualTo(home.index());
  }

  @Test
  void anAwakeSelectorIsNotRung() throws Exception {
    Connection a = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(home.arm()).isTrue();
    home.disarm();

    writeTo(a.client);

    assertThat(a.client.rung).hasValue(0);
    assertThat(home.arm()).as("may sleep").isFalse();
    home.disarm();
    assertThat(drain(home)).containsExactly(a.server.stream);
  }

  @Test
  void aNewHomeIsRungThoughAnOldOneOfItsNumberHadBeen() throws Exception {
    Connection a = pair.connect();
    for (int i = 0; i < 5; i++) {
      ShmHome home = (ShmHome) pair.dialled.transport.openHome();
      assertThat(home.index()).isZero();
      a.server.stream.moveTo(home);
      assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
      assertThat(home.arm()).isTrue();

      writeTo(a.client);

      assertThat(a.client.rung).as("doorbells rung").hasValue(i + 1);
      home.disarm();
      assertThat(drain(home)).containsExactly(a.server.stream);
      readAll(a.server);
      a.server.stream.moveTo(null);
      home.close();
    }
  }

  @Test
  void aStreamThatMovesTakesItsReadinessAlong() throws Exception {
    Connection a = pair.connect();
    ShmHome first = (ShmHome) pair.dialled.transport.openHome();
    ShmHome second = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(first);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    writeTo(a.client);

    a.server.stream.moveTo(second);

    assertThat(drain(first)).isEmpty();
    assertThat(second.arm()).as("may sleep").isFalse();
    assertThat(drain(second)).containsExactly(a.server.stream);
  }

  @Test
  void aReusedSlotDoesNotWakeItsFormerHome() throws Exception {
    Connection a = pair.connect();
    ShmHome home = (ShmHome) pair.dialled.transport.openHome();
    a.server.stream.moveTo(home);
    int slot = a.server.stream.slot;
    a.release();
    pair.settle();
    Connection b = pair.connect();
    assertThat(b.server.stream.slot).isEqualTo(slot);
    assertThat(home.arm()).isTrue();

    writeTo(b.client);

    assertThat(home.arm()).isTrue();
    assertThat(drain(home)).isEmpty();
    assertThat(b.client.rung).hasValue(0);
  }

  @Test
  void thereIsALimitOfHomesAndClosedOnesComeBack() {
    List<ShmHome> homes = new ArrayList<>();
    for (int i = 0; i < PeerLayout.HOMES; i++) {
      homes.add((ShmHome) pair.dialler.transport.openHome());
    }
    assertThat(homes).doesNotContainNull();
    assertThat(pair.dialler.transport.openHome()).isNull();
    homes.get(77).close();
    homes.set(77, (ShmHome) pair.dialler.transport.openHome());
    assertThat(homes.get(77).index()).isEqualTo(77);
    homes.forEach(ShmHome::close); // their doorbells are most of what this process may have
  }
}
