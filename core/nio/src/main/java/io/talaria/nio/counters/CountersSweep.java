// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.counters.file.CountersFiles;
import io.talaria.nio.counters.file.CountersFormatException;
import io.talaria.nio.counters.file.CountersHeader;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * Removes the counters files of dead processes.
 *
 * <p>A file goes if its process is of this boot and this pid namespace and is gone, or its id is
 * another process's by now; if it is of another boot and older than this boot, so that it cannot be
 * that of a machine which shares the directory and runs; if it has not got its name yet and the
 * process that was making it is gone; or if it has its name but no proper header, no process of its
 * name exists, and it has been so for long. All else stays.
 */
final class CountersSweep {
  private static final Duration UNFINISHED_FOR = Duration.ofHours(1);

  private CountersSweep() {}

  static int sweep(Path dir) {
    ProcessFileName.sweep(dir, CountersFile.TEMPORARY);
    int removed = 0;
    try {
      for (Path file : CountersFiles.list(dir)) {
        if (isRemoved(file)) {
          removed++;
        }
      }
    } catch (IOException | RuntimeException e) {
      // What cannot be listed cannot be swept; the directory's user is told of it elsewhere.
    }
    return removed;
  }

  private static boolean isRemoved(Path file) {
    try {
      return isLeftBehind(file) && Files.deleteIfExists(file);
    } catch (IOException | RuntimeException e) {
      return false; // it does not keep the others
    }
  }

  private static boolean isLeftBehind(Path file) throws IOException {
    Instant changedAt = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
    try (FileChannel channel = CountersFiles.open(file)) {
      CountersHeader header = CountersHeader.readIdentity(file, channel);
      return switch (Liveness.of(
          header.pid(), header.startTicks(), header.pidNamespace(), header.bootId())) {
        case DEAD -> true;
        case OTHER_BOOT -> changedAt.isBefore(ProcFiles.bootedAt());
        case LIVE, OTHER_NAMESPACE -> false;
      };
    } catch (CountersFormatException e) {
      return changedAt.isBefore(Instant.now().minus(UNFINISHED_FOR))
          && ProcFiles.startTicks(CountersHeader.pidOfName(file))
              != CountersHeader.startTicksOfName(file);
    }
  }
}
