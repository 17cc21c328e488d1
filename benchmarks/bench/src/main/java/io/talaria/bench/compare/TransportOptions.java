// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pair;
import io.talaria.bench.harness.Pinning;
import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say what the sockets of a workload run on: a mixin of its command. */
public final class TransportOptions {
  private static final String TCP = "tcp";
  private static final List<String> TRANSPORTS = List.of(TCP, "shm", "ucx");

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--transport",
      split = ",",
      paramLabel = "TRANSPORT",
      description =
          "Talaria's transports in order of preference, as in talaria.transports: shm, ucx."
              + " Or tcp: the JDK's sockets only, without Talaria. Default: shm.")
  private List<String> transports = new ArrayList<>();

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent jar. Default: dist/talaria.jar.")
  private Path agent;

  @Option(
      names = "--java-option",
      paramLabel = "OPTION",
      description =
          "Additional option for the JVMs, such as -Xmx1g or -Dtalaria.rules=FILE. Repeatable.")
  private List<String> javaOptions = new ArrayList<>();

  /** Creates the options; picocli fills them. */
  public TransportOptions() {}

  /** Returns whether anything runs on Talaria. */
  boolean onTalaria() {
    return !transports.contains(TCP);
  }

  /**
   * Returns how JVMs are started, as the user wants it.
   *
   * @param pinning which JVM sits on which core
   * @throws HarnessException if Talaria is wanted, and there is no agent
   * @throws ParameterException if the options do not fit
   */
  public Launch launch(Pinning pinning) throws HarnessException {
    for (String transport : transports) {
      if (!TRANSPORTS.contains(transport)) {
        throw new ParameterException(
            command.commandLine(),
            "--transport: '"
                + transport
                + "' is no transport; there are: "
                + String.join(", ", TRANSPORTS));
      }
    }
    boolean tcp = !onTalaria();
    if (tcp && transports.size() > 1) {
      throw new ParameterException(
          command.commandLine(), "--transport: tcp means no Talaria, and stands alone");
    }
    String chosen = transports.isEmpty() || tcp ? "shm" : String.join(",", transports);
    AgentJar jar = tcp || Pair.bothPlain() ? null : AgentJar.locate(agent);
    return new Launch(
        tcp ? Implementation.JDK : Implementation.TALARIA, jar, chosen, javaOptions, pinning);
  }
}
