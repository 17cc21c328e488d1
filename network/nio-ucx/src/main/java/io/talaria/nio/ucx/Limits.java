// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How much of what is short the transport takes of a process. Immutable.
 *
 * @param streams how many streams are made on one engine; further ones are made on another
 * @param ends how many ends of connections there may be at a time
 */
record Limits(int streams, int ends) {
  /** UCX 1.13 has numbers for 65,535 endpoints between two workers, and uses none twice. */
  static final int MAX_STREAMS = 50_000;

  private static final String STREAMS = "talaria.ucx.streams";
  static final String ENDS = "talaria.ucx.ends";

  /** What Linux lets a process map by default. */
  private static final int MAPPINGS = 65_530;

  /** An end has two mappings over shared memory; half of what there is stays the program's. */
  private static final int MAPPINGS_AN_END = 4;

  private static final Path MAX_MAPPINGS = Path.of("/proc/sys/vm/max_map_count");

  /**
   * Those of this process: for tests, and for hosts where it is otherwise, by properties.
   *
   * @throws IllegalArgumentException if a property is no number in its range, with a sentence
   */
  static Limits ofProcess() {
    int mappings = mappings();
    return new Limits(
        property(STREAMS, MAX_STREAMS, MAX_STREAMS),
        property(ENDS, Math.max(1, mappings / MAPPINGS_AN_END), Integer.MAX_VALUE));
  }

  /** By one large read: at a second one the kernel answers that this is the end. */
  private static int mappings() {
    try (BufferedReader file = Files.newBufferedReader(MAX_MAPPINGS)) {
      return (int) Math.min(Integer.MAX_VALUE, Long.parseLong(file.readLine().trim()));
    } catch (IOException | NumberFormatException e) {
      return MAPPINGS;
    }
  }

  private static int property(String name, int standard, int most) {
    String value = System.getProperty(name);
    if (value == null) {
      return standard;
    }
    try {
      int number = Integer.parseInt(value.trim());
      if (number >= 1 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(name + " is " + value + ", not a number from 1 to " + most);
  }
}
