// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.compare.Launch;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pinning;
import io.talaria.testsupport.ChildProcess;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchSocketsCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return new CommandLine(new BenchSocketsCommand())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .setExecutionExceptionHandler(
            (e, command, result) -> {
              command.getErr().println(e.getMessage());
              return CommandLine.ExitCode.SOFTWARE;
            })
        .execute(args);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--patterns=fast        | 'fast' is no pattern; there are: blocking, selectNow, select",
        "--sizes=0              | '0' is no size; use a number of bytes from 1 to 16M",
        "--sizes=17M            | '17M' is no size",
        "--sizes=many           | 'many' is no size",
        "--connections=0        | --connections must be from 1 to 10,000, not 0",
        "--many-connections=1   | --many-connections must be from 2 to 10,000, not 1",
        "--idle-connections=-1  | --idle-connections must be from 1 to 10,000, not -1",
        "--scale-connections=1  | --scale-connections must be from 2 to 20,000, not 1",
        "--iterations=0             | --iterations must be from 1 to 100, not 0",
        "--seconds=NaN          | --seconds must be from 0.01 to 600, not NaN",
        "--quick --seconds=3    | --seconds does not go with --quick",
        "--busy=-1              | --busy must be from 0 to 1,024, not -1",
        "--quick --warm-up=3    | --warm-up does not go with --quick",
        "--transport=verbs      | --transport: 'verbs' is no transport; there are: tcp, shm, ucx",
        "--transport=tcp,shm    | --transport: tcp means no Talaria, and stands alone",
        "--binding=jni --transport=ucx | --binding: 'jni' is no binding; there are: ffm, jucx",
        "--binding=ffm          | --binding goes with --transport ucx",
        "--binding=jucx --transport=ucx | --binding jucx and --jucx FILE go together",
        "--java=/nowhere        | --java: there is no /nowhere/bin/java",
        "--csv=/nowhere/x.csv   | --csv: there is no folder /nowhere",
        "surplus                | Unmatched argument",
      })
  void wrongUsageIsToldWithTheAllowedValues(String args, String message) {
    assertThat(run(args.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"ucx | true", "ucx,shm | true", "shm | false", "shm,ucx | false"})
  void theFirstTransportSaysWhichTargetsThereAre(String transports, boolean ucx) {
    Pinning none = new Pinning(Pinning.NONE, Pinning.NONE, "a test");
    Launch launch = new Launch(Implementation.TALARIA, null, transports, List.of(), none);
    assertThat(BenchSocketsCommand.prefersUcx(launch)).isEqualTo(ucx);
  }

  @Test
  void aMissingAgentIsAClearError() {
    assertThat(run("--quick", "--agent", "/nowhere/x.jar")).isEqualTo(1);
    assertThat(err.toString()).contains("no agent: /nowhere/x.jar is not a file");
  }

  /** The same words are wrong there, and its exit status is this one's. */
  @Test
  void anotherJavaRunsTheWholeCommand() {
    String home = System.getProperty("java.home");
    assertThat(run("--java", home, "--quick", "--seconds=3")).isEqualTo(2);
    assertThat(err.toString()).isEmpty(); // it has said so itself, there
    assertThat(run("--help", "--java=" + home)).isZero();
  }

  @Test
  void anotherJavaEndsWithThisOne(@TempDir Path home) throws Exception {
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\necho $$\nexec sleep 600\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
    try (ChildProcess bench = ChildProcess.jvm(SocketsMain.class, "--java", home).start()) {
      long id = Long.parseLong(bench.awaitLine("\\d+", Duration.ofMinutes(1)).group());
      ProcessHandle other = ProcessHandle.of(id).orElseThrow();
      try {
        bench.signal("TERM");
        assertThat(bench.awaitEnd(Duration.ofSeconds(30))).isEqualTo(128 + 15);
        assertThat(other.isAlive()).isFalse();
      } finally {
        other.destroyForcibly();
      }
    }
  }

  @Test
  void helpShowsExamples() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("Examples:", "talaria bench sockets --quick");
  }
}
