// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * How large a process is, read from outside.
 *
 * @param residentBytes memory in use, what it shares with others included
 * @param descriptors open descriptors
 */
public record ProcessSize(long residentBytes, long descriptors) {
  private static final String RESIDENT = "VmRSS:";

  /**
   * Looks at a process.
   *
   * @param pid the process
   * @return its size; nothing if it cannot be read
   */
  public static ProcessSize of(long pid) {
    Path directory = Path.of("/proc", Long.toString(pid));
    try (Stream<String> status = Files.lines(directory.resolve("status"));
        Stream<Path> descriptors = Files.list(directory.resolve("fd"))) {
      return new ProcessSize(
          status
              .filter(line -> line.startsWith(RESIDENT))
              .mapToLong(ProcessSize::bytes)
              .findFirst()
              .orElse(0),
          descriptors.count());
    } catch (IOException | UncheckedIOException e) {
      return new ProcessSize(0, 0);
    }
  }

  /** Parses a line like {@code VmRSS: 1234 kB}. */
  private static long bytes(String line) {
    return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
  }
}
