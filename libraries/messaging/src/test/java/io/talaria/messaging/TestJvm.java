// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Starts a second JVM with this one's Java and class path. */
public final class TestJvm {
  private TestJvm() {}

  /**
   * Starts one.
   *
   * @param main the class whose {@code main} runs
   * @param heapMb most of its heap, MB
   * @param errors the file that its standard error goes to; input and output are pipes
   * @param args for {@code main}
   */
  public static Process start(Class<?> main, int heapMb, Path errors, String... args)
      throws IOException {
    return start(main, heapMb, List.of(), Map.of(), errors, args);
  }

  /**
   * Starts one with more options and variables.
   *
   * @param main the class whose {@code main} runs
   * @param heapMb most of its heap, MB
   * @param options of the JVM
   * @param variables of its environment, beside this one's
   * @param errors the file that its standard error goes to; input and output are pipes
   * @param args for {@code main}
   */
  static Process start(
      Class<?> main,
      int heapMb,
      List<String> options,
      Map<String, String> variables,
      Path errors,
      String... args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseSerialGC");
    command.add("-Xmx" + heapMb + "m");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().putAll(variables);
    return builder.start();
  }
}
