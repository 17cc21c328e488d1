// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static io.talaria.cli.launcher.SourceCopy.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.talaria.cli.launcher.SourceCopy.Ended;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The release that {@code ./talaria package} makes of these sources, unpacked where there is a Java
 * and nothing else: no Maven, no sources, no network.
 */
@Tag("long")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ReleaseTest {
  @TempDir static Path dir;
  private static Path sources;
  private static Path release;

  @BeforeAll
  @Timeout(value = 20, unit = TimeUnit.MINUTES) // that of the class is for its tests alone
  static void makeAndUnpack() throws Exception {
    sources = dir.resolve("sources");
    SourceCopy.into(sources);
    Ended made =
        run(
            ChildProcess.command(sources.resolve("talaria"), "package")
                .environment("JAVA_HOME", System.getProperty("java.home")));
    assertThat(made.status()).as(made.out()).isZero();
    try (Stream<Path> files = Files.list(sources.resolve("dist"))) {
      Path archive =
          files
              .filter(file -> file.toString().endsWith(".tar.gz"))
              .findFirst()
              .orElseThrow(() -> new AssertionError("no archive"));
      Ended sums =
          run(
              ChildProcess.command("sha256sum", "-c", archive.getFileName() + ".sha256")
                  .directory(archive.getParent()));
      assertThat(sums.status()).as(sums.out()).isZero();
      Path unpacked = Files.createDirectory(dir.resolve("un packed"));
      Ended tar = run(ChildProcess.command("tar", "-xzf", archive, "-C", unpacked));
      assertThat(tar.status()).as(tar.out()).isZero();
      release = unpacked.resolve(archive.getFileName().toString().replace(".tar.gz", ""));
    }
    Files.move(sources, dir.resolve("sources elsewhere")); // nothing may lead back to them
  }

  /** A home of Java 17 or 25, or null. */
  private static Path java(String feature) throws IOException {
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    if (feature.equals("25")) {
      return own;
    }
    try (Stream<Path> beside = Files.list(own.getParent())) {
      for (Path home : beside.toList()) {
        Path about = home.resolve("release");
        if (Files.isRegularFile(about)
            && Files.readString(about).contains("JAVA_VERSION=\"" + feature + ".")) {
          return home;
        }
      }
    }
    return null;
  }

  /**
   * Runs the release's command without a network, and with nothing of a developer's on the path.
   */
  private static Ended talaria(String feature, String... words) throws Exception {
    return talaria(feature, List.of(), words);
  }

  private static Ended talaria(String feature, List<String> before, String... words)
      throws Exception {
    Path java = java(feature);
    assumeTrue(java != null, "no Java " + feature);
    List<String> command = new ArrayList<>();
    if (run(ChildProcess.command("unshare", "--net", "true")).status() == 0) {
      command.addAll(
          List.of("unshare", "--net", "sh", "-c", "ip link set lo up; exec \"$@\"", "talaria"));
    }
    command.addAll(before);
    command.add(release.resolve("bin/talaria").toString());
    command.addAll(List.of(words));
    return run(
        ChildProcess.command(command.toArray())
            .directory(dir)
            .withoutEnvironment(name -> true)
            .environment("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .environment("JAVA_HOME", java));
  }

  @ParameterizedTest
  @ValueSource(strings = {"17", "25"})
  void theLiveTableTheDoctorAndRunWork(String java) throws Exception {
    assertThat(talaria(java, "ss").status()).isZero();
    String doctor = talaria(java, "doctor").out();
    assertThat(doctor)
        .contains("agent  ", "talaria.jar, version ")
        .doesNotContain("JDK 17", "./talaria");
    if (java.equals("17")) {
      assertThat(doctor)
          .contains("building from the sources want Java 25")
          .contains("needs Java 25 or newer, and this is Java 17");
    }
    Ended run = talaria(java, "run", "--", "sh", "-c", "\"$JAVA_HOME/bin/java\" -version");
    assertThat(run.status()).as(run.out()).isZero();
    assertThat(run.out()).contains("-javaagent:");
  }

  /** Those that look at a host in need are not in need themselves. */
  @ParameterizedTest
  @ValueSource(strings = {"ss", "ss --nodes", "doctor --pid 1"})
  void whatLooksNeedsFewDescriptors(String command) throws Exception {
    for (String java : List.of("17", "25")) {
      if (java(java) == null) {
        continue;
      }
      String few = "ulimit -n 48; exec \"$@\"";
      Ended ended = talaria(java, List.of("sh", "-c", few, "few"), command.split(" "));
      assertThat(ended.out()).doesNotContain("Exception", "Error:", "cannot");
      assertThat(ended.status()).isEqualTo(command.startsWith("ss") ? 0 : 1);
      List<String> jar =
          List.of(java(java) + "/bin/java", "-jar", release.resolve("talaria.jar").toString());
      List<String> words = new ArrayList<>(List.of("sh", "-c", few, "few"));
      words.addAll(jar);
      words.addAll(List.of(command.split(" ")));
      Ended ofTheJar = run(ChildProcess.command(words.toArray()).directory(dir));
      assertThat(ofTheJar.out()).doesNotContain("Exception", "Error:");
    }
  }

  /** As {@code java -jar}: the commands that are beside it. */
  @ParameterizedTest
  @ValueSource(strings = {"17", "25"})
  void theAgentsJarRunsTheCommands(String feature) throws Exception {
    Path java = java(feature);
    assumeTrue(java != null, "no Java " + feature);
    Ended table = jar(java, "ss", "--json");
    assertThat(table.status()).as(table.out()).isZero();
    assertThat(table.out()).startsWith("{\"format\":\"talaria-ss-2\"");
    assertThat(jar(java, "doctor").out()).contains("agent  ", "talaria.jar, version ");
    assertThat(jar(java, "help", "doctor").out()).contains("--shm-dir");
    assertThat(jar(java, "help").out()).contains("-javaagent:talaria.jar");
    assertThat(jar(java, "ss", "--nonsense").status()).isEqualTo(2);
  }

  private static Ended jar(Path java, String... words) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(java.resolve("bin/java").toString());
    command.addAll(List.of("-jar", release.resolve("talaria.jar").toString()));
    command.addAll(List.of(words));
    return run(
        ChildProcess.command(command.toArray()).directory(dir).withoutEnvironment(name -> true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"17", "25"})
  void theDemoMeasuresBoth(String java) throws Exception {
    Ended demo =
        talaria(java, "demo", "--speed=40", "--no-pin", "--out", dir + "/demo" + java + ".svg");
    assertThat(demo.status()).as(demo.out()).isZero();
    assertThat(demo.out()).contains("16 B round trip, p50", "Picture: ");
  }

  @Test
  void messagePassingIsMeasured() throws Exception {
    String words = "bench mpj half --devices shm --against sockets --sizes 8 --quick --no-pin";
    Ended bench = talaria("25", words.split(" "));
    assertThat(bench.status()).as(bench.out()).isZero();
    assertThat(bench.out()).contains("half round trip, µs", "sockets: a SocketChannel");
  }

  @ParameterizedTest
  @CsvSource({"bench sockets --quick, bench", "observe x.json, observe", "mpirun -np 2 X, mpirun"})
  void whatNeedsANewerJavaSaysSo(String command, String name) throws Exception {
    Ended refused = talaria("17", command.split(" "));
    assertThat(refused.status()).isEqualTo(69);
    assertThat(refused.out()).contains(name + " needs Java 25 or newer").doesNotContain("\tat ");
  }

  @Test
  void helpVersionAndTyposAreTheRelease() throws Exception {
    Ended version = talaria("17", "--version");
    assertThat("talaria-" + version.out().strip().replace("talaria ", ""))
        .isEqualTo(release.getFileName().toString());
    assertThat(talaria("17", "--help").out()).startsWith("Usage: talaria COMMAND");
    assertThat(talaria("17", "hlep").out()).contains("did you mean help?");
  }

  @Test
  void theReadmeNamesWhatIsThere() throws Exception {
    String readme = Files.readString(release.resolve("README.md"));
    assertThat(ReleaseReadmeTest.files(readme))
        .isNotEmpty()
        .allSatisfy(file -> assertThat(release.resolve(file)).exists());
    for (String command : ReleaseReadmeTest.commands(readme)) {
      Ended help = talaria("25", command, "--help");
      assertThat(help.status()).as(help.out()).isZero();
      assertThat(help.out()).contains("Usage: ");
    }
  }

  @Test
  void whatIsInItIsListed() throws Exception {
    JsonNode bom = new ObjectMapper().readTree(release.resolve("sbom.json").toFile());
    assertThat(bom.get("bomFormat").asText()).isEqualTo("CycloneDX");
    List<String> listed = new ArrayList<>();
    bom.get("components")
        .forEach(one -> listed.add(one.get("name").asText() + "-" + one.get("version").asText()));
    try (Stream<Path> jars = Files.walk(release.resolve("lib"))) {
      assertThat(
              jars.filter(file -> file.toString().endsWith(".jar"))
                  .map(jar -> jar.getFileName().toString().replace(".jar", ""))
                  .filter(jar -> !jar.startsWith("talaria-")))
          .allSatisfy(jar -> assertThat(listed).anySatisfy(one -> assertThat(jar).startsWith(one)));
    }
    Ended sums =
        run(ChildProcess.command("sha256sum", "-c", "--quiet", "SHA256SUMS").directory(release));
    assertThat(sums.status()).as(sums.out()).isZero();
  }
}
