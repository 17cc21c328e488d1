// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NeedsUcx.class)
@Timeout(60)
class StreamTest {
  private final Arena arena = Arena.ofConfined();
  private Pair pair;

  @BeforeEach
  void open() {
    pair = new Pair(ErrorHandling.PEER, Feature.STREAM);
  }

  @AfterEach
  void close() {
    pair.close();
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 90, 4096, 8193, 65536, 65537, 1 << 20, 5_000_001})
  void bytesArriveInPlace(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long request = pair.toRight.sendStream(sent, 0, size, 0);
    StreamChunk chunk = new StreamChunk();
    long[] count = new long[1];
    pair.until(
        () -> {
          long length = pair.toLeft.receiveStream(chunk);
          assertThat(length).isNotNegative();
          if (length > 0) {
            assertThat(chunk.length()).isEqualTo(length);
            chunk.copyTo(0, received, count[0], length);
            chunk.release();
            count[0] += length;
          }
          return count[0] == size;
        });
    assertThat(received.mismatch(sent)).isEqualTo(-1);
    assertThat(pair.finish(pair.left, request)).isZero();
    assertThat(pair.toLeft.receiveStream(chunk)).isZero();
    assertThat(pair.left.requestsHeld()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4096, 65537, 3_000_000})
  void bytesArriveInABuffer(int size) {
    MemorySegment sent = Pair.pattern(arena, size);
    MemorySegment received = arena.allocate(size);
    long receive = pair.toLeft.receiveStreamFully(received, 0, size);
    long request = pair.toRight.sendStream(sent, 0, size, 0);
    assertThat(receive).isGreaterThan(1);
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(size);
    pair.right.release(receive);
    assertThat(received.mismatch(sent)).isEqualTo(-1);
    assertThat(pair.finish(pair.left, request)).isZero();
  }

  @Test
  void aReceiveTakesWhatIsThere() {
    pair.wireUpStreams();
    MemorySegment sent = Pair.pattern(arena, 10);
    MemorySegment received = arena.allocate(100);
    assertThat(pair.finish(pair.left, pair.toRight.sendStream(sent, 0, 10, 0))).isZero();
    pair.right.progress();
    long receive = pair.toLeft.receiveStream(received, 7, 93);
    pair.until(() -> pair.right.status(receive) != Status.IN_PROGRESS);
    assertThat(pair.right.receivedBytes(receive)).isEqualTo(10);
    assertThat(received.asSlice(7, 10).mismatch(sent)).isEqualTo(-1);
    pair.right.release(receive);
  }

  @Test
  void anImmediateSendIsDoneOrRefused() {
    pair.wireUpStreams();
    MemorySegment buffer = arena.allocate(1 << 20);
    pair.until(() -> pair.toRight.sendStream(buffer, 0, 16, SendFlags.IMMEDIATE) == 0);
    assertThat(pair.toRight.sendStream(buffer, 0, 1 << 20, SendFlags.IMMEDIATE))
        .isEqualTo(Status.NO_RESOURCE);
    long[] count = new long[1];
    StreamChunk chunk = new StreamChunk();
    pair.until(
        () -> {
          count[0] += Math.max(0, pair.toLeft.receiveStream(chunk));
          chunk.release();
          return count[0] >= 16;
        });
    pair.progress();
    assertThat(pair.toLeft.receiveStream(chunk)).isZero();
    assertThat(count[0]).isEqualTo(16);
  }

  @Test
  void noBytesAreNothing() {
    pair.wireUpStreams();
    MemorySegment buffer = arena.allocate(16);
    assertThat(pair.toRight.sendStream(buffer, 16, 0, 0)).isZero();
    assertThat(pair.toRight.sendStream(buffer, 0, 0, SendFlags.IMMEDIATE)).isZero();
    long receive = pair.toLeft.receiveStreamFully(buffer, 0, 0);
    assertThat(pair.right.status(receive)).isZero();
    assertThat(pair.right.receivedBytes(receive)).isZero();
    assertThat(pair.right.poll(receive)).isZero();
    for (int i = 0; i < 1000; i++) {
      pair.progress();
    }
    assertThat(pair.toLeft.receiveStream(new StreamChunk())).isZero();
  }

  @Test
  void aSendMayBeToldToGiveARequest() {
    pair.wireUpStreams();
    MemorySegment buffer = arena.allocate(16);
    long request = pair.toRight.sendStream(buffer, 0, 16, SendFlags.ALWAYS_REQUEST);
    assertThat(request).isGreaterThan(1);
    assertThat(pair.finish(pair.left, request)).isZero();
  }

  @Test
  void endpointsWithBytesAreNamed() {
    pair.wireUpStreams();
    Endpoint[] ready = new Endpoint[4];
    while (pair.right.pollStreams(ready) > 0) {
      pair.right.progress();
    }
    pair.toLeft.attach("the connection");
    MemorySegment buffer = Pair.pattern(arena, 8);
    assertThat(pair.finish(pair.left, pair.toRight.sendStream(buffer, 0, 8, 0))).isZero();
    pair.until(() -> pair.right.pollStreams(ready) == 1);
    assertThat(ready[0]).isSameAs(pair.toLeft);
    assertThat(ready[0].attachment()).isEqualTo("the connection");
    StreamChunk chunk = new StreamChunk();
    assertThat(pair.toLeft.receiveStream(chunk)).isEqualTo(8);
    chunk.release();
    assertThat(pair.right.pollStreams(ready)).isZero();
  }

  @Test
  void aChunkIsReadInSeveralWays() {
    MemorySegment buffer = arena.allocate(32, 8);
    buffer.set(ValueLayout.JAVA_LONG_UNALIGNED, 1, 0x1122334455667788L);
    long request = pair.toRight.sendStream(buffer, 0, 32, 0);
    StreamChunk chunk = new StreamChunk();
    pair.until(() -> pair.toLeft.receiveStream(chunk) > 0);
    assertThat(chunk.length()).isEqualTo(32);
    assertThat(chunk.longAt(1)).isEqualTo(0x1122334455667788L);
    assertThat(chunk.intAt(1)).isEqualTo(buffer.get(ValueLayout.JAVA_INT_UNALIGNED, 1));
    assertThat(chunk.byteAt(1)).isEqualTo(buffer.get(ValueLayout.JAVA_BYTE, 1));
    byte[] array = new byte[9];
    chunk.copyTo(1, array, 1, 8);
    assertThat(array).startsWith(0).endsWith(buffer.get(ValueLayout.JAVA_BYTE, 8));
    for (ByteBuffer to :
        new ByteBuffer[] {ByteBuffer.allocate(20), ByteBuffer.allocateDirect(20)}) {
      to.position(3);
      chunk.copyTo(1, to, 8);
      assertThat(to.position()).isEqualTo(11);
      assertThat(to.get(3)).isEqualTo(array[1]);
      assertThat(to.get(10)).isEqualTo(array[8]);
    }
    chunk.release();
    chunk.release();
    assertThat(pair.finish(pair.left, request)).isZero();
  }

  @Test
  void anEndpointTellsWhatItIs() {
    pair.wireUpStreams();
    assertThat(pair.toRight.transports()).containsExactly("posix/memory");
    assertThat(pair.toRight.estimatedSeconds(1 << 20)).isPositive().isLessThan(1);
    assertThat(pair.toRight.print()).contains("UCP endpoint");
    assertThat(pair.left.print()).contains("UCP worker");
    assertThat(pair.toRight).hasToString("Endpoint[" + pair.right.address() + "]");
  }

  @Test
  void severalChunksMayBeHeld() {
    pair.wireUpStreams();
    MemorySegment buffer = Pair.pattern(arena, 3);
    StreamChunk[] chunks = {new StreamChunk(), new StreamChunk(), new StreamChunk()};
    for (int i = 0; i < 3; i++) {
      assertThat(pair.finish(pair.left, pair.toRight.sendStream(buffer, i, 1, 0))).isZero();
      StreamChunk chunk = chunks[i];
      pair.until(() -> pair.toLeft.receiveStream(chunk) > 0);
    }
    chunks[1].release();
    assertThat(chunks[0].byteAt(0)).isEqualTo(Pair.patternAt(0));
    assertThat(chunks[2].byteAt(0)).isEqualTo(Pair.patternAt(2));
    chunks[0].release();
    pair.toLeft.close();
    assertThat(chunks[2].length()).isZero();
  }
}
