// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CsvFileTest {
  @TempDir private Path folder;

  private static void append(Path file, Row row) throws HarnessException {
    CsvFile.open(file).append(ResultLine.of(Rows.environment("run-1", "there"), row));
  }

  @Test
  void rowsAreAppendedBelowOneHeader() throws Exception {
    Path file = folder.resolve("results.csv");
    append(file, Rows.throughput(SocketTransport.SHM, 16, 1, 1));
    append(file, Rows.roundTrips(SocketTransport.TCP, 16, 2, 100));
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(3);
    List<String> header = cells(lines.get(0));
    assertThat(header).startsWith("run", "time", "host").endsWith("infiniband_bytes", "histogram");
    List<String> first = cells(lines.get(1));
    List<String> second = cells(lines.get(2));
    assertThat(first).hasSameSizeAs(header);
    assertThat(second).hasSameSizeAs(header);
    assertThat(first.get(header.indexOf("transports_taken")))
        .isEqualTo("1 shm (same-host), \"quoted\"");
    assertThat(first.get(header.indexOf("p50_ns"))).isEmpty();
    assertThat(first.get(header.indexOf("messages_per_s"))).isEqualTo("1010000.0");
    assertThat(first.get(header.indexOf("interface_bytes"))).isEqualTo("32320");
    assertThat(first.get(header.indexOf("infiniband_bytes"))).isEmpty();
    assertThat(first.get(header.indexOf("talaria"))).isEqualTo("1.0");
    // Of the open loop the first columns are from when operations were due.
    assertThat(Double.parseDouble(second.get(header.indexOf("p50_ns")))).isBetween(9.9e5, 1.01e6);
    assertThat(Double.parseDouble(second.get(header.indexOf("begun_p50_ns"))))
        .isBetween(4.9e5, 5.1e5);
    assertThat(second.get(header.indexOf("histogram")))
        .isEqualTo("pingpong/16B/2p/2c/100r.nio_tcp.1");
  }

  @Test
  void aFileWithOtherColumnsIsLeftAlone() throws Exception {
    Path file = Files.writeString(folder.resolve("results.csv"), "a,b\n1,2\n");
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> CsvFile.open(file))
        .withMessageContaining("has other columns");
    assertThat(file).hasContent("a,b\n1,2\n");
  }

  @Test
  void aFileThatIsNoTableIsLeftAlone() throws Exception {
    Path file = Files.write(folder.resolve("results.csv"), new byte[] {(byte) 0xff, 0, 1});
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> CsvFile.open(file))
        .withMessageContaining("has other columns");
    assertThat(file).hasSize(3);
  }

  /** Another row would become one with what is there of the last. */
  @Test
  void aFileThatEndsWithinARowIsLeftAlone() throws Exception {
    Path file = folder.resolve("results.csv");
    append(file, Rows.throughput(SocketTransport.SHM, 16, 1, 1));
    String cut = Files.readString(file).stripTrailing();
    Files.writeString(file, cut);
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> CsvFile.open(file))
        .withMessage(file + " ends in the middle of a row; mend it, or name another folder, --out");
    assertThat(file).content().isEqualTo(cut);
  }

  private static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
        cell.append('"');
        i++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.add(cell.toString());
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    cells.add(cell.toString());
    return cells;
  }
}
