// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.programs;

import io.talaria.bench.compare.Timing;
import io.talaria.bench.compare.Trial;
import io.talaria.cli.harness.Units;
import io.talaria.programs.Catalogue;
import java.util.ArrayList;
import java.util.List;

/**
 * One case of {@code bench programs}.
 *
 * @param program what runs
 * @param sizeBytes the length of what is sent and comes back
 * @param connections how many clients, each with a connection and a thread of its own
 */
record ProgramTrial(Catalogue program, int sizeBytes, int connections) implements Trial {

  /**
   * What both sides are told.
   *
   * @param trial what
   * @param timing how long
   */
  record Job(ProgramTrial trial, Timing timing) {}

  @Override
  public Job job(Timing timing) {
    return new Job(this, timing);
  }

  @Override
  public String id() {
    return program + "/" + sizeBytes + "/" + connections;
  }

  @Override
  public String label() {
    String many = connections == 1 ? "" : ", " + connections + " clients";
    return program + " " + Units.bytes(sizeBytes) + many;
  }

  @Override
  public List<String> javaOptions() {
    List<String> options = new ArrayList<>();
    // Agrona's, which Pekko uses; harmless to the others.
    options.add("--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED");
    if (program.oldSockets()) {
      options.add("-Dtalaria.sockets=true");
    }
    return options;
  }
}
