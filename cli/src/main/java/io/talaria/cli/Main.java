// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the command {@code talaria}. */
@Command(name = "talaria", mixinStandardHelpOptions = true)
public final class Main {
  private Main() {}

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria}
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
