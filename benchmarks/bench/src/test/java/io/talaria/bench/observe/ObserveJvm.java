// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import io.talaria.cli.Main;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command in a JVM of its own, for what cannot be tried in that of the tests. */
final class ObserveJvm {
  private ObserveJvm() {}

  /** Returns the words that start it. */
  static List<String> command(String... words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:-UsePerfData"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Main.class.getName(), "observe"));
    command.addAll(List.of(words));
    return command;
  }
}
