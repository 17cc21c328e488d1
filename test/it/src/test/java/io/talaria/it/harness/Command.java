// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.cli.Main;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The command {@code talaria}, in a JVM of its own. */
public final class Command {
  private Command() {}

  /**
   * Runs the command to its end.
   *
   * @param limit how long it may take
   * @param arguments what follows the word {@code talaria}
   * @return its output and errors
   * @throws IOException if it fails, or takes longer
   * @throws InterruptedException if the test's time is up
   */
  public static String run(Duration limit, String... arguments)
      throws IOException, InterruptedException {
    return Proc.run(limit, words(arguments).toArray(new String[0]));
  }

  /**
   * The words that run the command.
   *
   * @param arguments what follows the word {@code talaria}
   * @return a command line
   */
  public static List<String> words(String... arguments) {
    List<String> java =
        List.of(
            Settings.ownJava().resolve("bin/java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-Dtalaria.bench.children=" + String.join(" ", Settings.children()),
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            Main.class.getName());
    return Stream.concat(java.stream(), Stream.of(arguments)).toList();
  }
}
