// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options that say on which cores the JVMs run: a mixin of all that measure. */
public final class PinOptions {
  @Option(
      names = "--cores",
      split = ",",
      paramLabel = "S,C",
      hideParamSyntax = true,
      description =
          "Cores of the server (S) and of the client (C). Default: the first two available cores,"
              + " preferably of different physical cores.")
  private List<Integer> cores = List.of();

  @Option(names = "--no-pin", description = "Do not pin each JVM to a core.")
  private boolean noPin;

  /** Creates the options; picocli fills them. */
  public PinOptions() {}

  /**
   * Returns which JVM sits on which core.
   *
   * @param command whose options they are
   * @throws ParameterException if the options do not fit, or a core is none of this process's
   */
  public Pinning pinning(CommandLine command) {
    if (cores.isEmpty()) {
      return Pinning.decide(!noPin);
    }
    if (noPin) {
      throw bad(command, "--cores says where to pin, --no-pin not to");
    }
    if (cores.size() != 2) {
      throw bad(command, "--cores wants two, of servers and of clients, such as 0,1");
    }
    List<Integer> allowed = Cores.allowed();
    for (int core : cores) {
      if (!allowed.contains(core)) {
        throw bad(
            command, "--cores " + core + " is none of those that this process may use: " + allowed);
      }
    }
    return Pinning.on(cores.get(0), cores.get(1));
  }

  private static ParameterException bad(CommandLine command, String message) {
    return new ParameterException(command, message);
  }
}
