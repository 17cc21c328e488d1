// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsReaderTest {
  @TempDir private Path folder;

  private Path write(String run, Row... rows) throws Exception {
    ResultLine.Environment environment = Rows.environment(run, "there, \"far\"");
    Comparison found = new Comparison(List.of());
    for (Row row : rows) {
      String id = row.measured().id();
      row.timed().forEach((timed, times) -> found.addTimes(timed, "", row.implementation(), times));
      ResultLine line = ResultLine.of(environment, row);
      found.addRun(id, "", row.implementation(), true, line);
    }
    found.addMissing(
        new Comparison.Missing("x", rows[0].implementation(), 1, "it has died\nof old age"));
    ResultsReader.Options options =
        new ResultsReader.Options("a plan", run, "host", "there, \"far\"", List.of("Ended    so"));
    Path file = folder.resolve(run + ".json");
    Json.write(file, found.result(ResultsReader.FORMAT, environment.machine(), options.byName()));
    return file;
  }

  private static Row allToAll() {
    return new Row(
        new LinkImplementation(BindingKind.NET, SocketTransport.TCP),
        new Case(Pattern.ALL_TO_ALL, 3, 1, 16, 0, 100),
        1,
        "",
        300,
        600,
        List.of(1_000_000L, 2_000_000L, 1_500_000L),
        null,
        null,
        -1,
        -1);
  }

  @Test
  void whatWasWrittenIsReadBack() throws Exception {
    Row closed = Rows.roundTrips(SocketTransport.TCP, 16, 1, 0);
    Row open = Rows.roundTrips(SocketTransport.SHM, 16, 1, 500);
    write("first", Rows.throughput(SocketTransport.SHM, 64, 2, 1), closed, open);
    write("second", allToAll());
    Files.writeString(folder.resolve("plan.json"), "{\"name\": \"x\"}");
    Files.writeString(folder.resolve("broken.json"), "{");
    Files.writeString(folder.resolve("other.json"), "{\"format\": \"talaria-bench-ucx-4\"}");
    List<Results> runs = ResultsReader.read(folder);
    assertThat(runs).extracting(Results::name).containsExactlyInAnyOrder("first", "second");
    Results first = runs.stream().filter(run -> run.name().equals("first")).findAny().orElseThrow();
    assertThat(first.conditions()).contains("Server   there, \"far\"").endsWith("Ended    so");
    assertThat(first.failures()).containsExactly("nio shm, it has died");
    List<Row> rows = first.rows();
    assertThat(rows.get(0).transports()).isEqualTo("1 shm (same-host), \"quoted\"");
    assertThat(rows.get(0).messagesPerSecond()).isEqualTo(1_010 * 1e9 / 1_000_000);
    assertThat(rows.get(1).times()).isEqualTo(closed.times());
    assertThat(rows.get(1).sinceDue()).isNull();
    assertThat(rows.get(2).sinceDue()).isEqualTo(open.sinceDue());
    assertThat(rows.get(2).sinceBegun()).isEqualTo(open.sinceBegun());
    runs.stream().filter(run -> run.name().equals("second")).forEach(this::checkAllToAll);
  }

  private void checkAllToAll(Results run) {
    Row many = run.rows().getFirst();
    assertThat(many.slowestMessagesPerSecond()).isEqualTo(100_000);
    assertThat(many.fastestMessagesPerSecond()).isEqualTo(200_000);
  }

  @Test
  void timesThatAreGoneAreNamed() throws Exception {
    Path file =
        write(
            "first",
            Rows.throughput(SocketTransport.SHM, 64, 2, 1),
            Rows.roundTrips(SocketTransport.TCP, 16, 1, 0));
    Files.writeString(file, Files.readString(file).replace("\"times\"", "\"lost\""));
    Results run = ResultsReader.read(folder).getFirst();
    assertThat(run.rows()).hasSize(1);
    assertThat(run.failures())
        .contains("nio tcp, pingpong, 16 B, 1 connection: " + file + " does not hold its times");
  }

  @Test
  void aFileThatMakesNoSenseIsNamedWithItsPlace() throws Exception {
    Path file = write("first", Rows.throughput(SocketTransport.SHM, 64, 2, 1));
    String text = Files.readString(file);
    Files.writeString(file, text.replace("\"binding\" : \"nio\"", "\"binding\" : \"pigeon\""));
    refused(file + ": runs[0]: binding is 'pigeon'; it must be one of net, nio,");
    Files.writeString(file, text.replace("\"size_bytes\" : 64", "\"size_bytes\" : \"many\""));
    refused("runs[0]: size_bytes is 'many'; it must be a whole number");
    Files.writeString(file, text.replaceFirst("\"elapsed_s\" : [^,]*,", ""));
    refused("runs[0] holds no figures, such as an elapsed_s above 0");
  }

  @Test
  void resultsOfEarlierVersionsAreRefused() throws Exception {
    Path file = write("first", Rows.throughput(SocketTransport.SHM, 64, 2, 1));
    Files.writeString(
        file, Files.readString(file).replace(ResultsReader.FORMAT, "talaria-observe-2"));
    refused(
        file
            + " has the format talaria-observe-2; this version reads talaria-observe-3: measure"
            + " again");
    Files.delete(file);
    refused(folder + " holds no results; name the folder of an earlier run, its --out");
    Files.writeString(folder.resolve(CsvFile.NAME), "run,time\n");
    refused(folder + " holds no results but the table results.csv, which is not read");
    Path none = folder.resolve("none");
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> ResultsReader.read(none))
        .withMessage(none + " cannot be read: no such file or folder");
  }

  private void refused(String why) {
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> ResultsReader.read(folder))
        .withMessageContaining(why);
  }
}
