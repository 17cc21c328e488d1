// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Heap, references of JNI, descriptors and mappings level off over many operations, and over many
 * connections. How many: the properties {@code talaria.test.jucx.operations} and {@code
 * talaria.test.jucx.connections}; docs/nio-ucx.md has the command for ten times as many, and what
 * they gave. Each tenth of the way is printed.
 */
@Tag("long")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class LevelTest {
  private static final long OPERATIONS = Long.getLong("talaria.test.jucx.operations", 10_000_000);

  private static final int CONNECTIONS =
      Integer.getInteger("talaria.test.jucx.connections", 100_000);

  /** UCX 1.13.1 makes no more than some 65,000 endpoints between two workers. */
  private static final int OF_TWO_WORKERS = 50_000;

  private static final int FORCED = 2_000;

  /** How often it is counted; what the first tenth takes is taken once. */
  private static final int COUNTED = 10;

  private static final long MAX_GROWTH_BYTES = 4 << 20;

  /** What JUCX keeps of an endpoint is stated in docs/nio-ucx.md. */
  private static final long MAX_GROWTH_A_CONNECTION_BYTES = 64;

  /** The JVM's own come and go. */
  private static final int MAX_REFERENCES = 100;

  private static final int MAX_DESCRIPTORS = 8;
  private static final int MAX_MAPPINGS = 200;

  private Counts first;

  /** Counts after each tenth; the first is what the rest is held against. */
  private Counts tenth(String what, long done) {
    Counts now = Counts.now();
    System.out.println(done + " " + what + ": " + now);
    if (first == null) {
      first = now;
    }
    return now;
  }

  private void assertLevel(Counts last, long heapBytes, long weakReferences) {
    assertThat(last.heapBytes - first.heapBytes).as("heap").isLessThan(heapBytes);
    assertThat(last.globalReferences - first.globalReferences)
        .as("global references")
        .isLessThan(MAX_REFERENCES);
    assertThat(last.weakReferences - first.weakReferences)
        .as("weak references")
        .isLessThan(weakReferences);
    assertThat(last.descriptors - first.descriptors)
        .as("descriptors")
        .isLessThanOrEqualTo(MAX_DESCRIPTORS);
    assertThat(last.mappings - first.mappings).as("mappings").isLessThan(MAX_MAPPINGS);
  }

  /** An operation is a send or a receive. */
  @Test
  void operationsLeaveNothing() {
    try (Two two = new Two()) {
      byte[] got = new byte[16];
      Counts last = null;
      for (int part = 1; part <= COUNTED; part++) {
        for (long i = 0; i < OPERATIONS / 2 / COUNTED; i++) {
          two.send(16);
          int count = 0;
          while (count < 16) {
            count += two.take(got);
            two.here.progress();
          }
        }
        last = tenth("operations", OPERATIONS / COUNTED * part);
      }
      assertLevel(last, MAX_GROWTH_BYTES, MAX_REFERENCES);
    }
  }

  /** As both sides of a connection do; the workers are made anew now and then. */
  @Test
  void connectionsLeaveNothing() {
    Counts last = null;
    int made = 0;
    for (int part = 1; part <= COUNTED; part++) {
      int wanted = (int) ((long) CONNECTIONS * part / COUNTED);
      while (made < wanted) {
        int some = Math.min(OF_TWO_WORKERS, wanted - made);
        made += some;
        try (Two two = new Two()) {
          for (int i = 0; i < some; i++) {
            two.connection();
          }
        }
      }
      last = tenth("connections", made);
    }
    assertLevel(
        last,
        MAX_GROWTH_BYTES + MAX_GROWTH_A_CONNECTION_BYTES * CONNECTIONS,
        MAX_REFERENCES + 2L * CONNECTIONS);
  }

  /**
   * Closed in the ordinary way, each of their ends would keep two until the workers are closed, as
   * {@code ClosedEndpointsTest} of the module {@code ucx} shows.
   */
  @Test
  void endsThatAreClosedByForceLeaveNoMappings() {
    Counts before = Counts.now();
    try (Two two = new Two()) {
      for (int i = 0; i < FORCED; i++) {
        two.connection();
      }
      assertThat(Counts.now().mappings - before.mappings)
          .as("mappings of %d connections", FORCED)
          .isLessThan(MAX_MAPPINGS);
    }
  }
}
