// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The numbers of the cores that this process may use, which need not begin with 0.
 *
 * <p>The module bench reads them in the same way, by a class of its own: the one module below both
 * is ffi, which is for native bindings, and this is a text of the kernel's.
 */
final class AllowedCores {
  private static final String LINE = "Cpus_allowed_list:";

  private AllowedCores() {}

  /** Returns them in order; where the kernel does not tell, as many as the JVM sees, from 0 on. */
  static List<Integer> list() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith(LINE)) {
          return parse(line.substring(LINE.length()));
        }
      }
    } catch (IOException | NumberFormatException e) {
      // As without the line.
    }
    return IntStream.range(0, Runtime.getRuntime().availableProcessors()).boxed().toList();
  }

  /** Reads a list as the kernel writes it, such as {@code 0-3,8}. */
  static List<Integer> parse(String text) {
    List<Integer> all = new ArrayList<>();
    for (String part : text.strip().split(",", -1)) {
      int dash = part.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
      int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
      for (int core = first; core <= last; core++) {
        all.add(core);
      }
    }
    return List.copyOf(all);
  }
}
