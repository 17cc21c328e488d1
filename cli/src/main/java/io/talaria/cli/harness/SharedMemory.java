// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
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
   * Returns how many mappings a process has.
   *
   * @param pid the process
   * @return the number, or 0 if it cannot be read
   */
  public static long mappings(long pid) {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
      return lines.count();
    } catch (IOException | UncheckedIOException e) {
      return 0;
    }
  }
}
