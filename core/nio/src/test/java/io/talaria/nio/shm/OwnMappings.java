// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The mappings of slabs and rings in one directory, as the kernel lists them for this process:
 * those of a test, if the directory is its own. Sessions of earlier tests, which may give their
 * memory back later than those end, have their files elsewhere.
 */
public final class OwnMappings {
  private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(1500);

  private final String within;

  /**
   * For the files of a test.
   *
   * @param directory has none that is mapped yet
   */
  public OwnMappings(Path directory) throws IOException {
    within = directory.toRealPath() + "/";
  }

  /** How many there are. */
  public long count() throws IOException {
    return sizes().size();
  }

  /** How many bytes they have together. */
  public long bytes() throws IOException {
    return sizes().stream().mapToLong(Long::longValue).sum();
  }

  /** How many there are once there is none, or once the number has not changed for a while. */
  public long left() throws IOException, InterruptedException {
    long count = count();
    long since = System.nanoTime();
    while (count != 0 && System.nanoTime() - since < SETTLE_NS) {
      Thread.sleep(5);
      long now = count();
      if (now != count) {
        count = now;
        since = System.nanoTime();
      }
    }
    return count;
  }

  private List<Long> sizes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines
          .filter(line -> line.contains(within))
          .map(OwnMappings::size)
          .filter(size -> size != PeerLayout.BYTES) // which the collector unmaps
          .toList();
    }
  }

  /** Of a line that begins with the first address, a hyphen, and the one behind the last. */
  private static long size(String line) {
    int hyphen = line.indexOf('-');
    long from = Long.parseUnsignedLong(line, 0, hyphen, 16);
    return Long.parseUnsignedLong(line, hyphen + 1, line.indexOf(' '), 16) - from;
  }
}
