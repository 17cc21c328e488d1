// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who comes late to a stream that has been released finds a connection that has ended, and neither
 * memory that is no longer mapped (of which older JVMs die) nor that of the next connection.
 */
@Timeout(60)
class ReleasedStreamTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private static void comeLate(ShmStream stream) {
    assertThat(stream.flushed()).isTrue();
    assertThat(stream.peerInputSwitched()).isTrue();
    stream.finishOutput();
    stream.abandonInput(false);
    stream.abort();
    assertThat(stream.controlEnded(false)).isTrue();
    stream.outputLost();
    stream.inputTaken(5);
    stream.inputSwitched();
    stream.switchOut(7);
    stream.awake(TransportStream.READ | TransportStream.WRITE);
    assertThat(stream.await(TransportStream.READ)).isFalse();
    assertThat(stream.readiness(TransportStream.WRITE)).isEqualTo(TransportStream.WRITE);
    assertThat(stream.write(ByteBuffer.allocate(1))).isEqualTo(TransportStream.BROKEN);
    assertThat(stream.read(ByteBuffer.allocate(1))).isEqualTo(TransportStream.RESET);
    assertThat(stream.available()).isZero();
    assertThat(stream.peerInputTaken()).isZero();
    stream.readiness(TransportStream.READ);
    long at = stream.peerSwitchAt();
    assertThat(at).isBetween(-1L, 0L);
  }

  @Test
  void theNextConnectionInThatMemoryHearsNothingOfIt() throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, 4 * RING)) {
      Connection old = pair.connect();
      assertThat(old.client.stream.write(ByteBuffer.allocate(3000))).isEqualTo(3000);
      old.release();
      pair.settle();
      Connection next = pair.connect();
      assertThat(next.client.stream.slot).isEqualTo(old.client.stream.slot);
      comeLate(old.client.stream);
      comeLate(old.server.stream);
      assertThat(next.client.stream.write(ByteBuffer.allocate(10))).isEqualTo(10);
      assertThat(next.server.stream.read(ByteBuffer.allocate(20))).isEqualTo(10);
      assertThat(next.server.stream.read(ByteBuffer.allocate(20))).isZero();
      assertThat(next.client.stream.read(ByteBuffer.allocate(20))).isZero();
      assertThat(next.client.stream.peerInputTaken()).isZero();
      assertThat(next.client.stream.peerSwitchAt()).isZero();
      next.release();
    }
  }

  @Test
  void memoryThatIsUnmappedIsNotTouched() throws Exception {
    Connection old;
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), RING, 4 * RING)) {
      old = pair.connect();
      old.release();
    }
    comeLate(old.client.stream);
    comeLate(old.server.stream);
  }

  @Test
  void whoHoldsOneKeepsNoMemoryOfItsPeer() throws Exception {
    Path shared = dir.resolve("shm");
    Connection old;
    try (PeerPair pair = new PeerPair(shared, RING, 4 * RING)) {
      old = pair.connect();
      assertThat(mappings(shared)).isPositive();
      old.release();
    }
    while (mappings(shared) > 0) { // the test's own limit ends it
      System.gc();
      Thread.sleep(10);
    }
    comeLate(old.client.stream);
  }

  private static long mappings(Path directory) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(directory + "/")).count();
    }
  }
}
