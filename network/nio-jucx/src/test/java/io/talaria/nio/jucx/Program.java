// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A program of the tests in a JVM of its own, whose connections may go by UCX on JUCX. Confined to
 * the test's thread.
 */
final class Program {
  private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rwx------");

  private final Class<?> main;
  private final Path folder;
  private final List<String> prefix = new ArrayList<>();
  private final List<String> options = new ArrayList<>();
  private String classPath = System.getProperty("java.class.path");

  /** What it has printed, and how it ended. */
  static final class Ended {
    final int status;
    final String output;
    final String log;

    Ended(int status, String output, String log) {
      this.status = status;
      this.output = output;
      this.log = log;
    }

    @Override
    public String toString() {
      return "status " + status + "\n--- output\n" + output + "--- log\n" + log;
    }
  }

  /**
   * @param name of a folder below target, not in the temporary one: a test may hide that
   */
  Program(Class<?> main, String name) throws IOException {
    this.main = main;
    folder = Path.of("target", "programs", name).toAbsolutePath();
    Files.createDirectories(folder.resolve("run"));
    Files.setPosixFilePermissions(folder.resolve("run"), OWN);
  }

  Path folder() {
    return folder;
  }

  /** A command that runs the JVM. */
  Program under(String... words) {
    prefix.addAll(List.of(words));
    return this;
  }

  /** An option of the JVM. */
  Program option(String option) {
    options.add(option);
    return this;
  }

  /** Another JUCX than that of the tests on its class path. */
  Program jucx(File jar) {
    classPath =
        Arrays.stream(classPath.split(File.pathSeparator, -1))
                .filter(entry -> !new File(entry).getName().startsWith("jucx-"))
                .collect(Collectors.joining(File.pathSeparator))
            + File.pathSeparator
            + jar;
    return this;
  }

  /** Runs it to its end. */
  Ended run(long limitSeconds, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-ea");
    command.add("-Xmx512m");
    command.add("-XX:+UseSerialGC");
    command.add("--add-exports=java.base/sun.nio.ch=ALL-UNNAMED");
    command.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    command.add("-Dtalaria.transports=ucx");
    command.add("-Dtalaria.ucx.binding=jucx");
    command.add("-Dtalaria.dir=" + folder.resolve("run"));
    command.add("-Dtalaria.shm.dir=" + folder.resolve("shm"));
    command.addAll(options);
    command.add("-cp");
    command.add(classPath);
    command.add(main.getName());
    command.addAll(List.of(arguments));
    File output = folder.resolve("output").toFile();
    File log = folder.resolve("log").toFile();
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectOutput(output).redirectError(log);
    builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    Process process = builder.start();
    boolean ended = false;
    try {
      ended = process.waitFor(limitSeconds, TimeUnit.SECONDS);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    int status = ended ? process.exitValue() : -1;
    return new Ended(status, Files.readString(output.toPath()), Files.readString(log.toPath()));
  }
}
