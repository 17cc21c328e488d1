// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a port's hardware counters say, by which transport data went. Empty where there are none, as
 * on the provider in memory.
 *
 * @param values by name
 */
record HardwareCounters(Map<String, Long> values) {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  /** Of port 1 of the first device. */
  static HardwareCounters now() {
    Map<String, Long> values = new TreeMap<>();
    if (Files.isDirectory(DEVICES)) {
      try (Stream<Path> devices = Files.list(DEVICES)) {
        Path directory =
            devices.sorted().findFirst().orElse(DEVICES).resolve("ports/1/hw_counters");
        if (Files.isDirectory(directory)) {
          read(directory, values);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return new HardwareCounters(values);
  }

  private static void read(Path directory, Map<String, Long> values) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        values.put(file.getFileName().toString(), Long.valueOf(Files.readString(file).strip()));
      }
    }
  }

  boolean isEmpty() {
    return values.isEmpty();
  }

  /** By how much a counter has grown. */
  long since(HardwareCounters before, String name) {
    return values.getOrDefault(name, 0L) - before.values.getOrDefault(name, 0L);
  }

  /** Throws if a counter has grown by less; says nothing where there are none. */
  void requireSince(HardwareCounters before, String name, long least) {
    long more = since(before, name);
    if (!isEmpty() && more < least) {
      throw new AssertionError(
          name
              + " has grown by "
              + more
              + ", not by "
              + least
              + ": data has gone by another transport");
    }
  }
}
