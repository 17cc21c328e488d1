// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import java.util.Random;

/** What a case attacks, and how its victim is at work. */
enum Kind {
  FRAMES_TO_LISTENER("frames, to a process that is dialled", 2),
  FRAMES_TO_CLIENT("frames, to a process that dials", 1),
  MEMORY_SELECTING("memory and messages, against a selector, step by step", 12),
  MEMORY_SELECTING_RACING("memory and messages, against a selector at work", 3),
  MEMORY_BLOCKING("memory and messages, against blocking threads at work", 3),
  COUNTERS("counters files, as ss reads them", 1);

  private static final int SHARES = 22;

  /** What the table calls it. */
  final String title;

  private final int share;

  Kind(String title, int share) {
    this.title = title;
    this.share = share;
  }

  /** Some kind, by shares. */
  static Kind of(Random random) {
    int left = random.nextInt(SHARES);
    for (Kind kind : values()) {
      left -= kind.share;
      if (left < 0) {
        return kind;
      }
    }
    throw new IllegalStateException("shares do not add up to " + SHARES);
  }
}
