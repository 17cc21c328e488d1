// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A source tree with the launcher in it and no sources, and a Maven that only notes that it was
 * called. Nothing in it is built unless {@link #pretendBuilt} was called.
 */
final class Tree {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Pattern JAR = Pattern.compile("(?m)^[A-Z]+=\\$ROOT/(\\S+\\.jar)$");

  private final Path root;
  private final Path tools;
  private final Path built;

  /** What a command printed, and its exit status. */
  record Ended(int status, String out, String err) {
    List<String> outLines() {
      return out.lines().toList();
    }
  }

  private Tree(Path root, Path tools) {
    this.root = root;
    this.tools = tools;
    built = tools.resolve("maven-was-called");
  }

  /** Makes one below a folder. */
  static Tree in(Path dir) throws IOException {
    Path root = Files.createDirectories(dir.resolve("a tree"));
    Path own = Path.of("").toAbsolutePath().getParent().getParent();
    for (String part : List.of("talaria", "pom.xml", ".ci/TestReport.java")) {
      copy(own.resolve(part), root.resolve(part));
    }
    try (Stream<Path> parts = Files.list(own.resolve("tools/launcher"))) {
      for (Path part : parts.toList()) {
        copy(part, root.resolve("tools/launcher").resolve(part.getFileName()));
      }
    }
    Tree tree = new Tree(root, Files.createDirectories(dir.resolve("tools")));
    tree.maven("exit 0");
    return tree;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
  }

  Path root() {
    return root;
  }

  /** Has Maven do something after it has noted its call. */
  void maven(String script) throws IOException {
    Path mvn = tools.resolve("mvn");
    Files.writeString(mvn, "#!/bin/sh\necho \"$*\" >>'" + built + "'\n" + script + "\n");
    Files.setPosixFilePermissions(mvn, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** The calls of Maven, with their arguments. */
  List<String> builds() throws IOException {
    return Files.exists(built) ? Files.readAllLines(built) : List.of();
  }

  /** Makes the files that a build makes, as the launcher names them; nothing is in them. */
  void pretendBuilt() throws IOException {
    String parts = Files.readString(root.resolve("tools/launcher/build.sh"));
    List<String> files = new ArrayList<>(List.of("dist/talaria.jar", "dist/.built"));
    Matcher jar = JAR.matcher(parts);
    while (jar.find()) {
      files.add(jar.group(1));
    }
    for (String file : files) {
      Files.createDirectories(root.resolve(file).getParent());
      Files.createFile(root.resolve(file));
    }
  }

  Ended run(String... words) throws Exception {
    return run(Map.of(), words);
  }

  Ended run(Map<String, String> environment, String... words) throws Exception {
    return run(root.resolve("talaria"), environment, words);
  }

  /** Runs the script of a release, of which nothing but the scripts is there. */
  Ended runRelease(Map<String, String> environment, String... words) throws Exception {
    Path release = tools.resolve("a release");
    copyOver("release.sh", release.resolve("bin/talaria"));
    for (String part : List.of("common.sh", "run.sh")) {
      copyOver(part, release.resolve("launcher").resolve(part));
    }
    return run(release.resolve("bin/talaria"), environment, words);
  }

  private void copyOver(String part, Path to) throws IOException {
    Files.deleteIfExists(to);
    copy(root.resolve("tools/launcher").resolve(part), to);
    Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Makes the home of a Java that can say its version and nothing else. */
  Path javaHome(String version) throws IOException {
    Path java = tools.resolve("jdk-" + version).resolve("bin/java");
    Files.createDirectories(java.getParent());
    Files.writeString(
        java, "#!/bin/sh\necho '    java.specification.version = " + version + "' >&2\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    return java.getParent().getParent();
  }

  private Ended run(Path script, Map<String, String> environment, String... words)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(words));
    ChildProcess ended =
        ChildProcess.command(command.toArray())
            .withoutEnvironment(name -> name.startsWith("TALARIA_") || name.startsWith("JAVA_"))
            .environment("JAVA_HOME", System.getProperty("java.home"))
            .environment("PATH", tools + ":" + System.getenv("PATH"))
            .environment(environment)
            .run(LIMIT);
    return new Ended(ended.exitStatus(), ended.outText(), ended.errText());
  }
}
