// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Nodes come, talk to one that stays, and go, again and again in one process: what that takes must
 * level off, and be given back. 1,000 a transport; {@code ./talaria soak --messages} makes more,
 * the usual run fewer. The process has a heap that is all taken at the start, so that what grows is
 * seen, in it or beside.
 */
@Tag("alone")
@Timeout(value = 2, unit = TimeUnit.DAYS) // each wait has a limit of its own
class NodesSoakTest {
  private static final long CONNECTS =
      Long.parseLong(System.getenv().getOrDefault("TALARIA_SOAK_NODES", "1000"));
  private static final int HEAP_MB = 192;

  /** Without the tag {@code long}: as few as show what one leaves behind. */
  private static final long FEW_CONNECTS = 100;

  /** So long without news is a hang: each call of a visitor has 90 s. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static final long MEGABYTE = 1 << 20;

  /** Both as of the soak of connections. What they grew by in 1,000 was below 1 MB. */
  private static final long HEAP_GROWTH = 4 * MEGABYTE;

  private static final long RESIDENT_GROWTH = 16 * MEGABYTE;

  /** What a JVM opens when it is first needed. */
  private static final int SPARE_DESCRIPTORS = 8;

  private record Usage(
      long connections, long descriptors, long mappings, long heapBytes, long residentBytes) {
    static Usage of(String line) {
      String[] words = line.split(" ", -1);
      return new Usage(
          Long.parseLong(words[1]),
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Long.parseLong(words[4]),
          Long.parseLong(words[5]));
    }
  }

  @TempDir Path directory;
  private ChildProcess process;

  @AfterEach
  void end() {
    if (process != null) {
      process.close();
    }
  }

  private String nextLine() throws InterruptedException {
    return process.awaitLine(".*", LIMIT).group();
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource(
      value = Variant.class,
      names = {"SHM", "TCP", "UCX", "VERBS"})
  void whatNodesTakeLevelsOff(Variant variant) throws Exception {
    comeAndGo(variant, CONNECTS);
  }

  /** On verbs most is registered and given back, so a short run of it is worth its time. */
  @Test
  void aFewNodesOnVerbsLeaveNothing() throws Exception {
    comeAndGo(Variant.VERBS, FEW_CONNECTS);
  }

  private void comeAndGo(Variant variant, long connects) throws Exception {
    variant.assume();
    // With one compiler, what code takes levels off soon.
    List<String> options =
        List.of("-Xms" + HEAP_MB + "m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1");
    // What is freed goes back to the kernel at once, in the C library of GNU.
    Map<String, String> variables =
        Map.of("MALLOC_ARENA_MAX", "1", "MALLOC_MMAP_THRESHOLD_", "65536");
    process =
        TestJvm.of(SoakMain.class, HEAP_MB, variant.name(), directory, connects)
            .options(options)
            .environment(variables)
            .start();
    System.out.println("soak of nodes: " + variant + ", " + connects + " come and go");
    List<Usage> samples = new ArrayList<>();
    String came = "nobody came yet";
    String line = nextLine();
    while (!line.startsWith("LEFT ")) {
      if (line.startsWith("USES ")) {
        samples.add(Usage.of(line));
        System.out.println(came + " " + samples.getLast());
      } else {
        assertThat(line).as("after %s, %s", came, process).startsWith("CAME ");
        came = line;
      }
      line = nextLine();
    }
    Usage last = Usage.of(line);
    System.out.println("all left " + last);
    assertThat(growth(samples, Usage::heapBytes)).as("heap").isLessThan(HEAP_GROWTH);
    assertThat(growth(samples, Usage::residentBytes)).as("resident").isLessThan(RESIDENT_GROWTH);
    assertThat(last.descriptors())
        .as("descriptors")
        .isLessThanOrEqualTo(samples.getFirst().descriptors() + SPARE_DESCRIPTORS);
    assertThat(last.mappings()).as("mappings of shared memory").isZero();
    assertThat(last.connections()).as("connections").isZero();
    process.awaitSuccess(LIMIT);
    for (String name : new String[] {"run", "shm"}) {
      if (Files.exists(directory.resolve(name))) { // by TCP nobody makes the second
        try (Stream<Path> left = Files.list(directory.resolve(name))) {
          assertThat(left).as("left in %s", name).isEmpty();
        }
      }
    }
  }

  /** From the second quarter of the run to the last. */
  private static long growth(List<Usage> samples, ToLongFunction<Usage> what) {
    int size = samples.size();
    return mean(samples.subList(size * 3 / 4, size), what)
        - mean(samples.subList(size / 4, size / 2), what);
  }

  private static long mean(List<Usage> some, ToLongFunction<Usage> what) {
    return (long) some.stream().mapToLong(what).average().orElseThrow();
  }
}
