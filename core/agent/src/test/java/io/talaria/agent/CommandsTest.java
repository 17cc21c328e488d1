// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

  private record Ended(int status, String out) {}

  static List<String> javas() {
    return Child.javas();
  }

  @BeforeEach
  void copyTheJarAlone() throws Exception {
    jar = Files.copy(Path.of(Child.AGENT), dir.resolve("talaria.jar"));
  }

  private ProcessBuilder builder(String java, String... words) {
    List<String> command = new ArrayList<>(List.of(java, "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-jar", jar.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    return builder;
  }

  private Ended run(String java, String... words) throws Exception {
    Process process = builder(java, words).start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ended: %s", out).isTrue();
    return new Ended(process.exitValue(), out);
  }

  @ParameterizedTest
  @MethodSource("javas")
  void helpTellsHowToSwitchItOn(String java) throws Exception {
    Ended help = run(java, "help");
    assertThat(help.status()).isZero();
    assertThat(help.out()).contains("-javaagent:talaria.jar", "talaria.jar ss", "doctor");
    Ended nothing = run(java);
    assertThat(nothing.status()).isEqualTo(2);
    assertThat(nothing.out()).isEqualTo(help.out());
  }

  @ParameterizedTest
  @MethodSource("javas")
  void theTableShowsAProcess(String java) throws Exception {
    Path run = dir.resolve("run");
    Ended none = run(java, "ss", "--dir", run.toString());
    assertThat(none.out().strip()).isEqualTo("no process with Talaria is found in " + run);
    assertThat(none.status()).isZero();

    ProcessBuilder builder =
        new ProcessBuilder(
                java,
                "-javaagent:" + jar,
                "-Dtalaria.dir=" + run,
                "-Dtalaria.shm.dir=" + dir.resolve("shm"),
                "-cp",
                System.getProperty("talaria.test.classes"),
                ListenerMain.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    Process listener = builder.start();
    try {
      String port =
          new String(listener.getInputStream().readNBytes(5), StandardCharsets.UTF_8); // padded
      String row = row(java, run, port);
      assertThat(row.split(" {2,}"))
          .startsWith(Long.toString(listener.pid()), "ListenerMain", "listener")
          .contains("127.0.0.1:" + port.strip(), "shm", "announced");
    } finally {
      listener.destroyForcibly().waitFor();
    }
  }

  /** The listener's line, once it has been announced. */
  private String row(String java, Path run, String port) throws Exception {
    for (int i = 0; ; i++) {
      Ended table = run(java, "ss", "--dir", run.toString());
      assertThat(table.status()).as(table.out()).isZero();
      String row =
          Stream.of(table.out().split("\n"))
              .filter(line -> line.contains(":" + port.strip() + " "))
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
    Ended doctor = run(java, "doctor");
    assertThat(doctor.status()).isEqualTo(69);
    assertThat(doctor.out()).contains("doctor needs the folder lib of the release beside " + jar);
    Ended demo = run(java, "demo");
    assertThat(demo.status()).isEqualTo(2);
    assertThat(demo.out()).contains("ss, doctor and help; bin/talaria of the release");
    Ended option = run(java, "ss", "--watch");
    assertThat(option.status()).isEqualTo(2);
    assertThat(option.out()).contains("has the options --dir DIR and --help, not --watch");
  }
}
