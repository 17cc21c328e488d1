// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the programs say by SO_SNDBUF and SO_RCVBUF limits what a ring grows to. */
@Timeout(60)
class BufferLimitTest {
  private static final int FIRST = 8192;
  private static final int MAX_BYTES = 262_144;
  private static final int QUIET_LOOKS = 3;

  @TempDir Path dir;

  @ParameterizedTest
  @CsvSource({
    "0, 0, 262144",
    "20000, 0, 262144",
    "0, 20000, 262144",
    "20000, 20000, 65536",
    "16384, 16384, 32768",
    "1, 1, 8192",
    "2147483647, 2147483647, 262144",
  })
  void aRingGrowsNoFurtherThanBothHaveSaid(int send, int receive, int expected) throws Exception {
    try (PeerPair pair = new PeerPair(dir.resolve("shm"), FIRST, MAX_BYTES)) {
      Connection connection = pair.connect();
      connection.client.stream.buffers(send, 0);
      connection.server.stream.buffers(0, receive);
      assertThat(fill(pair, connection.client.stream)).isEqualTo(expected);
      connection.release();
    }
  }

  /** Writes until no more goes in, also after all is done for the ring to grow. */
  private static long fill(PeerPair pair, ShmStream stream) throws Exception {
    ByteBuffer bytes = ByteBuffer.allocate(1000);
    long total = 0;
    int quiet = 0;
    while (quiet < QUIET_LOOKS) {
      bytes.clear();
      int n = stream.write(bytes);
      if (n > 0) {
        total += n;
        quiet = 0;
      } else {
        pair.settle();
        quiet++;
      }
    }
    return total;
  }
}
