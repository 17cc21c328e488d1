// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * {@link Traffic} in a JVM of its own, as this one is, on the binding of this run. Confined to the
 * test's thread, which closes it.
 */
final class Jvm implements AutoCloseable {
  private static final int OPTIONS_OF_NATIVE_ACCESS = 22;

  /** For a line; most of what a JVM does until then is to connect. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final ChildProcess process;

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
    ChildProcess.Builder builder =
        ChildProcess.jvm(Traffic.class, (Object[]) arguments)
            .options("-ea", "-Xmx512m", "-XX:+UseSerialGC")
            .options("-XX:ErrorFile=" + folder.resolve(name + ".crash"))
            .options("--add-exports=java.base/sun.nio.ch=ALL-UNNAMED")
            .options("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    if (Runtime.version().feature() >= OPTIONS_OF_NATIVE_ACCESS) {
      builder.options("--enable-native-access=ALL-UNNAMED");
    }
    process =
        builder
            .options("-Dtalaria.transports=ucx")
            .options("-Dtalaria.ucx.binding=" + System.getProperty(Bindings.PROPERTY, "auto"))
            .options("-Dtalaria.dir=" + run)
            .options("-Dtalaria.shm.dir=" + folder.resolve("shm"))
            .options(options)
            .environment(environment)
            .start();
  }

  /** The rest of the next line that begins so. */
  String line(String begin) throws InterruptedException {
    return process.awaitLine(Pattern.quote(begin) + "(.*)", LIMIT).group(1).trim();
  }

  /** Says a line to it. */
  void say(String line) throws IOException {
    process.send(line);
  }

  /** All that it says to its end, which it comes to in that time. */
  String end(long seconds) throws InterruptedException {
    process.closeInput();
    process.awaitSuccess(Duration.ofSeconds(seconds));
    return process.outText();
  }

  /** Sends it a signal, such as {@code STOP}. */
  void signal(String signal) throws IOException, InterruptedException {
    process.signal(signal);
  }

  /** As {@code kill -9}. */
  void kill() {
    process.kill();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public String toString() {
    return process.toString();
  }

  @Override
  public void close() {
    process.close();
  }
}
