// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import picocli.CommandLine;

/**
 * {@code talaria bench sockets} alone, for a Java that is older than what the other commands want.
 */
public final class SocketsMain {
  private SocketsMain() {}

  /**
   * Runs the command and exits with its status.
   *
   * @param arguments those of the command
   */
  public static void main(String[] arguments) {
    CommandLine command = new CommandLine(new BenchSocketsCommand());
    command.setParameterExceptionHandler(
        (e, given) -> {
          command.getErr().println("talaria: " + e.getMessage());
          return CommandLine.ExitCode.USAGE;
        });
    command.setExecutionExceptionHandler(
        (e, failed, result) -> {
          command.getErr().println("talaria: " + e.getMessage());
          return CommandLine.ExitCode.SOFTWARE;
        });
    System.exit(command.execute(arguments));
  }
}
