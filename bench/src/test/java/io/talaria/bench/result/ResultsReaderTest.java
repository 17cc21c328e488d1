// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsReaderTest {
  @TempDir private Path folder;

  private void write(String run, Row... rows) throws Exception {
    CsvFile csv = CsvFile.open(folder.resolve(CsvFile.NAME));
    ResultLine.Environment environment = Rows.environment(run, "there, \"far\"");
    HistogramLog log = new HistogramLog(folder.resolve(run + ".hlog"), "test");
    for (Row row : rows) {
      csv.append(ResultLine.of(environment, row));
      log.append(row);
    }
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
    List<Results> runs = ResultsReader.read(folder);
    assertThat(runs).extracting(Results::name).containsExactly("first", "second");
    assertThat(runs.getFirst().conditions()).contains("Server   there, \"far\"");
    List<Row> rows = runs.getFirst().rows();
    assertThat(rows.get(0).transports()).isEqualTo("1 shm (same-host), \"quoted\"");
    assertThat(rows.get(0).messagesPerSecond()).isEqualTo(1_010 * 1e9 / 1_000_000);
    assertThat(rows.get(1).times()).isEqualTo(closed.times());
    assertThat(rows.get(1).sinceDue()).isNull();
    assertThat(rows.get(2).sinceDue()).isEqualTo(open.sinceDue());
    assertThat(rows.get(2).sinceBegun()).isEqualTo(open.sinceBegun());
    Row many = runs.get(1).rows().getFirst();
    assertThat(many.slowestMessagesPerSecond()).isEqualTo(100_000);
    assertThat(many.fastestMessagesPerSecond()).isEqualTo(200_000);
  }

  @Test
  void timesWhoseHistogramsAreGoneAreNamed() throws Exception {
    write(
        "first",
        Rows.throughput(SocketTransport.SHM, 64, 2, 1),
        Rows.roundTrips(SocketTransport.TCP, 16, 1, 0));
    Files.delete(folder.resolve("first.hlog"));
    Results run = ResultsReader.read(folder).getFirst();
    assertThat(run.rows()).hasSize(1);
    assertThat(run.failures())
        .containsExactly(
            "nio tcp, pingpong, 16 B, 1 connection: first.hlog does not hold its times");
  }

  @Test
  void aFileThatMakesNoSenseIsNamedWithItsPlace() throws Exception {
    write("first", Rows.throughput(SocketTransport.SHM, 64, 2, 1));
    Path table = folder.resolve(CsvFile.NAME);
    String text = Files.readString(table);
    Files.writeString(table, text.replace(",nio,", ",carrier-pigeon,"));
    refused("results.csv, row 2: binding is 'carrier-pigeon'; it must be one of net, nio,");
    Files.writeString(table, text.replace(",64,", ",many,"));
    refused("row 2: size_bytes is 'many'; it must be a whole number");
    Files.writeString(table, text + "a,b\n");
    refused("row 3: ");
    Files.writeString(table, text.lines().findFirst().orElseThrow() + "\n");
    refused("holds no results");
    Files.delete(table);
    refused("there is no such file; name the folder of an earlier run");
  }

  private void refused(String why) {
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> ResultsReader.read(folder))
        .withMessageContaining(why);
  }
}
