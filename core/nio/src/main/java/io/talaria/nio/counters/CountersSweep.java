// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.counters.file.CountersFiles;
import io.talaria.nio.counters.file.CountersFormatException;
import io.talaria.nio.counters.file.CountersHeader;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.files.EndedOwners;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Removes the counters files of dead processes.
 *
 * <p>A file goes if its process is of this boot and this pid namespace and is gone, or its id is
 * another process's by now; if its process is of this boot and another pid namespace and does not
 * hold its lock any more; if it is of another boot and older than this boot, so that it cannot be
 * that of a machine which shares the directory and runs; if it has not got its name yet and the
 * process that was making it is gone; or if it has its name but no proper header, no process of its
 * name exists, and it has been so for long. All else stays.
 */
final class CountersSweep {
  private static final Duration UNFINISHED_FOR = Duration.ofHours(1);

  private final Path dir;

  /** Null until a process of another pid namespace is met. */
  private EndedOwners owners;

  private CountersSweep(Path dir) {
    this.dir = dir;
  }

  static int sweep(Path dir) {
    ProcessFileName.sweep(dir, CountersFile.TEMPORARY);
    int removed = 0;
    try {
      List<Path> files = CountersFiles.list(dir);
      CountersSweep sweep = new CountersSweep(dir);
      for (Path file : files) {
        if (sweep.isRemoved(file)) {
          removed++;
        }
      }
    } catch (IOException | RuntimeException e) {
      // What cannot be listed cannot be swept; the directory's user is told of it elsewhere.
    }
    return removed;
  }

  private boolean isRemoved(Path file) {
    try {
      return isLeftBehind(file) && Files.deleteIfExists(file);
    } catch (IOException | RuntimeException e) {
      return false; // it does not keep the others
    }
  }

  private boolean isLeftBehind(Path file) throws IOException {
    Instant changedAt = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
    try (FileChannel channel = CountersFiles.open(file)) {
      CountersHeader header = CountersHeader.readIdentity(file, channel);
      return switch (Liveness.of(
          header.pid(), header.startTicks(), header.pidNamespace(), header.bootId())) {
        case DEAD -> true;
        case OTHER_BOOT -> changedAt.isBefore(ProcFiles.bootedAt());
        case OTHER_NAMESPACE -> hasEnded(header);
        case LIVE -> false;
      };
    } catch (CountersFormatException e) {
      return changedAt.isBefore(Instant.now().minus(UNFINISHED_FOR))
          && ProcFiles.startTicks(CountersHeader.pidOfName(file))
              != CountersHeader.startTicksOfName(file);
    }
  }

  /** As far as the lock of the process tells. */
  private boolean hasEnded(CountersHeader header) {
    if (owners == null) {
      owners = EndedOwners.in(dir);
    }
    return owners.ended(header.pid(), header.startTicks(), header.pidNamespace(), header.bootId());
  }
}
