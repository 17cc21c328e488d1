// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code java -jar talaria.jar} where there is nothing but the jar, on every JDK that is here. */
@Timeout(180)
class CommandsTest {
  @TempDir Path dir;
  private Path jar;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  static List<String> javas() {
    return Child.javas();
  }

  @BeforeEach
  void copyTheJarAlone() throws Exception {
    jar = Files.copy(Path.of(Child.AGENT), dir.resolve("talaria.jar"));
  }

  private ChildProcess run(String java, String... words) throws Exception {
    return ChildProcess.command((Object[]) words)
        .under(java, "-XX:TieredStopAtLevel=1", "-jar", jar.toString())
        .oneOutput()
        .run(LIMIT);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void helpTellsHowToSwitchItOn(String java) throws Exception {
    ChildProcess help = run(java, "help");
    assertThat(help.exitStatus()).isZero();
    assertThat(help.output()).contains("-javaagent:talaria.jar", "talaria.jar ss", "doctor");
    ChildProcess nothing = run(java);
    assertThat(nothing.exitStatus()).isEqualTo(2);
    assertThat(nothing.output()).isEqualTo(help.output());
  }

  @ParameterizedTest
  @MethodSource("javas")
  void theTableShowsAProcess(String java) throws Exception {
    Path run = dir.resolve("run");
    ChildProcess none = run(java, "ss", "--dir", run.toString());
    assertThat(none.output().strip()).isEqualTo("no process with Talaria is found in " + run);
    assertThat(none.exitStatus()).isZero();

    try (ChildProcess listener =
        ChildProcess.jvm(ListenerMain.class)
            .java(java)
            .options("-javaagent:" + jar)
            .options("-Dtalaria.dir=" + run, "-Dtalaria.shm.dir=" + dir.resolve("shm"))
            .classPath(System.getProperty("talaria.test.classes"))
            .start()) {
      String port = listener.awaitLine("\\d+", LIMIT).group();
      String row = row(java, run, port);
      assertThat(row.split(" {2,}"))
          .startsWith(Long.toString(listener.pid()), "ListenerMain", "listener")
          .contains("127.0.0.1:" + port, "shm", "announced");
    }
  }

  /** The listener's line, once it has been announced. */
  private String row(String java, Path run, String port) throws Exception {
    for (int i = 0; ; i++) {
      ChildProcess table = run(java, "ss", "--dir", run.toString());
      assertThat(table.exitStatus()).as(table.output()).isZero();
      String row =
          Stream.of(table.output().split("\n"))
              .filter(line -> line.contains(":" + port + " "))
              .findFirst()
              .orElse("");
      if (row.contains("announced") || i == 20) {
        return row;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("javas")
  void whatItDoesNotHaveIsSaid(String java) throws Exception {
    ChildProcess doctor = run(java, "doctor");
    assertThat(doctor.exitStatus()).isEqualTo(69);
    assertThat(doctor.output())
        .contains("doctor needs the folder lib of the release beside " + jar);
    ChildProcess demo = run(java, "demo");
    assertThat(demo.exitStatus()).isEqualTo(2);
    assertThat(demo.output()).contains("ss, doctor and help; bin/talaria of the release");
    ChildProcess option = run(java, "ss", "--watch");
    assertThat(option.exitStatus()).isEqualTo(2);
    assertThat(option.output()).contains("has the options --dir DIR and --help, not --watch");
  }

  /** The jar there is not that of the commands; its missing class shows that it is looked at. */
  @ParameterizedTest
  @MethodSource("javas")
  void inATreeItLooksForTheCommandsWhereTheBuildPutsThem(String java) throws Exception {
    String module = "tools/cli";
    Path tree = Path.of("").toAbsolutePath().getParent().getParent();
    assertThat(tree.resolve(module).resolve("pom.xml")).exists();
    Path target = Files.createDirectories(dir.resolve(module).resolve("target"));
    Files.copy(jar, target.resolve("talaria-cli.jar"));
    jar = Files.move(jar, Files.createDirectories(dir.resolve("dist")).resolve("talaria.jar"));

    ChildProcess doctor = run(java, "doctor");

    assertThat(doctor.output())
        .contains("ClassNotFoundException: io.talaria.cli.Main")
        .doesNotContain("folder lib");
  }
}
