// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code talaria doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Says what this machine can do, what is missing, and the cure. It makes the run-time and the"
          + " shared-memory directory if they do not exist, as a program with Talaria would.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:Shared memory between processes of this host works.",
      "1:It does not.",
      "2:Wrong usage."
    },
    footer = {
      "",
      "Examples:",
      "  talaria doctor",
      "  talaria doctor --shm-dir /mnt/memory/talaria",
      "  talaria doctor --rules /etc/talaria.rules --key /etc/talaria.key",
      "  talaria doctor --json"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "The run-time directory to look at, as in -Dtalaria.dir.")
  private Path dir;

  @Option(
      names = "--shm-dir",
      paramLabel = "DIR",
      description = "The shared-memory directory to look at, as in -Dtalaria.shm.dir.")
  private Path shmDir;

  @Option(
      names = "--agent",
      paramLabel = "FILE",
      description = "The agent's jar (default: dist/talaria.jar).")
  private Path agent;

  @Option(
      names = "--rules",
      paramLabel = "FILE",
      description = "The file of rules for other hosts, as in -Dtalaria.rules.")
  private Path rules;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The key that hosts share, as in -Dtalaria.key.")
  private Path key;

  @Option(names = "--json", description = "JSON in one line.")
  private boolean json;

  /** Creates the command; picocli fills it in. */
  public DoctorCommand() {}

  @Override
  public Integer call() throws Exception {
    Diagnosis diagnosis = Diagnosis.of(Surroundings.ofThisMachine(dir, shmDir, agent, rules, key));
    PrintWriter out = spec.commandLine().getOut();
    out.print(json ? Json.line(diagnosis.tree()) + "\n" : diagnosis.text());
    out.flush();
    return diagnosis.sharedMemoryWorks() ? 0 : 1;
  }
}
