// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** How much shared memory is in use, read from outside. */
public final class SharedMemory {
  private static final Path SHM = Path.of("/dev/shm");

  private SharedMemory() {}

  /** Returns the bytes in use of {@code /dev/shm} by everybody; 0 if there is none. */
  public static long usedBytes() {
    try {
      FileStore store = Files.getFileStore(SHM);
      return store.getTotalSpace() - store.getUnallocatedSpace();
    } catch (IOException e) {
      return 0;
    }
  }

  /**
   * The mappings of a process.
   *
   * @param count how many there are
   * @param shmBytes how many bytes of files in {@code /dev/shm} it has mapped, each counted once
   */
  public record Mappings(long count, long shmBytes) {}

  /**
   * Returns the mappings of a process.
   *
   * @param pid the process
   * @return its mappings; nothing if they cannot be read
   */
  public static Mappings mappings(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
      return parse(lines.toList());
    } catch (IOException | UncheckedIOException e) {
      return new Mappings(0, 0);
    }
  }

  /** Parses lines like {@code 7f00-7f10 rw-s 00000000 00:19 42 /dev/shm/name (deleted)}. */
  static Mappings parse(List<String> lines) {
    Map<String, Long> sizes = new HashMap<>();
    for (String line : lines) {
      int at = line.indexOf(" " + SHM + "/");
      if (at >= 0) {
        String[] cells = line.substring(0, at).split(" ", 0);
        String[] range = cells[0].split("-", 2);
        long size = Long.parseLong(range[1], 16) - Long.parseLong(range[0], 16);
        sizes.put(line.substring(at) + cells[2], size);
      }
    }
    return new Mappings(lines.size(), sizes.values().stream().mapToLong(Long::longValue).sum());
  }
}
