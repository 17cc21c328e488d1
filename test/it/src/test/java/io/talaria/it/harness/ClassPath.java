// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a child runs from: the programs and the libraries they use, but nothing of Talaria's, and
 * the agent beside them.
 *
 * @param text the class path
 * @param agent the agent's jar
 */
public record ClassPath(String text, Path agent) {

  /**
   * The classes as the build made them.
   *
   * @return the class path of ordinary children
   */
  public static ClassPath usual() {
    return new ClassPath(
        String.join(File.pathSeparator, entries()), Settings.agent().orElse(Path.of("none")));
  }

  /**
   * A copy of the programs and of the agent that other users can read, unlike the directories of
   * the build and of a test.
   *
   * @param lab the test's, whose directory every user can enter from then on
   * @return the class path of children without libraries
   * @throws IOException if it cannot be made
   */
  public static ClassPath readableByAll(Lab lab) throws IOException {
    letAllRead(lab.scratch());
    Path classes = lab.scratch().resolve("classes");
    Path programs = programs();
    try (Stream<Path> files = Files.walk(programs)) {
      for (Path file : files.toList()) {
        letAllRead(Files.copy(file, classes.resolve(programs.relativize(file).toString())));
      }
    }
    Path agent = lab.scratch().resolve("agent.jar");
    Path usual = usual().agent();
    if (Files.exists(usual)) {
      letAllRead(Files.copy(usual, agent));
    }
    return new ClassPath(classes.toString(), agent);
  }

  private static void letAllRead(Path file) throws IOException {
    String mode = Files.isDirectory(file) ? "rwxr-xr-x" : "rw-r--r--";
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  /**
   * The programs, and Kafka with the libraries that it wants instead of all others.
   *
   * @return the class path of Kafka's children
   * @throws IOException if it cannot be read
   */
  public static ClassPath kafka() throws IOException {
    Path list = Path.of(System.getProperty("talaria.test.kafka", "test/it/kafka/target/classpath"));
    if (!Files.isRegularFile(list)) {
      throw new IllegalStateException(
          "talaria.test.kafka=" + list + " names no file; build the module test/it/kafka first");
    }
    String libraries = Files.readString(list).strip();
    return new ClassPath(programs() + File.pathSeparator + libraries, usual().agent());
  }

  /**
   * The programs, and the third-party servers and clients beside what ordinary children have.
   *
   * @return the class path of third-party children
   */
  public static ClassPath thirdParty() {
    String libraries = System.getProperty("talaria.test.third-party");
    if (libraries == null) {
      throw new IllegalStateException("talaria.test.third-party is the build's to set");
    }
    return new ClassPath(programs() + File.pathSeparator + libraries, usual().agent());
  }

  /**
   * The directory of the programs alone.
   *
   * @return a directory of class files
   */
  public static Path programs() {
    return Path.of(
        entries().stream().filter(ClassPath::isProgramsDirectory).findFirst().orElseThrow());
  }

  private static boolean isProgramsDirectory(String entry) {
    return Path.of(entry).resolve("io/talaria/it/programs").toFile().isDirectory();
  }

  private static List<String> entries() {
    String all =
        System.getProperty("talaria.test.classpath", System.getProperty("java.class.path"));
    List<String> wanted = new ArrayList<>();
    for (String entry : all.split(File.pathSeparator)) {
      String file = Path.of(entry).getFileName().toString();
      boolean library =
          file.endsWith(".jar")
              && !file.matches("(talaria|junit|assertj|opentest4j|apiguardian|surefire).*");
      if (library || isProgramsDirectory(entry)) {
        wanted.add(entry);
      }
    }
    return wanted;
  }
}
