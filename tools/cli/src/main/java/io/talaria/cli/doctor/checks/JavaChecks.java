// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import io.talaria.cli.harness.AgentJar;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The JDKs and the agent. */
public final class JavaChecks {
  private static final int OLDEST = 17;
  private static final int FULL = 25;

  private JavaChecks() {}

  public static Finding running() {
    return running(
        Runtime.version().feature(),
        System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
  }

  public static Finding running(int feature, String version) {
    if (feature < OLDEST) {
      return Finding.missing("JDK", version, "Use Java 17 or newer.").asEssential();
    }
    return feature < FULL
        ? Finding.warn(
            "JDK",
            version,
            "Enough for the agent, on shared memory and on UCX by JUCX, and for run, ss, doctor and"
                + " demo. Message passing (mpirun), messaging, UCX without JUCX, verbs, the other"
                + " commands, and building from the sources want Java 25.")
        : Finding.ok("JDK", version).asEssential();
  }

  /** A JDK 17, on which the tests of the parts for Java 17 run too. */
  public static Finding seventeen(List<Path> places) {
    for (Path place : places) {
      for (Path home : SystemFiles.entries(place)) {
        boolean is17 =
            SystemFiles.lines(home.resolve("release")).stream()
                .anyMatch(line -> line.startsWith("JAVA_VERSION=\"17"));
        if (is17 && Files.isExecutable(home.resolve("bin").resolve("java"))) {
          return Finding.ok("JDK 17", home.toString());
        }
      }
    }
    return Finding.warn(
        "JDK 17",
        "none found in " + String.join(", ", places.stream().map(Path::toString).toList()),
        "Only the project's own tests want it: install a JDK 17 to run them on Java 17 too.");
  }

  public static Finding agent(Path given) {
    try {
      AgentJar agent = AgentJar.locate(given);
      return Finding.ok("agent", agent.file() + ", version " + agent.version());
    } catch (HarnessException e) {
      // The harness's words hold the hint of a measuring command, which is not quite ours.
      String found = e.getMessage().replaceFirst("^no agent: ", "").replaceFirst(";.*", "");
      return Finding.missing(
          "agent",
          found,
          "Name the jar with --agent FILE. In the sources: ./talaria build makes it.");
    }
  }
}
