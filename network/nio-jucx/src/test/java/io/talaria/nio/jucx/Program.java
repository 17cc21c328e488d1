// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
  ChildProcess run(long limitSeconds, Object... arguments)
      throws IOException, InterruptedException {
    return ChildProcess.jvm(main, arguments)
        .under(prefix.toArray(new String[0]))
        .options("-ea", "-Xmx512m", "-XX:+UseSerialGC")
        .options("--add-exports=java.base/sun.nio.ch=ALL-UNNAMED")
        .options("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
        .options("-Dtalaria.transports=ucx", "-Dtalaria.ucx.binding=jucx")
        .options("-Dtalaria.dir=" + folder.resolve("run"))
        .options("-Dtalaria.shm.dir=" + folder.resolve("shm"))
        .options(options)
        .classPath(classPath)
        .run(Duration.ofSeconds(limitSeconds));
  }
}
