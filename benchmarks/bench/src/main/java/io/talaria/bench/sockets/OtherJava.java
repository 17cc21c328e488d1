// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import io.talaria.bench.harness.ProcessesAtExit;
import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * The command again, whole, on another Java: what it says of the machine is true of that one, then.
 *
 * @param command the command that was given
 * @param home the other Java's folder
 */
record OtherJava(CommandLine command, Path home) {
  private static final String OPTION = "--java";

  /** Longer than what it gives to JVMs of its own. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /**
   * Runs it to its end, with this process's streams.
   *
   * @return its exit status
   * @throws HarnessException if it cannot be started
   * @throws InterruptedException if interrupted; it is ended then
   */
  int run() throws HarnessException, InterruptedException {
    Path program = home.resolve("bin").resolve("java");
    if (!Files.isExecutable(program)) {
      throw new ParameterException(command, OPTION + ": there is no " + program);
    }
    List<String> words = new ArrayList<>();
    words.add(program.toString());
    words.add("-XX:+UseSerialGC");
    words.add("-XX:TieredStopAtLevel=1");
    words.add("-cp");
    words.add(System.getProperty("java.class.path"));
    words.add(SocketsMain.class.getName());
    words.addAll(arguments());
    Process process;
    try {
      process = ProcessesAtExit.start(new ProcessBuilder(words).inheritIO(), GRACE);
    } catch (IOException e) {
      throw new HarnessException("cannot start " + program + ": " + e.getMessage(), e);
    }
    try {
      return process.waitFor();
    } finally {
      process.destroy();
      ProcessesAtExit.forget(process);
    }
  }

  /** What was given to this command, without the option. */
  private List<String> arguments() {
    CommandLine root = command;
    while (root.getParent() != null) {
      root = root.getParent();
    }
    List<String> all = root.getParseResult().originalArgs();
    List<String> own = all.subList(all.indexOf(command.getCommandName()) + 1, all.size());
    List<String> kept = new ArrayList<>();
    for (int i = 0; i < own.size(); i++) {
      if (own.get(i).equals(OPTION)) {
        i++;
      } else if (!own.get(i).startsWith(OPTION + "=")) {
        kept.add(own.get(i));
      }
    }
    return kept;
  }
}
