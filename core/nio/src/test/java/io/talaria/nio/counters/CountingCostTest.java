// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Role;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Counting must cost next to nothing. */
@Timeout(60)
class CountingCostTest {
  private static final int ROUNDS = 10;
  private static final int CALLS = 20_000;
  private static final long CACHE_LINE_BYTES = 64;

  @TempDir Path dir;

  @Test
  void countingAllocatesNothing() throws Throwable {
    MethodHandle allocatedBytes = allocatedBytes();
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      ConnectionCounters connection = counters.connection(Role.CLIENT, null, null);
      SelectorCounters selector = counters.selector();
      // One call that allocates would show in every round; what the JVM does by the way does not.
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        long before = (long) allocatedBytes.invokeExact();
        count(connection, selector);
        long after = (long) allocatedBytes.invokeExact();
        least = Math.min(least, after - before);
      }
      assertThat(least).isZero();
    }
  }

  /** How much this thread has allocated; in a module that ours does not read. */
  private static MethodHandle allocatedBytes() throws ReflectiveOperationException {
    Method method =
        Class.forName("com.sun.management.ThreadMXBean")
            .getMethod("getCurrentThreadAllocatedBytes");
    return MethodHandles.publicLookup()
        .unreflect(method)
        .bindTo(ManagementFactory.getThreadMXBean());
  }

  private static void count(ConnectionCounters connection, SelectorCounters selector) {
    for (int i = 0; i < CALLS; i++) {
      connection.acceleratedIn(1);
      connection.acceleratedOut(1);
      connection.tcpIn(1);
      connection.tcpOut(1);
      connection.stalled();
      connection.wakeupSent();
      connection.wakeupReceived();
      connection.slept();
      selector.selected();
      selector.innerSelected();
      selector.wokenUp();
    }
  }

  @Test
  void theFieldsOfTheDirectionsAreOnCacheLinesOfTheirOwn() throws Exception {
    List<Field> shared = List.of(field(CounterRecord.class, "file"));
    List<Field> reads =
        List.of(
            field(ConnectionFields.Reads.class, "acceleratedInBytes"),
            field(ConnectionFields.Reads.class, "tcpInBytes"),
            field(ConnectionFields.Reads.class, "reads"));
    List<Field> writes =
        List.of(
            field(ConnectionFields.Writes.class, "acceleratedOutBytes"),
            field(ConnectionFields.Writes.class, "tcpOutBytes"),
            field(ConnectionFields.Writes.class, "writes"),
            field(ConnectionFields.Writes.class, "stalls"));
    assertApart(shared, reads);
    assertApart(reads, writes);
    assertApart(shared, writes);
  }

  private static void assertApart(List<Field> some, List<Field> others) throws Exception {
    for (Field one : some) {
      for (Field other : others) {
        assertThat(Math.abs(offset(one) - offset(other)))
            .as(one + " and " + other)
            .isGreaterThanOrEqualTo(CACHE_LINE_BYTES);
      }
    }
  }

  private static Field field(Class<?> of, String name) throws ReflectiveOperationException {
    return of.getDeclaredField(name);
  }

  private static long offset(Field field) throws ReflectiveOperationException {
    Class<?> type = Class.forName("sun.misc.Unsafe");
    Field instance = type.getDeclaredField("theUnsafe");
    instance.setAccessible(true);
    Method method = type.getMethod("objectFieldOffset", Field.class);
    return (long) method.invoke(instance.get(null), field);
  }
}
