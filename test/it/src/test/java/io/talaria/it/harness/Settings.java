// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import io.talaria.nio.NioTransport;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The system properties that steer the integration tests. */
public final class Settings {
  private Settings() {}

  /**
   * The agent under test.
   *
   * @return the jar, or empty if {@code talaria.test.agent} is {@code none}: then only plain
   *     programs run, which tests the tests
   * @throws IllegalStateException if the property is missing or names no file
   */
  public static Optional<Path> agent() {
    String value = System.getProperty("talaria.test.agent", "");
    if (value.equals("none")) {
      return Optional.empty();
    }
    Path jar = Path.of(value);
    if (value.isEmpty() || !Files.isRegularFile(jar)) {
      throw new IllegalStateException(
          "talaria.test.agent=" + value + " names no file; build the agent, or set it to none");
    }
    return Optional.of(jar.toAbsolutePath());
  }

  /**
   * The transport that the children ask for.
   *
   * @return {@code talaria.it.transport}, or empty for what is usual
   */
  public static Optional<String> transport() {
    return Optional.ofNullable(System.getProperty("talaria.it.transport"));
  }

  /**
   * Whether UCX is where libraries usually are.
   *
   * @return true if so
   */
  public static boolean ucxInstalled() {
    return Stream.of(
            "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
        .anyMatch(dir -> Files.exists(Path.of(dir, "libucp.so.0")));
  }

  /**
   * JUCX, for children on Java 17 if all children run on UCX.
   *
   * @return {@code talaria.test.jucx}, or empty if that is not set
   */
  public static Optional<Path> jucxOfAll() {
    return jar("talaria.test.jucx");
  }

  /**
   * JUCX, for tests that want it.
   *
   * @return {@code talaria.it.jucx}, or empty if there is no such file
   */
  public static Optional<Path> jucx() {
    return jar("talaria.it.jucx").filter(Files::isRegularFile);
  }

  private static Optional<Path> jar(String property) {
    return Optional.ofNullable(System.getProperty(property))
        .filter(value -> !value.isEmpty())
        .map(Path::of);
  }

  /**
   * The transport of accelerated connections.
   *
   * @return the usual one, or that of {@link #transport}
   */
  public static NioTransport fast() {
    return transport()
        .map(name -> NioTransport.valueOf(name.toUpperCase(Locale.ROOT)))
        .orElse(NioTransport.SHM);
  }

  /**
   * A time that is only there so that nothing hangs: longer on UCX, which each child has to load
   * first, on a machine that may be busy.
   *
   * @param usual what is plenty without it
   * @return a time
   */
  public static Duration patience(Duration usual) {
    return fast() == NioTransport.UCX ? usual.multipliedBy(4) : usual;
  }

  /**
   * How much longer and larger than usual the tests shall be.
   *
   * @return {@code talaria.it.scale}, 1 if not set
   */
  public static double scale() {
    return Double.parseDouble(System.getProperty("talaria.it.scale", "1"));
  }

  /**
   * A size or count, scaled.
   *
   * @param usual its usual value
   * @return at least 1
   */
  public static long scaled(long usual) {
    return Math.max(1, Math.round(usual * scale()));
  }

  /**
   * Whether one pair with Java 17 stands for all, pairs that only test the tests are left out, and
   * of the combinations of what does not depend on each other each part is tried once.
   *
   * @return true if {@code talaria.it.pairs} is {@code few}
   */
  public static boolean fewPairs() {
    return System.getProperty("talaria.it.pairs", "all").equals("few");
  }

  /**
   * Options of children that are not compiled as they are by users, so that they start faster.
   *
   * @return the words of {@code talaria.test.children}
   */
  public static List<String> children() {
    return Stream.of(System.getProperty("talaria.test.children", "").split(" ", -1))
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /**
   * The Java that runs the tests.
   *
   * @return its home
   */
  public static Path ownJava() {
    return Path.of(System.getProperty("java.home"));
  }

  /**
   * A Java 17: {@code talaria.test.java17} (its home or its {@code bin/java}), or one installed
   * beside the Java that runs the tests.
   *
   * @return its home, or empty if there is none
   */
  public static Optional<Path> java17() {
    String value = System.getProperty("talaria.test.java17", "");
    if (!value.isEmpty()) {
      Path given = Path.of(value);
      return Optional.of(Files.isDirectory(given) ? given : given.getParent().getParent());
    }
    try (DirectoryStream<Path> neighbours =
        Files.newDirectoryStream(ownJava().toRealPath().getParent())) {
      for (Path home : neighbours) {
        Path release = home.resolve("release");
        if (Files.isExecutable(home.resolve("bin/javac"))
            && Files.isRegularFile(release)
            && Files.readString(release).contains("JAVA_VERSION=\"17.")) {
          return Optional.of(home);
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.empty();
  }
}
