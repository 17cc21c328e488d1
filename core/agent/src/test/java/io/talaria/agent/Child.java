// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that ran to its end: what it printed, and its exit status.
 *
 * @param status exit status
 * @param out lines of the standard output
 * @param err lines of the standard error stream
 */
record Child(int status, List<String> out, List<String> err) {
  private static final int DEADLINE_S = 60;

  /** The agent that the build made. */
  static final String AGENT = System.getProperty("talaria.test.agent");

  /** The {@code java} of the JVM this runs in. */
  static String thisJava() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** The {@code java} commands to test with: this JVM's, and a Java 17 where there is one. */
  static List<String> javas() {
    List<String> javas = new ArrayList<>(List.of(thisJava()));
    String java17 = System.getProperty("talaria.test.java17", "");
    if (!java17.isEmpty()) {
      javas.add(java17);
    }
    return javas;
  }

  /** Runs {@link ProbeMain} with the agent. */
  static Child withAgent(Path work, String java, List<String> options, String... properties)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("-javaagent:" + AGENT));
    all.addAll(options);
    return run(work, java, all, Map.of(), properties);
  }

  /**
   * Runs {@link ProbeMain}.
   *
   * @param work an empty directory for the output
   * @param java path of the command
   * @param options options of the JVM
   * @param environment variables to add
   * @param properties what the program is to print
   */
  static Child run(
      Path work,
      String java,
      List<String> options,
      Map<String, String> environment,
      String... properties)
      throws IOException, InterruptedException {
    return run(work, java, options, environment, ProbeMain.class, properties);
  }

  /**
   * Runs a program of the test classes.
   *
   * @param work an empty directory for the output
   * @param java path of the command
   * @param options options of the JVM
   * @param environment variables to add
   * @param program its main class
   * @param arguments its arguments
   */
  static Child run(
      Path work,
      String java,
      List<String> options,
      Map<String, String> environment,
      Class<?> program,
      String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(java));
    command.addAll(options);
    command.add("-cp");
    command.add(System.getProperty("talaria.test.classes"));
    command.add(program.getName());
    command.addAll(List.of(arguments));
    Path out = work.resolve("out");
    Path err = work.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    boolean ended = process.waitFor(DEADLINE_S, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly().waitFor();
    }
    Child child = new Child(process.exitValue(), Files.readAllLines(out), Files.readAllLines(err));
    assertThat(ended).as("%s ends within %d s: %s", command, DEADLINE_S, child).isTrue();
    return child;
  }
}
