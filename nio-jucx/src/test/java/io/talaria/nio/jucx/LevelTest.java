// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.ucx.binding.BoundEndpoint;
import io.talaria.nio.ucx.binding.BoundWorker;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Heap and descriptors level off over many operations, and over many connections. How many: the
 * properties {@code talaria.test.jucx.operations} and {@code talaria.test.jucx.connections}.
 */
@Tag("long")
@Timeout(1200)
class LevelTest {
  private static final long OPERATIONS = Long.getLong("talaria.test.jucx.operations", 10_000_000);

  /** UCX 1.13.1 refuses more than some 65,000 in turn between two workers: its numbers end. */
  private static final int CONNECTIONS =
      Integer.getInteger("talaria.test.jucx.connections", 60_000);

  private static final long MOST_GROWTH_BYTES = 4 << 20;

  /** What JUCX keeps of an endpoint is stated in docs/nio-ucx.md. */
  private static final long MOST_GROWTH_A_CONNECTION_BYTES = 64;

  /** The JVM's own come and go. */
  private static final int MOST_MAPPINGS = 200;

  private static long heapBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static int descriptors() {
    String[] names = new File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }

  @Test
  void operationsLeaveNothing() {
    try (Two two = new Two()) {
      byte[] got = new byte[16];
      long before = 0;
      int descriptors = 0;
      for (long i = 0; i < OPERATIONS / 2; i++) {
        if (i == OPERATIONS / 20) {
          before = heapBytes();
          descriptors = descriptors();
        }
        two.send(16);
        int count = 0;
        while (count < 16) {
          count += two.take(got);
          two.here.progress();
        }
      }
      long growth = heapBytes() - before;
      System.out.println(OPERATIONS + " operations: heap grew by " + growth + " bytes");
      assertThat(growth).isLessThan(MOST_GROWTH_BYTES);
      assertThat(descriptors()).isLessThanOrEqualTo(descriptors);
    }
  }

  private static long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.count();
    }
  }

  private static void end(Two two, BoundWorker worker, BoundEndpoint endpoint) {
    long request = endpoint.closeFlushing();
    two.until(() -> request <= 0 || worker.poll(request) != BoundWorker.IN_PROGRESS);
  }

  /**
   * As both sides of a connection do. An endpoint that is closed by force, which is done only when
   * its peer is gone, leaves a mapping (UCX 1.13.1).
   */
  @Test
  void connectionsLeaveNothingButWhatJucxKeeps() throws IOException {
    try (Two two = new Two()) {
      byte[] there = two.there.address();
      byte[] here = two.here.address();
      long before = 0;
      int descriptors = 0;
      long mappings = 0;
      for (int i = 0; i < CONNECTIONS; i++) {
        if (i == CONNECTIONS / 10) {
          before = heapBytes();
          descriptors = descriptors();
          mappings = mappings();
        }
        BoundEndpoint out = two.here.connect(there, i);
        BoundEndpoint in = two.there.connect(here, i);
        end(two, two.here, out);
        end(two, two.there, in);
      }
      long growth = heapBytes() - before;
      System.out.println(CONNECTIONS + " connections: heap grew by " + growth + " bytes");
      assertThat(growth)
          .isLessThan(MOST_GROWTH_BYTES + MOST_GROWTH_A_CONNECTION_BYTES * CONNECTIONS);
      assertThat(descriptors()).isLessThanOrEqualTo(descriptors + 8);
      assertThat(mappings()).isLessThan(mappings + MOST_MAPPINGS);
    }
  }
}
