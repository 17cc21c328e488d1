// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.workloads.TalariaCommand;
import io.talaria.workloads.TalariaCommand.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands end to end, with tiny numbers. */
class KvsCommandsTest {
  @TempDir private Path folder;

  private static Ended bench(String args) {
    return TalariaCommand.run(("bench kvs " + args.strip()).split(" +", -1));
  }

  @Test
  void benchComparesBothTransportsAndExports() throws Exception {
    Path export = folder.resolve("figures.txt");
    Ended bench = bench("-w a -n 40 -o 200 -t 2 --warm-up 0 --no-pin --iterations 1 -e " + export);
    assertThat(bench.well().out())
        .contains("load, insert", "run, read", "run, update")
        .contains("Connections on Talaria, load; run: 4 shm (same-host)")
        .contains("Compilers were still busy", "run on JDK", "run on Talaria");
    assertThat(Files.readString(folder.resolve("figures-jdk-run.txt")))
        .contains("[OVERALL], Throughput(ops/sec)", "[READ], 99thPercentileLatency(us)");
    assertThat(Files.readString(folder.resolve("figures-talaria-load.txt")))
        .contains("[INSERT], Operations, 40");
    assertThat(folder.resolve("figures-talaria-run-READ.hdr")).isNotEmptyFile();
  }

  @Test
  void benchScansInIterationsAndWritesATimeSeriesOfEach() throws Exception {
    Path json = folder.resolve("kvs.json");
    String options =
        "--transport=tcp -w e -n 50 -o 60 --warm-up 0 --iterations 2 --servers 1 --no-pin --series 1";
    Ended bench = bench(options + " -e " + folder.resolve("series.txt") + " --json " + json);
    assertThat(bench.well().out()).contains("run, scan", " – ").doesNotContain("Talaria:");
    assertThat(bench.err()).contains("load, JDK, iteration 1 of 2", "run, JDK, iteration 2 of 2");
    for (int iteration : new int[] {1, 2}) {
      assertThat(Files.readString(folder.resolve("series-jdk-" + iteration + "-run.txt")))
          .containsPattern("\\[SCAN\\], \\d+, \\d");
    }
    JsonNode read = Json.parse(Files.readString(json));
    assertThat(read.path("format").asText()).isEqualTo("talaria-bench-kvs-2");
    assertThat(read.path("options").path("workload").path("recordcount").asText()).isEqualTo("50");
    assertThat(read.path("measures").get(0).path("id").asText()).isEqualTo("load/rate");
    assertThat(read.path("measures").get(0).path("jdk").path("iterations").asInt()).isEqualTo(2);
    assertThat(read.path("runs")).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-w nosuch            | no workload 'nosuch': it is neither one of a to f nor a file",
        "-p walk              | --phase is load, run or both, not 'walk'",
        "-p run               | --phase run needs servers that have been loaded",
        "--iterations 0           | --iterations must be from 1 to 100, not 0",
        "--quick --warm-up 1  | --warm-up does not go with --quick",
        "--json /nowhere/x    | --json: there is no folder /nowhere",
        "-p load --iterations 2 -r x | --iterations: what is inserted stays in the servers of --remote",
        "-w d --iterations 2 -r x | --iterations: what is inserted stays in the servers of --remote",
        "--set readpropotion=1 | --set: there is no property 'readpropotion'; the nearest: readproportion",
        "-t 0                 | --threads must be from 1 to 512, not 0",
        "--series 5           | --series needs --export FILE",
        "--set recordcount=x  | recordcount=x is no whole number from 1 to 2147483647",
        "--set readproportion=7 | readproportion=7 is no number from 0 to 1",
        "--set readproportion=0 | the proportions of all operations are 0",
        "--set requestdistribution=odd | YCSB refuses the workload",
        "--set workload=Other | workload=Other: there is only CoreWorkload here",
        "--fields 10000 --field-length 1K | does not fit into a message of gRPC's",
        "--listen --remote a  | --listen does not go with --remote",
        "--remote :5          | --remote needs a host"
      })
  void benchRefusesWrongOptions(String args, String message) {
    bench(args).failed(2, message);
  }

  @Test
  void anExportThatCannotBeWrittenIsRefusedBeforeAnythingIsMeasured() throws Exception {
    Path closed = Files.createDirectory(folder.resolve("closed"));
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-xr-xr-x"));
    assumeFalse(Files.isWritable(closed), "this user may write everything");
    bench("--quick -e " + closed.resolve("x.txt"))
        .failed(2, "--export: no permission to write in " + closed);
  }

  @Test
  void benchReadsAWorkloadOfTheUser() throws Exception {
    Path file = folder.resolve("mine");
    Files.writeString(file, "recordcount=10\noperationcount=10\nkvs.own=1\nreadproportion=x\n");
    bench("-w " + file).failed(2, "--workload: readproportion=x is no number from 0 to 1");
    Files.writeString(file, "zookeeper.connectString=a:1\n");
    bench("-w " + file).failed(2, "--workload: there is no property 'zookeeper.connectString'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--transport=tcp"})
  void shellWorksOnBothTransports(String transport) {
    Ended shell = shell("insert 1 a=b\nget 1\n", transport).well();
    assertThat(shell.err()).isEmpty();
    assertThat(shell.out()).isEqualTo("inserted\na=b\n");
  }

  @Test
  void shellFailsIfALineDoes() {
    Ended shell = shell("get 1\nquit\ninsert 1 a=b\n", "--transport=tcp");
    assertThat(shell.err()).isEqualTo("error: there is no record '1'\n");
    assertThat(shell.out()).isEmpty();
    assertThat(shell.status()).isEqualTo(1);
  }

  @Test
  void shellRefusesALineThatIsTooLongAndGoesOn() {
    String tooLong = "insert 1 a=" + "x".repeat(21_000_000);
    Ended shell = shell("insert 1 a=b\n" + tooLong + "\nget 1\n", "--transport=tcp");
    assertThat(shell.err()).isEqualTo("error: a line has at most 8,388,608 characters\n");
    assertThat(shell.out()).isEqualTo("inserted\na=b\n");
    assertThat(shell.status()).isEqualTo(1);
  }

  private static Ended shell(String lines, String transport) {
    return TalariaCommand.runWith(lines, ("example kvs " + transport).strip().split(" ", -1));
  }
}
