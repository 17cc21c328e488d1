// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Which cores this process may use, and which of them to take. */
final class Cores {
  private static final String ALLOWED = "Cpus_allowed_list:";

  private Cores() {}

  /** Returns the numbers of the processors that this process may use, in order. */
  static List<Integer> allowed() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith(ALLOWED)) {
          return parse(line.substring(ALLOWED.length()));
        }
      }
    } catch (IOException | NumberFormatException e) {
      // As without the line.
    }
    return IntStream.range(0, Runtime.getRuntime().availableProcessors()).boxed().toList();
  }

  /** Returns the threads of the core to which a processor belongs, that one included. */
  static List<Integer> siblings(int processor) {
    Path file =
        Path.of("/sys/devices/system/cpu/cpu" + processor + "/topology/thread_siblings_list");
    try {
      return parse(Files.readString(file));
    } catch (IOException | NumberFormatException e) {
      return List.of(processor);
    }
  }

  /** Reads a list as the kernel writes it, such as {@code 0-3,8}. */
  static List<Integer> parse(String text) {
    List<Integer> all = new ArrayList<>();
    for (String part : text.strip().split(",")) {
      int dash = part.indexOf('-');
      int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
      int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
      for (int processor = first; processor <= last; processor++) {
        all.add(processor);
      }
    }
    return List.copyOf(all);
  }

  /**
   * Returns two processors of different cores if there are any, else the first two.
   *
   * @param allowed at least two
   * @param siblings the threads of a processor's core
   */
  static List<Integer> two(List<Integer> allowed, IntFunction<List<Integer>> siblings) {
    int first = allowed.get(0);
    List<Integer> beside = siblings.apply(first);
    int second =
        allowed.stream()
            .filter(processor -> processor != first && !beside.contains(processor))
            .findFirst()
            .orElse(allowed.get(1));
    return List.of(first, second);
  }
}
