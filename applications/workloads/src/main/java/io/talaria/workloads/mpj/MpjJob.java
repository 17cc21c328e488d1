// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What is measured in one start of an implementation's ranks.
 *
 * @param pattern what they do
 * @param ranks how many they are
 * @param sizes in bytes, one after the other; 0 for what has no size
 * @param warmUpSeconds how long to warm each up, at least
 * @param seconds how long to measure each, at least
 * @param less by how much blocks are shorter than usual
 * @param problem the class of problem of a kernel: S, W or A
 */
record MpjJob(
    MpjPattern pattern,
    int ranks,
    List<Integer> sizes,
    double warmUpSeconds,
    double seconds,
    int less,
    char problem) {

  /** Columns, rows and steps of FDTD, as the classes of problems of the other kernels. */
  private static final Map<Character, List<String>> FIELDS =
      Map.of(
          'S', List.of("100", "60", "200"),
          'W', List.of("512", "256", "500"),
          'A', List.of("1024", "512", "500"));

  /** Copies the list. */
  MpjJob {
    sizes = List.copyOf(sizes);
  }

  /**
   * Returns how often it is done in a block.
   *
   * @param bytes the size
   */
  int count(int bytes) {
    return Math.max(1, pattern.count(bytes) / less);
  }

  /** Returns what runs as ranks, where that is Java. */
  Class<?> program() {
    return pattern.kernel() == null ? Ranks.class : pattern.kernel();
  }

  /** Returns the arguments of the ranks. */
  List<String> arguments() {
    return arguments(pattern.toString());
  }

  /**
   * Returns the arguments of {@link Ranks} for a pattern of another name.
   *
   * @param word the name
   */
  List<String> arguments(String word) {
    if (pattern == MpjPattern.FDTD) {
      return FIELDS.get(problem);
    }
    if (pattern.kernel() != null) {
      return List.of(String.valueOf(problem));
    }
    List<String> words = new ArrayList<>();
    words.addAll(List.of(Ranks.BEGIN, "" + warmUpSeconds, "" + seconds));
    if (pattern == MpjPattern.MEMORY) {
      words.add(Ranks.MEMORY);
    } else if (pattern != MpjPattern.START) {
      for (int bytes : sizes) {
        words.addAll(List.of(word, "" + bytes, "" + count(bytes)));
      }
    }
    return words;
  }
}
