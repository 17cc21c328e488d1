// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What a child JVM is started with: this JVM's own Java and class path, without Talaria on it, so
 * that only the agent's jar can bring it.
 *
 * @param name its role in messages, such as {@code server}
 * @param mainClass the class to run; it must open a {@link ParentLink}
 * @param core the core to pin it to, or {@link Pinning#NONE}
 * @param agent the agent to switch on, or null
 * @param jvmOptions further options for the JVM
 * @param jars what is added to the class path
 */
public record ChildSpec(
    String name,
    Class<?> mainClass,
    int core,
    Path agent,
    List<String> jvmOptions,
    List<Path> jars) {
  /**
   * Options that children get before their own, separated by spaces: tests, which need no figures,
   * have children that start faster than those of a benchmark.
   */
  private static final String OPTIONS_OF_ALL = "talaria.bench.children";

  /** Copies the lists. */
  public ChildSpec {
    jvmOptions = List.copyOf(jvmOptions);
    jars = List.copyOf(jars);
  }

  /**
   * A child that adds nothing to the class path.
   *
   * @param name its role in messages
   * @param mainClass the class to run
   * @param core the core to pin it to, or {@link Pinning#NONE}
   * @param agent the agent to switch on, or null
   * @param jvmOptions further options for the JVM
   */
  public ChildSpec(String name, Class<?> mainClass, int core, Path agent, List<String> jvmOptions) {
    this(name, mainClass, core, agent, jvmOptions, List.of());
  }

  /** Returns the words of the command. */
  List<String> command() {
    List<String> words = new ArrayList<>(Pinning.prefix(core));
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : System.getProperty(OPTIONS_OF_ALL, "").split(" ", -1)) {
      if (!option.isEmpty()) {
        words.add(option);
      }
    }
    words.addAll(jvmOptions);
    if (agent != null) {
      words.add("-javaagent:" + agent);
    }
    words.add("-cp");
    words.add(classPath());
    words.add(mainClass.getName());
    return words;
  }

  private String classPath() {
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      // The agent brings its own; without it verbs-net needs nio's proof of a key.
      if (!entry.isEmpty() && (agent == null || !isTalariaNio(Path.of(entry)))) {
        entries.add(Path.of(entry).toAbsolutePath().toString());
      }
    }
    jars.forEach(jar -> entries.add(jar.toAbsolutePath().toString()));
    return String.join(File.pathSeparator, entries);
  }

  /** Tells talaria-nio's jar and its folder of classes in the source tree from all others. */
  private static boolean isTalariaNio(Path entry) {
    return entry.getFileName() != null
        && (entry.getFileName().toString().startsWith("talaria-nio")
            || entry.endsWith(Path.of("nio", "target", "classes")));
  }
}
