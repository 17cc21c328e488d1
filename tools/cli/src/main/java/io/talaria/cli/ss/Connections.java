// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.cli.harness.Terminal;
import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.cli.ss.snapshot.SortKey;
import io.talaria.nio.config.Config;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The connections of all Talaria processes of this user, as {@code ss --watch} shows them, for
 * other screens. For one thread at a time.
 */
public final class Connections {
  private final Path dir;
  private Snapshot now;
  private Rates rates;

  /**
   * Begins to look.
   *
   * @param dir the run-time directory, or null for the usual one
   * @throws IllegalArgumentException if a property {@code talaria.*} cannot be used
   */
  public Connections(Path dir) {
    this.dir = dir == null ? Config.load().dir() : dir;
  }

  /**
   * Looks again.
   *
   * @throws IOException if the directory cannot be read
   */
  public void look() throws IOException {
    Snapshot before = now;
    now = Snapshot.take(dir, Filter.ALL, System.currentTimeMillis());
    rates = Rates.between(before == null ? now : before, now);
  }

  /**
   * What was seen last, the busiest first, as much as fits.
   *
   * @param size how much that is
   */
  public List<String> lines(Terminal.Size size) {
    if (now == null) {
      return List.of();
    }
    // Its first line is the head of a screen of its own.
    List<String> all =
        new SsText(now, rates, SortKey.RATE)
            .screen("", new Terminal.Size(size.rows() + 1, size.columns()));
    return all.subList(1, all.size());
  }
}
