// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@link Traffic} in a JVM of its own, as this one is, on the binding of this run. Confined to the
 * test's thread, which closes it.
 */
final class Jvm implements AutoCloseable {
  private static final int OPTIONS_OF_NATIVE_ACCESS = 22;

  private final Process process;
  private final Path log;
  private final BufferedReader output;
  private final BufferedWriter input;
  private final StringBuilder seen = new StringBuilder();

  /**
   * @param shared what processes that meet have in common: a folder of theirs below target
   * @param options of the JVM
   */
  Jvm(String shared, String name, List<String> options, String... arguments) throws IOException {
    this(shared, name, options, Map.of(), arguments);
  }

  /**
   * @param shared what processes that meet have in common: a folder of theirs below target
   * @param options of the JVM
   * @param environment beside this one's
   */
  Jvm(
      String shared,
      String name,
      List<String> options,
      Map<String, String> environment,
      String... arguments)
      throws IOException {
    Path folder = Path.of("target", "programs", shared).toAbsolutePath();
    Path run = Files.createDirectories(folder.resolve("run"));
    Files.setPosixFilePermissions(run, PosixFilePermissions.fromString("rwx------"));
    log = folder.resolve(name + ".log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-ea");
    command.add("-Xmx512m");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:ErrorFile=" + folder.resolve(name + ".crash"));
    command.add("--add-exports=java.base/sun.nio.ch=ALL-UNNAMED");
    command.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    if (Runtime.version().feature() >= OPTIONS_OF_NATIVE_ACCESS) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.add("-Dtalaria.transports=ucx");
    command.add("-Dtalaria.ucx.binding=" + System.getProperty(Bindings.PROPERTY, "auto"));
    command.add("-Dtalaria.dir=" + run);
    command.add("-Dtalaria.shm.dir=" + folder.resolve("shm"));
    command.addAll(options);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Traffic.class.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
    builder.environment().keySet().removeAll(Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    builder.environment().putAll(environment);
    process = builder.start();
    output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    input =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
  }

  /** The rest of the next line that begins so. */
  String line(String begin) throws IOException {
    String line;
    while ((line = output.readLine()) != null) {
      seen.append(line).append('\n');
      if (line.startsWith(begin)) {
        return line.substring(begin.length()).trim();
      }
    }
    throw new AssertionError("no line that begins with " + begin + "\n" + this);
  }

  /** Says a line to it. */
  void say(String line) throws IOException {
    input.write(line);
    input.newLine();
    input.flush();
  }

  /** All that it says to its end, which it comes to in that time. */
  String end(long seconds) throws IOException, InterruptedException {
    input.close();
    String line;
    while ((line = output.readLine()) != null) {
      seen.append(line).append('\n');
    }
    if (!process.waitFor(seconds, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new AssertionError(
          "status " + (process.isAlive() ? "none" : process.exitValue()) + this);
    }
    return seen.toString();
  }

  /** As {@code kill -9}. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public String toString() {
    try {
      return "\n--- output\n" + seen + "--- log\n" + Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
