// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A sleep counts as rung when its doorbell has been rung, not when somebody set out to ring it. */
@Timeout(60)
class FailedRingTest {
  private static final int RING = ConnectionLayout.MIN_RING_BYTES;

  @TempDir Path dir;

  private PeerPair pair;
  private ShmStream sleeper;
  private ShmStream waker;
  private final Ringer ringer = new Ringer();

  /** Fails when it is told to, as a thread does that an error meets on its way. */
  private static final class Ringer implements StreamOwner {
    boolean fails;
    int rung;

    @Override
    public boolean ring() {
      if (fails) {
        throw new InternalError("of another connection's memory, late");
      }
      rung++;
      return true;
    }

    @Override
    public void woken() {}

    @Override
    public void released() {}

    @Override
    public void stalled() {}

    @Override
    public void buffersChanged(int inBytes, int outBytes) {}
  }

  @BeforeEach
  void connect() throws Exception {
    pair = new PeerPair(dir.resolve("shm"), RING, RING);
    Connection connection = pair.connect();
    sleeper = connection.server.stream;
    waker = connection.client.stream;
    waker.owner(ringer, null);
  }

  @AfterEach
  void close() {
    sleeper.release();
    waker.release();
    pair.close();
  }

  private static ByteBuffer bytes(int n) {
    return ByteBuffer.allocate(n);
  }

  @Test
  void aReaderWhoseDoorbellFailedIsRungByTheNextWrite() {
    assertThat(sleeper.await(TransportStream.READ)).isTrue();
    ringer.fails = true;
    ByteBuffer first = bytes(1);
    assertThatThrownBy(() -> waker.write(first)).isInstanceOf(InternalError.class);
    assertThat(first.remaining()).as("left, of what has been published").isZero();
    ringer.fails = false;
    assertThat(waker.write(bytes(1))).isEqualTo(1);
    assertThat(ringer.rung).isEqualTo(1);
    assertThat(waker.write(bytes(1))).isEqualTo(1);
    assertThat(ringer.rung).as("one doorbell a sleep").isEqualTo(1);
    assertThat(sleeper.read(bytes(9))).isEqualTo(3);
  }

  @Test
  void aWriterWhoseDoorbellFailedIsRungByTheNextRead() {
    while (sleeper.write(bytes(RING)) > 0) {
      // Until it is full.
    }
    assertThat(sleeper.await(TransportStream.WRITE)).isTrue();
    ringer.fails = true;
    ByteBuffer first = bytes(RING / 2);
    assertThatThrownBy(() -> waker.read(first)).isInstanceOf(InternalError.class);
    assertThat(first.remaining()).isZero();
    ringer.fails = false;
    while (waker.read(bytes(RING / 4)) > 0) {
      // The next that leaves a quarter free rings.
    }
    assertThat(ringer.rung).isEqualTo(1);
  }
}
