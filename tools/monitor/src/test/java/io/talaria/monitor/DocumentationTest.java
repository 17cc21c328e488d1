// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** docs/monitor.md has every counter that is known, with its meaning, and every metric. */
@Timeout(60)
class DocumentationTest {
  private static final Pattern ROW =
      Pattern.compile(
          "\\| `(\\w+)` \\| (port|hw|net) \\| (\\w+) \\| ([\\w ]+) \\| (\\S+) \\|(.*)\\|");

  @TempDir Path dir;

  private static List<String> document() throws Exception {
    return Files.readAllLines(Path.of("..", "..", "docs", "monitor.md"));
  }

  @Test
  void everyCounterIsDescribedAsItIs() throws Exception {
    List<String> described = new ArrayList<>();
    for (String line : document()) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        CounterSource source =
            switch (row.group(2)) {
              case "port" -> CounterSource.PMA;
              case "hw" -> CounterSource.HW_COUNTERS;
              default -> CounterSource.NET;
            };
        Counter counter = Counter.named(source, row.group(1));
        String unit = counter.factor() == 4 ? "4 bytes" : counter.unit().code();
        assertThat(row.group(3)).as(line).isEqualTo(counter.kind().code());
        assertThat(row.group(4)).as(line).isEqualTo(unit);
        assertThat(row.group(5))
            .as(line)
            .isEqualTo(counter.bits() == 0 ? "-" : "" + counter.bits());
        assertThat(row.group(6).strip()).as(line).isEqualTo(counter.part() ? "part" : "");
        described.add(row.group(2) + " " + row.group(1).toLowerCase(Locale.ROOT));
      }
    }
    assertThat(described).containsExactlyInAnyOrderElementsOf(KnownCounters.all());
  }

  @Test
  void everyMetricIsDescribedWithItsType() throws Exception {
    new SysTree(dir).connectX();
    String text;
    try (LocalPorts ports = LocalPorts.below(dir)) {
      text = PrometheusText.of(ports.read());
    }
    List<String> metrics =
        text.lines()
            .filter(line -> line.startsWith("# TYPE "))
            .map(line -> line.split(" ")[2] + " " + line.split(" ")[3])
            .toList();
    List<String> described =
        document().stream()
            .filter(line -> line.startsWith("| `talaria_port_"))
            .map(line -> line.split("`")[1] + " " + line.split("\\|")[2].strip())
            .toList();
    assertThat(described).isEqualTo(metrics);
  }
}
