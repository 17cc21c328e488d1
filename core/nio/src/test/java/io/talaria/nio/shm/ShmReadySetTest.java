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
class ShmReadySetTest {
  @TempDir Path dir;

  PeerPair pair;

  @BeforeEach
  void open() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), 4096, 4096);
    pair.dialled.transport.summarizedFrom = summarizedFrom();
  }

  /** From so many words of ready bits on, ready sets want summaries. */
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

  static List<TransportStream> drain(ShmReadySet readySet) {
    List<TransportStream> ready = new ArrayList<>();
    int count = readySet.drainReady(ready::add, 1000);
    assertThat(ready).hasSize(count);
    return ready;
  }

  @Test
  void aSleepingSelectorIsRungOnceAndFindsTheStream() throws Exception {
    Connection a = pair.connect();
    Connection b = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);
    b.server.stream.moveTo(readySet);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(b.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(readySet.arm()).isTrue();

    writeTo(a.client);
    writeTo(b.client);
    writeTo(a.client);

    assertThat(a.client.rung.get() + b.client.rung.get()).isEqualTo(1);
    readySet.disarm();
    assertThat(drain(readySet)).containsExactlyInAnyOrder(a.server.stream, b.server.stream);
    assertThat(drain(readySet)).isEmpty();
  }

  @Test
  void aDoorbellThatIsNotWrittenDoesNotSilenceTheNeighbours() throws Exception {
    Connection a = pair.connect();
    Connection b = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);
    b.server.stream.moveTo(readySet);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(b.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
    a.client.mute = true;

    writeTo(a.client);
    writeTo(b.client);

    assertThat(b.client.rung).as("doorbells of the neighbour").hasValue(1);
  }

  @Test
  void aReadyBitThatStandsAlreadyIsNoDoorbell() throws Exception {
    Connection a = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);
    assertThat(a.server.stream.watchEvery(TransportStream.READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
    a.client.mute = true;
    writeTo(a.client); // sets the bit, and is heard by nobody
    a.client.mute = false;

    writeTo(a.client);
    writeTo(a.client);

    assertThat(a.client.rung).as("doorbells, the first of them in vain").hasValue(2);
  }

  @Test
  void theNumberOfAClosedReadySetIsNotGivenAwayWhileAStreamNamesIt() throws Exception {
    Connection a = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);

    readySet.close();

    ShmReadySet next = (ShmReadySet) pair.dialled.transport.openReadySet();
    assertThat(next.index()).isNotEqualTo(readySet.index());
    a.server.stream.moveTo(null);
    assertThat(((ShmReadySet) pair.dialled.transport.openReadySet()).index())
        .isEqualTo(readySet.index());
  }

  @Test
  void anAwakeSelectorIsNotRung() throws Exception {
    Connection a = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    assertThat(readySet.arm()).isTrue();
    readySet.disarm();

    writeTo(a.client);

    assertThat(a.client.rung).hasValue(0);
    assertThat(readySet.arm()).as("may sleep").isFalse();
    readySet.disarm();
    assertThat(drain(readySet)).containsExactly(a.server.stream);
  }

  @Test
  void aNewReadySetIsRungThoughAnOldOneOfItsNumberHadBeen() throws Exception {
    Connection a = pair.connect();
    for (int i = 0; i < 5; i++) {
      ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
      assertThat(readySet.index()).isZero();
      a.server.stream.moveTo(readySet);
      assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
      assertThat(readySet.arm()).isTrue();

      writeTo(a.client);

      assertThat(a.client.rung).as("doorbells rung").hasValue(i + 1);
      readySet.disarm();
      assertThat(drain(readySet)).containsExactly(a.server.stream);
      readAll(a.server);
      a.server.stream.moveTo(null);
      readySet.close();
    }
  }

  @Test
  void aStreamThatMovesTakesItsReadinessAlong() throws Exception {
    Connection a = pair.connect();
    ShmReadySet first = (ShmReadySet) pair.dialled.transport.openReadySet();
    ShmReadySet second = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(first);
    assertThat(a.server.stream.watch(TransportStream.READ)).isTrue();
    writeTo(a.client);

    a.server.stream.moveTo(second);

    assertThat(drain(first)).isEmpty();
    assertThat(second.arm()).as("may sleep").isFalse();
    assertThat(drain(second)).containsExactly(a.server.stream);
  }

  @Test
  void aReusedSlotDoesNotWakeItsFormerReadySet() throws Exception {
    Connection a = pair.connect();
    ShmReadySet readySet = (ShmReadySet) pair.dialled.transport.openReadySet();
    a.server.stream.moveTo(readySet);
    int slot = a.server.stream.slot;
    a.release();
    pair.settle();
    Connection b = pair.connect();
    assertThat(b.server.stream.slot).isEqualTo(slot);
    assertThat(readySet.arm()).isTrue();

    writeTo(b.client);

    assertThat(readySet.arm()).isTrue();
    assertThat(drain(readySet)).isEmpty();
    assertThat(b.client.rung).hasValue(0);
  }

  @Test
  void thereIsALimitOfReadySetsAndClosedOnesComeBack() {
    List<ShmReadySet> readySets = new ArrayList<>();
    for (int i = 0; i < PeerLayout.READY_SETS; i++) {
      readySets.add((ShmReadySet) pair.dialler.transport.openReadySet());
    }
    assertThat(readySets).doesNotContainNull();
    assertThat(pair.dialler.transport.openReadySet()).isNull();
    readySets.get(77).close();
    readySets.set(77, (ShmReadySet) pair.dialler.transport.openReadySet());
    assertThat(readySets.get(77).index()).isEqualTo(77);
    readySets.forEach(ShmReadySet::close); // their doorbells are most of what this process may have
  }
}
