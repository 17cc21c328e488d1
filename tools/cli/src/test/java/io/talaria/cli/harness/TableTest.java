// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void columnsAreAsWideAsTheirWidestCell() {
    Table table =
        new Table("Name", ">Value", "Note").row("a", "1.5 µs", "").row("long one", "2", "x");

    assertThat(table.render())
        .isEqualTo(
            """
            Name       Value  Note
            ──────────────────────
            a         1.5 µs
            long one       2  x
            """);
  }

  @Test
  void aRowOfTheWrongLengthIsRefused() {
    assertThatThrownBy(() -> new Table("a", "b").row("x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("row of 1 cells in a table of 2 columns");
  }
}
