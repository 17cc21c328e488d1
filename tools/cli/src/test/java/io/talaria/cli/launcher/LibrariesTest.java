// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static io.talaria.cli.launcher.SourceCopy.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.talaria.cli.launcher.SourceCopy.Ended;
import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The libraries as a program of somebody else's gets them: installed from a copy of these sources
 * into a repository of its own, then each program of docs/libraries.md is built with that page's
 * XML and run, without a network and with nothing else on its class path.
 */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class LibrariesTest {
  private static final String LIBRARIES =
      "ffi,messaging,messaging-zookeeper,monitor,mpj,nio,nio-jucx,nio-ucx,nio-ucx-ffm,ucx,verbs,"
          + "verbs-net";

  /** What a program prints, whatever the host has. */
  private static final Map<String, String> PRINTS =
      Map.of(
          "talaria-ucx", "hello",
          "talaria-verbs", "(?:device: |no device: ).*",
          "talaria-verbs-net", "(?:device: |no device: ).*",
          "talaria-monitor", "port .*lo.*: .* bytes",
          "talaria-messaging", "Price\\[item=7, value=2\\.5\\]",
          "talaria-mpj", "rank 0 of 1");

  private static final Pattern PROGRAM =
      Pattern.compile("(?s)\n## (talaria-[a-z-]+)\n[^#]*?```java\n(.*?)```");
  private static final Pattern POM = Pattern.compile("(?s)```xml\n(.*?)```");
  private static final Pattern CLASS = Pattern.compile("public class (\\w+)");

  @TempDir static Path dir;
  private static Path repository;
  private static Path consumer;
  private static final Map<String, String> PROGRAMS = new LinkedHashMap<>();

  @BeforeAll
  @Timeout(value = 20, unit = TimeUnit.MINUTES) // that of the class is for its tests alone
  static void installAndBuild() throws Exception {
    Path sources = dir.resolve("sources");
    SourceCopy.into(sources);
    makeRepository();
    List<String> projects = new ArrayList<>(List.of(":talaria-bom"));
    for (String library : LIBRARIES.split(",")) {
      projects.add(":talaria-" + library);
    }
    Ended installed =
        maven(
            sources,
            "-Dmaven.test.skip=true",
            "-Dspotless.check.skip=true",
            "-pl",
            String.join(",", projects),
            "-am",
            "install");
    assertThat(installed.status()).as(installed.out()).isZero();
    Files.move(sources, dir.resolve("sources elsewhere")); // nothing may lead back to them
    String page =
        Files.readString(
            Path.of("").toAbsolutePath().getParent().getParent().resolve("docs/libraries.md"));
    writeConsumer(page);
    Ended built =
        maven(
            consumer,
            "compile",
            "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:build-classpath",
            "-Dmdep.outputFile=target/classpath");
    assertThat(built.status()).as(built.out()).isZero();
  }

  /** What is in the repository of this build, but for this project's own artifacts. */
  private static void makeRepository() throws IOException {
    Path full =
        Path.of(
            System.getProperty(
                "localRepository", System.getProperty("user.home") + "/.m2/repository"));
    repository = Files.createDirectories(dir.resolve("repository"));
    Files.createDirectories(repository.resolve("io"));
    linkAll(full, repository, "io");
    linkAll(full.resolve("io"), repository.resolve("io"), "talaria");
  }

  private static void linkAll(Path from, Path to, String without) throws IOException {
    try (Stream<Path> entries = Files.list(from)) {
      for (Path entry : entries.toList()) {
        String name = entry.getFileName().toString();
        if (!name.equals(without)) {
          Files.createSymbolicLink(to.resolve(name), entry);
        }
      }
    }
  }

  private static Ended maven(Path folder, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("mvn", "-B", "-o", "-q"));
    command.add("-Dmaven.repo.local=" + repository);
    command.addAll(List.of(words));
    return run(
        ChildProcess.command(command.toArray())
            .directory(folder)
            .environment("JAVA_HOME", System.getProperty("java.home")));
  }

  /** A project for each program, below one that builds them all. */
  private static void writeConsumer(String page) throws IOException {
    Matcher xml = POM.matcher(page);
    assertThat(xml.find()).isTrue();
    consumer = Files.createDirectories(dir.resolve("consumer"));
    Matcher program = PROGRAM.matcher(page);
    StringBuilder modules = new StringBuilder();
    while (program.find()) {
      String library = program.group(1);
      Matcher named = CLASS.matcher(program.group(2));
      String main = named.find() ? named.group(1) : "Program";
      PROGRAMS.put(library, main);
      modules.append("<module>").append(library).append("</module>");
      Path folder = Files.createDirectories(consumer.resolve(library));
      Path sources = Files.createDirectories(folder.resolve("src/main/java"));
      Files.writeString(sources.resolve(main + ".java"), program.group(2));
      String parent =
          "<parent><groupId>example</groupId><artifactId>all</artifactId><version>1</version></parent>";
      Files.writeString(
          folder.resolve("pom.xml"),
          project(
              parent
                  + "<artifactId>use-of-"
                  + library
                  + "</artifactId>"
                  + xml.group(1).replace("talaria-ucx", library)));
    }
    Files.writeString(
        consumer.resolve("pom.xml"),
        project(
            "<groupId>example</groupId><artifactId>all</artifactId><version>1</version>"
                + "<packaging>pom</packaging><modules>"
                + modules
                + "</modules><properties><maven.compiler.release>25</maven.compiler.release>"
                + "<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>"
                + "<build><plugins>"
                + plugin("maven-compiler-plugin", "3.16.0")
                + plugin("maven-resources-plugin", "3.5.0")
                + "</plugins></build>"));
  }

  private static String project(String content) {
    return "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>"
        + content
        + "</project>";
  }

  private static String plugin(String name, String version) {
    return "<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>"
        + name
        + "</artifactId><version>"
        + version
        + "</version></plugin>";
  }

  @TestFactory
  Stream<DynamicTest> eachProgramOfThePageRuns() {
    assertThat(PROGRAMS.keySet()).isEqualTo(PRINTS.keySet());
    return PROGRAMS.entrySet().stream()
        .map(one -> dynamicTest(one.getKey(), () -> runs(one.getKey(), one.getValue())));
  }

  private static void runs(String library, String main) throws Exception {
    Path target = consumer.resolve(library).resolve("target");
    String libraries = Files.readString(target.resolve("classpath")).strip();
    assertThat(libraries.split(File.pathSeparator))
        .anySatisfy(jar -> assertThat(jar).contains("/" + library + "-"))
        .allSatisfy(
            jar ->
                assertThat(Path.of(jar).getFileName().toString())
                    .matches("(?:talaria-|jctools-core-).*\\.jar"))
        .allSatisfy(jar -> assertThat(jar).startsWith(repository.toString()));
    Ended ended =
        run(
            ChildProcess.command(
                    ChildProcess.jdkProgram("java"),
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    target.resolve("classes") + File.pathSeparator + libraries,
                    main)
                .directory(dir));
    if (library.equals("talaria-ucx") && ended.out().contains("libucp")) {
      return; // UCX is not installed here, and that is what it says
    }
    assertThat(ended.status()).as(ended.out()).isZero();
    assertThat(ended.out()).containsPattern("(?m)^" + PRINTS.get(library) + "$");
  }

  @Test
  void eachHasSourcesAndJavadocAndTheToolsAreNotThere() throws IOException {
    Path group = repository.resolve("io/talaria");
    for (String library : LIBRARIES.split(",")) {
      List<String> files = below(group.resolve("talaria-" + library));
      assertThat(files)
          .as(library)
          .anyMatch(name -> name.matches("talaria-" + library + "-[0-9].*T\\.jar"))
          .anyMatch(name -> name.endsWith("-sources.jar"))
          .anyMatch(name -> name.endsWith("-javadoc.jar"));
    }
    try (Stream<Path> all = Files.list(group)) {
      assertThat(all.map(one -> one.getFileName().toString()))
          .contains("talaria-bom", "talaria-parent")
          .doesNotContain(
              "talaria-cli",
              "talaria-agent",
              "talaria-bench",
              "talaria-it",
              "talaria-mpj-examples");
    }
  }

  private static List<String> below(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
