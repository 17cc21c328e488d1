// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Describes a child process; {@link #start} makes one. Confined to the test's thread. */
public final class ChildSpec {
  private final Lab lab;
  private final Flavour flavour;
  private final Class<?> program;
  private final List<String> prefix = new ArrayList<>();
  private final List<String> options = new ArrayList<>();
  private final Map<String, String> properties = new TreeMap<>();
  private final List<String> arguments = new ArrayList<>();
  private final Map<String, String> environment = new TreeMap<>();
  private ClassPath classPath = ClassPath.usual();
  private Path javaHome;

  ChildSpec(Lab lab, Flavour flavour, Class<?> program) {
    this.lab = lab;
    this.flavour = flavour;
    this.program = program;
    javaHome = flavour.javaHome();
    property("talaria.dir", lab.talariaDir());
    property("talaria.shm.dir", lab.shmDir());
    Settings.transport().ifPresent(name -> property("talaria.transports", name));
    if (flavour.wantsJucx()) {
      Settings.jucxOfAll().ifPresent(this::jucx);
    }
  }

  /**
   * JUCX, and the environment that UCX wants then.
   *
   * @param jar its file
   * @return this
   */
  public ChildSpec jucx(Path jar) {
    environment("UCX_LOG_FILE", "stderr");
    environment("UCX_HANDLE_ERRORS", "none");
    environment("UCX_WARN_UNUSED_ENV_VARS", "n");
    environment("UCX_POSIX_ERROR_HANDLING", "y");
    return property("talaria.jucx", jar);
  }

  /**
   * A variable of the environment.
   *
   * @param key its name
   * @param value its value, or null to leave it as it is here
   * @return this
   */
  public ChildSpec environment(String key, String value) {
    if (value == null) {
      environment.remove(key);
    } else {
      environment.put(key, value);
    }
    return this;
  }

  /**
   * An argument of the program.
   *
   * @param key its name
   * @param value its value
   * @return this
   */
  public ChildSpec arg(String key, Object value) {
    arguments.add(key + "=" + value);
    return this;
  }

  /**
   * A system property; a {@code talaria} one is given only to a child with the agent.
   *
   * @param key its name
   * @param value its value, or null to leave it unset
   * @return this
   */
  public ChildSpec property(String key, Object value) {
    if (value == null) {
      properties.remove(key);
    } else {
      properties.put(key, value.toString());
    }
    return this;
  }

  /**
   * An option of the JVM.
   *
   * @param option as on the command line
   * @return this
   */
  public ChildSpec option(String option) {
    options.add(option);
    return this;
  }

  /**
   * Compiles as it does for users, also in the usual run.
   *
   * @return this
   */
  public ChildSpec optimized() {
    return option("-XX:TieredStopAtLevel=4").option("-XX:CompileThresholdScaling=1");
  }

  /**
   * A command that runs the JVM, and becomes it.
   *
   * @param words the command and its first arguments
   * @return this
   */
  public ChildSpec under(String... words) {
    prefix.addAll(List.of(words));
    return this;
  }

  /**
   * Runs on another Java than its flavour's.
   *
   * @param home its home
   * @return this
   */
  public ChildSpec java(Path home) {
    javaHome = home;
    return this;
  }

  /**
   * Runs from another copy of the classes and of the agent.
   *
   * @param other the copy
   * @return this
   */
  public ChildSpec classPath(ClassPath other) {
    this.classPath = other;
    return this;
  }

  /**
   * Starts the process.
   *
   * @return the child
   * @throws IOException if it cannot start
   */
  public Child start() throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(javaHome.resolve("bin/java").toString());
    command.add("-XX:+UseSerialGC");
    command.add("-Xmx512m");
    command.add("-Xshare:auto");
    command.add("-ea");
    command.add("-XX:ErrorFile=" + lab.crashFile());
    command.addAll(Settings.children());
    command.addAll(options);
    if (flavour.accelerated()) {
      command.add("-javaagent:" + classPath.agent());
    }
    for (Map.Entry<String, String> property : properties.entrySet()) {
      if (flavour.accelerated() || !property.getKey().startsWith("talaria")) {
        command.add("-D" + property.getKey() + "=" + property.getValue());
      }
    }
    command.add("-cp");
    command.add(classPath.text());
    command.add(program.getName());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(lab.scratch().toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("JAVA_TOOL_OPTIONS"));
    builder.environment().remove("JDK_JAVA_OPTIONS");
    builder.environment().putAll(environment);
    return lab.adopt(program.getSimpleName(), this, builder.start());
  }

  Flavour flavour() {
    return flavour;
  }

  Path talariaDir() {
    return Path.of(properties.get("talaria.dir"));
  }
}
