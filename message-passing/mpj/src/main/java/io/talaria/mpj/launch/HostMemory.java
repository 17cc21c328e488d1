// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory the processes of this host may have together: what the host has, or less where a
 * control group, or one around it, has a limit.
 */
final class HostMemory {
  private static final long UNKNOWN = 2048L << 20;

  private final Path root;

  /**
   * Looks into the files of Linux.
   *
   * @param root folder that {@code proc} is in, and that mount points are meant from
   */
  HostMemory(Path root) {
    this.root = root;
  }

  /** The memory of this process's host and control groups, bytes. */
  static long bytes() {
    return new HostMemory(Path.of("/")).limit();
  }

  long limit() {
    long limit = Long.MAX_VALUE;
    for (String line : lines("proc/meminfo")) {
      if (line.startsWith("MemTotal:")) {
        limit = number(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    List<String> mounts = lines("proc/self/mountinfo");
    for (String line : lines("proc/self/cgroup")) {
      // number:controllers:path, of version 2 without controllers.
      String[] parts = line.split(":", 3);
      if (parts.length == 3 && parts[1].isEmpty()) {
        limit = Math.min(limit, ofGroup(mounts, "cgroup2", parts[2], "memory.max"));
      } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
        limit = Math.min(limit, ofGroup(mounts, "cgroup", parts[2], "memory.limit_in_bytes"));
      }
    }
    return limit == Long.MAX_VALUE ? UNKNOWN : limit;
  }

  /** The smallest limit of a group and of those around it, as far as they are seen from here. */
  private long ofGroup(List<String> mounts, String type, String group, String file) {
    for (String line : mounts) {
      // id parent device root point options... - type source options
      int dash = line.indexOf(" - ");
      String[] before = line.split(" ");
      String[] after = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ");
      if (before.length < 5 || after.length < 3 || !after[0].equals(type)) {
        continue;
      }
      if (type.equals("cgroup") && !List.of(after[2].split(",")).contains("memory")) {
        continue;
      }
      Path top = root.resolve(before[4].substring(1)).normalize();
      Path within = Path.of("/" + group).normalize();
      Path mounted = Path.of(before[3]);
      // A group outside of what is mounted cannot be seen: its limits are those of the top, at
      // most.
      Path inside = within.startsWith(mounted) ? mounted.relativize(within) : Path.of("");
      long least = Long.MAX_VALUE;
      for (Path at = top.resolve(inside).normalize(); at.startsWith(top); at = at.getParent()) {
        for (String value : read(at.resolve(file))) {
          least = Math.min(least, number(value));
        }
      }
      return least;
    }
    return Long.MAX_VALUE;
  }

  /** A number, or no limit if there is another word. */
  private static long number(String text) {
    try {
      return Long.parseLong(text.strip());
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private List<String> lines(String file) {
    return read(root.resolve(file));
  }

  private static List<String> read(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      // Not there: no such limit.
      return List.of();
    }
  }
}
