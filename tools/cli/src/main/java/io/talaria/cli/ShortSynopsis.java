// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;

/** The help of a command whose usage is one line: one that has many options does not list them. */
final class ShortSynopsis extends Help {
  private static final int LINES = 1;

  /**
   * Prepares the help.
   *
   * @param command the command
   * @param colors how it is coloured
   */
  ShortSynopsis(CommandSpec command, ColorScheme colors) {
    super(command, colors);
  }

  @Override
  public String synopsis(int headingLength) {
    String whole = super.synopsis(headingLength);
    return whole.lines().count() <= LINES ? whole : abbreviatedSynopsis();
  }
}
