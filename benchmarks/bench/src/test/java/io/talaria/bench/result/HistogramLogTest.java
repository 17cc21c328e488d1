// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.talaria.bench.plan.SocketTransport;
import io.talaria.cli.harness.HarnessException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistogramLogTest {
  @Test
  void whatIsWrittenCanBeRead(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("run.hlog");
    Row row = Rows.roundTrips(SocketTransport.TCP, 16, 1, 100);
    HistogramLog log = new HistogramLog(file, "a test");
    log.append(row);
    log.append(Rows.throughput(SocketTransport.TCP, 16, 1, 1));
    Map<String, Histogram> read = new TreeMap<>();
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      while (reader.hasNext()) {
        Histogram histogram = (Histogram) reader.nextIntervalHistogram();
        read.put(histogram.getTag(), histogram);
      }
    }
    String begun = "pingpong/16B/2p/1c/100r/begun.nio_tcp.1";
    assertThat(read).containsOnlyKeys(row.tag(), begun);
    assertThat(read.get(row.tag())).isEqualTo(row.sinceDue());
    assertThat(read.get(begun)).isEqualTo(row.sinceBegun());
  }

  @Test
  void aDiskThatIsFullIsTold(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("run.hlog");
    HistogramLog log = new HistogramLog(file, "a test");
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("/dev/full"));
    Row row = Rows.roundTrips(SocketTransport.TCP, 16, 1, 0);
    assertThatExceptionOfType(HarnessException.class)
        .isThrownBy(() -> log.append(row))
        .withMessage("cannot write " + file + ": No space left on device");
  }
}
