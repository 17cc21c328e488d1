// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The text format 0.0.4. */
@Timeout(60)
class PrometheusTextTest {
  /** A sample: metric, labels, value. */
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_]+)\\{[a-z_]+=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"(?:,[a-z_]+=\"(?:[^\"\\\\\n]|\\\\"
              + "[\\\\\"n])*\")*} \\d+");

  @TempDir Path dir;

  @Test
  void everyLineIsOfTheFormatAndTheSamplesOfAMetricStandTogetherBelowItsType() {
    new SysTree(dir)
        .connectX()
        .roce()
        .softRoce()
        .oldKernel()
        .netInterface("lo", "unknown", -1, false, 772);
    String text;
    try (LocalPorts ports = LocalPorts.below(dir)) {
      text = PrometheusText.of(ports.read());
    }
    Set<String> typed = new HashSet<>();
    Set<String> samples = new HashSet<>();
    String metric = "";
    for (String line : text.split("\n")) {
      if (line.startsWith("# TYPE ")) {
        metric = line.split(" ")[2];
        assertThat(typed.add(metric)).as("one type: " + line).isTrue();
        assertThat(line.split(" ")[3]).isIn("counter", "gauge", "untyped");
      } else if (!line.startsWith("# HELP ")) {
        assertThat(line).matches(SAMPLE);
        assertThat(line).startsWith(metric + "{");
        assertThat(samples.add(line.substring(0, line.lastIndexOf('}')))).as(line).isTrue();
      }
    }
    assertThat(text).endsWith("\n");
    assertThat(text)
        .contains(
            "talaria_port_transmit_bytes_total{device=\"mlx5_0\",port=\"1\",layer=\"infiniband\"}"
                + " 4000\n",
            "talaria_port_receive_bytes_total{device=\"ens1f0\",port=\"0\",layer=\"ethernet\"}"
                + " 11\n",
            "talaria_port_errors_total{device=\"mlx5_0\",port=\"1\",layer=\"infiniband\","
                + "counter=\"out_of_buffer\",source=\"hw_counters\"} 3\n");
  }

  @Test
  void prometheusOwnToolReadsIt() throws Exception {
    Path promtool = Path.of("/usr/bin/promtool");
    assumeTrue(Files.isExecutable(promtool), "promtool is not installed (Debian: prometheus)");
    new SysTree(dir).connectX().roce().softRoce().oldKernel();
    Path metrics = dir.resolve("metrics");
    try (LocalPorts ports = LocalPorts.below(dir)) {
      Files.writeString(metrics, PrometheusText.of(ports.read()));
    }
    ChildProcess check =
        ChildProcess.command(promtool, "check", "metrics")
            .input(metrics)
            .run(Duration.ofSeconds(50));
    // It ends with 3 for what it would name otherwise, with 1 for what it cannot read.
    assertThat(check.exitStatus()).as(check.output()).isIn(0, 3);
  }

  @Test
  void whatANodeSaysOfItselfCannotBreakALabel() {
    Port port =
        new Port(
            new PortId("a\"b\\c\nd", 1, "0000000000000001"),
            LinkLayer.INFINIBAND,
            PortState.ACTIVE,
            "",
            1,
            LinkRate.UNKNOWN,
            "",
            "",
            List.of(),
            false);
    String text =
        PrometheusText.of(
            List.of(new Reading(port, List.of(), new long[0], new boolean[0], new long[0])));
    assertThat(text).contains("device=\"a\\\"b\\\\c\\nd\",port=\"1\"");
  }
}
