// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.run.Invocation;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands end to end, with tiny numbers. */
class KvsCommandsTest {
  @TempDir private Path folder;

  private static Invocation bench(String... args) {
    return Invocation.of(new BenchKvsCommand(), args);
  }

  @Test
  void benchComparesBothRoadsAndExports() throws Exception {
    Path export = folder.resolve("figures.txt");
    Invocation bench =
        bench(
            "-w",
            "a",
            "-n",
            "40",
            "-o",
            "200",
            "-t",
            "2",
            "--warm-up",
            "0",
            "--no-pin",
            "-e",
            export.toString());
    assertThat(bench.err()).doesNotContain("NOT ACCELERATED");
    assertThat(bench.status()).as(bench.err()).isZero();
    assertThat(bench.out())
        .contains("load, insert", "run, read", "run, update")
        .contains("Connections on Talaria, load: 4 shm (same-host)")
        .contains("Connections on Talaria, run: 4 shm (same-host)");
    assertThat(Files.readString(folder.resolve("figures-jdk-run.txt")))
        .contains("[OVERALL], Throughput(ops/sec)", "[READ], 99thPercentileLatency(us)");
    assertThat(Files.readString(folder.resolve("figures-talaria-load.txt")))
        .contains("[INSERT], Operations, 40");
    assertThat(folder.resolve("figures-talaria-run-READ.hdr")).isNotEmptyFile();
  }

  @Test
  void benchScansAndWritesATimeSeries() throws Exception {
    Path export = folder.resolve("series.txt");
    Invocation bench =
        bench(
            "--plain",
            "-w",
            "e",
            "-n",
            "50",
            "-o",
            "60",
            "--warm-up",
            "0",
            "--servers",
            "1",
            "--no-pin",
            "--series",
            "1",
            "-e",
            export.toString());
    assertThat(bench.status()).as(bench.err()).isZero();
    assertThat(bench.out()).contains("run, scan").doesNotContain("Talaria:");
    assertThat(Files.readString(folder.resolve("series-jdk-run.txt")))
        .containsPattern("\\[SCAN\\], \\d+, \\d");
  }

  @Test
  @SuppressWarnings("try") // Closed in the middle, too.
  void benchTellsThatTheServerHasGone() throws Exception {
    try (KvsServer server =
        new KvsServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      AtomicBoolean running = new AtomicBoolean();
      Invocation bench =
          Invocation.watched(
              new BenchKvsCommand(),
              line -> {
                if (line.contains("run, ") && running.compareAndSet(false, true)) {
                  server.close();
                }
              },
              "--plain",
              "--remote",
              "127.0.0.1:" + server.port(),
              "-n",
              "20",
              "-o",
              "100000000",
              "--warm-up",
              "0",
              "--live",
              "--no-pin");
      assertThat(running).isTrue();
      assertThat(bench.status()).isEqualTo(1);
      assertThat(bench.err())
          .contains("JDK: run: ", "operations failed; the first one: 127.0.0.1:", "not answer");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-w nosuch            | no workload 'nosuch': it is neither one of a to f nor a file",
        "-p walk              | --phase is load, run or both, not 'walk'",
        "-p run               | --phase run needs servers that have been loaded",
        "-t 0                 | --threads must be from 1 to 512, not 0",
        "--series 5           | --series needs --export FILE",
        "--set recordcount=x  | recordcount=x is no whole number from 1 to 2147483647",
        "--set readproportion=7 | readproportion=7 is no number from 0 to 1",
        "--set readproportion=0 | the proportions of all operations are 0",
        "--set requestdistribution=odd | YCSB refuses the workload",
        "--set workload=Other | workload=Other: there is only CoreWorkload here",
        "--fields 10000 --field-length 1K | does not fit into a message of gRPC's",
        "--server --remote a  | --server does not go with --remote",
        "--remote :5          | --remote needs a host"
      })
  void benchRefusesWrongOptions(String args, String message) {
    Invocation bench = bench(args.strip().split(" "));
    assertThat(bench.status()).isEqualTo(2);
    assertThat(bench.err()).contains(message);
  }

  @Test
  void benchReadsAWorkloadOfTheUser() throws Exception {
    Path file = folder.resolve("mine");
    Files.writeString(file, "recordcount=10\noperationcount=10\nreadproportion=x\n");
    Invocation bench = bench("-w", file.toString());
    assertThat(bench.status()).isEqualTo(2);
    assertThat(bench.err()).contains("--workload: readproportion=x is no number from 0 to 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--plain"})
  void shellWorksOnBothRoads(String road) {
    Invocation shell = shell("insert 1 a=b\nget 1\n", road);
    assertThat(shell.err()).isEmpty();
    assertThat(shell.out()).isEqualTo("inserted\na=b\n");
    assertThat(shell.status()).isZero();
  }

  @Test
  void shellFailsIfALineDoes() {
    Invocation shell = shell("get 1\nquit\ninsert 1 a=b\n", "--plain");
    assertThat(shell.err()).isEqualTo("error: there is no record '1'\n");
    assertThat(shell.out()).isEmpty();
    assertThat(shell.status()).isEqualTo(1);
  }

  private static Invocation shell(String lines, String road) {
    InputStream in = System.in;
    System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    try {
      return road.isEmpty()
          ? Invocation.of(new KvsCommand())
          : Invocation.of(new KvsCommand(), road);
    } finally {
      System.setIn(in);
    }
  }
}
