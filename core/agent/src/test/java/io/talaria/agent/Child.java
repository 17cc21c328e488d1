// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A JVM that ran to its end: what it printed, and its exit status.
 *
 * @param status exit status
 * @param out lines of the standard output
 * @param err lines of the standard error stream
 */
record Child(int status, List<String> out, List<String> err) {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The agent that the build made. */
  static final String AGENT = System.getProperty("talaria.test.agent");

  /** The {@code java} commands to test with: this JVM's, and a Java 17 where there is one. */
  static List<String> javas() {
    List<String> javas = new ArrayList<>(List.of(ChildProcess.jdkProgram("java")));
    String java17 = System.getProperty("talaria.test.java17", "");
    if (!java17.isEmpty()) {
      javas.add(java17);
    }
    return javas;
  }

  /** Runs {@link ProbeMain} with the agent. */
  static Child withAgent(String java, List<String> options, String... properties)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("-javaagent:" + AGENT));
    all.addAll(options);
    return run(java, all, Map.of(), properties);
  }

  /**
   * Runs {@link ProbeMain}.
   *
   * @param java path of the command
   * @param options options of the JVM
   * @param environment variables to add
   * @param properties what the program is to print
   */
  static Child run(
      String java, List<String> options, Map<String, String> environment, String... properties)
      throws IOException, InterruptedException {
    return run(java, options, environment, ProbeMain.class, properties);
  }

  /**
   * Runs a program of the test classes.
   *
   * @param java path of the command
   * @param options options of the JVM
   * @param environment variables to add
   * @param program its main class
   * @param arguments its arguments
   */
  static Child run(
      String java,
      List<String> options,
      Map<String, String> environment,
      Class<?> program,
      String... arguments)
      throws IOException, InterruptedException {
    ChildProcess process =
        ChildProcess.jvm(program, (Object[]) arguments)
            .java(java)
            .options(options)
            .classPath(System.getProperty("talaria.test.classes"))
            .environment(environment)
            .run(LIMIT);
    return new Child(process.exitStatus(), process.out(), process.err());
  }
}
