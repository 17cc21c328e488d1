// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** A direction begins in the control page, and leaves it when more is under way. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class InlineRingTest {
  private static final int INLINE = ConnectionLayout.INLINE_RING_BYTES;
  private static final int FIRST = 32768;

  @TempDir Path dir;
  private PeerPair pair;
  private Connection connection;
  private ShmStream writer;
  private ShmStream reader;

  @BeforeEach
  void connect() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), FIRST, 16 * FIRST);
    connection = pair.connect();
    writer = connection.client.stream;
    reader = connection.server.stream;
  }

  @AfterEach
  void release() {
    connection.release();
    pair.close();
  }

  @Test
  void littleUnderWayStaysInline() {
    for (int i = 0; i < 1000; i++) {
      assertThat(write(i * 700L, 700)).isEqualTo(700);
      assertThat(read(i * 700L, 700)).isEqualTo(700);
    }
    assertThat(writer.outBytes()).isEqualTo(INLINE);
    assertThat(reader.inBytes()).isEqualTo(INLINE);
    assertThat(writer.detail()).isEqualTo("ring 1 KiB/1 KiB");
  }

  @Test
  void aFullInlineRingIsNotYetLeft() {
    assertThat(write(0, INLINE)).isEqualTo(INLINE);
    assertThat(writer.outBytes()).isEqualTo(INLINE);
    assertThat(read(0, INLINE)).isEqualTo(INLINE);
  }

  @Test
  void whatDoesNotFitGoesOnInTheFirstRingBehindWhatIsUnread() {
    assertThat(write(0, 1000)).isEqualTo(1000);
    assertThat(write(1000, 1000)).isEqualTo(1000);
    assertThat(writer.outBytes()).isEqualTo(FIRST);
    assertThat(reader.inBytes()).isEqualTo(INLINE);
    assertThat(read(0, 1999)).isEqualTo(1000);
    assertThat(read(1000, 1999)).isEqualTo(1000);
    assertThat(reader.inBytes()).isEqualTo(FIRST);
    assertThat(connection.server.stream.outBytes()).isEqualTo(INLINE);
  }

  @Test
  void aLargeWriteGoesWholeToTheFirstRing() {
    assertThat(write(0, FIRST)).isEqualTo(FIRST);
    assertThat(read(0, FIRST)).isEqualTo(FIRST);
  }

  @Test
  void aGatheringWriteGoesWhole() {
    ByteBuffer[] srcs = new ByteBuffer[5];
    for (int i = 0; i < srcs.length; i++) {
      srcs[i] = ByteBuffer.allocate(i == 2 ? 0 : 500);
      Pattern.fill(srcs[i], 7, (i < 2 ? i : i - 1) * 500L);
    }
    assertThat(writer.write(srcs, 0, srcs.length)).isEqualTo(2000);
    assertThat(read(0, 2000)).isEqualTo(2000);
  }

  @Test
  void aSelectorThatFindsTheInlineRingFullIsToldToWrite() {
    write(0, INLINE);
    assertThat(writer.readiness(TransportStream.WRITE)).isEqualTo(TransportStream.WRITE);
    assertThat(write(INLINE, 1)).isEqualTo(1);
    assertThat(read(0, INLINE + 1)).isEqualTo(INLINE);
    assertThat(read(INLINE, 1)).isEqualTo(1);
  }

  /** As on TCP: the kernel takes what is written after the peer's clean close once. */
  @Test
  void oneWriteAfterThePeersCloseGoesWhole() {
    reader.abandonInput(false);
    reader.finishOutput();
    assertThat(write(0, 3 * INLINE)).isEqualTo(3 * INLINE);
    assertThat(write(0, 1)).isEqualTo(TransportStream.BROKEN);
  }

  @Test
  void thePageHasRoomForAllOfIt() {
    for (int slot = 0; slot < 100; slot++) {
      for (int side = 0; side < 2; side++) {
        int block = ConnectionLayout.side(side, slot);
        assertThat(block).isGreaterThan(ConnectionLayout.PHASE_OFFSET);
        for (long move = 0; move < 3 * ConnectionLayout.MOVES; move++) {
          assertThat(ConnectionLayout.moveAt(move))
              .isBetween(ConnectionLayout.MOVE_AT, ConnectionLayout.IN_MOVES - Long.BYTES);
          assertThat(ConnectionLayout.moveTo(move))
              .isBetween(ConnectionLayout.MOVE_TO, ConnectionLayout.DATA_WAIT - Long.BYTES);
        }
        assertThat(block + ConnectionLayout.IN_TAKEN + Long.BYTES)
            .isLessThanOrEqualTo(ConnectionLayout.INLINE_RINGS_OFFSET);
      }
    }
    assertThat(ConnectionLayout.INLINE_RINGS_OFFSET + 2 * INLINE)
        .isEqualTo(ConnectionLayout.CONTROL_BYTES);
  }

  private int write(long position, int bytes) {
    ByteBuffer src = ByteBuffer.allocateDirect(bytes);
    Pattern.fill(src, 7, position);
    return writer.write(src);
  }

  private int read(long position, int bytes) {
    ByteBuffer dst = ByteBuffer.allocate(bytes);
    int n = reader.read(dst);
    Pattern.check(dst, 0, Math.max(0, n), 7, position);
    return n;
  }
}
