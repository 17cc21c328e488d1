// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Files that nobody alive owns, by their names as docs/layouts.md tells them. */
final class Leftovers {
  private static final Pattern COUNTERS = Pattern.compile("([0-9]+)-.*\\.counters");
  private static final Pattern OTHERS = Pattern.compile("(?:l-[0-9]+-|t|c|r)([0-9a-f]{16})");
  private static final int PID_SHIFT = 42;

  private Leftovers() {}

  /** The files in these directories whose process is dead, or that say of no process. */
  static List<Path> of(Path... dirs) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path dir : dirs) {
      if (Files.isDirectory(dir)) {
        try (Stream<Path> files = Files.list(dir)) {
          files.filter(file -> !alive(file.getFileName().toString())).forEach(found::add);
        }
      }
    }
    return found;
  }

  private static boolean alive(String name) {
    Matcher counters = COUNTERS.matcher(name);
    if (counters.matches()) {
      return alive(Long.parseLong(counters.group(1)));
    }
    Matcher other = OTHERS.matcher(name);
    return other.matches() && alive(Long.parseUnsignedLong(other.group(1), 16) >>> PID_SHIFT);
  }

  private static boolean alive(long pid) {
    return Files.exists(Path.of("/proc", Long.toString(pid)));
  }
}
