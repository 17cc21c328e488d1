// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.monitor.PrometheusText;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dashboard and the alert rules ask for what is exported, and for nothing else. */
@Timeout(60)
class DashboardTest {
  private static final Path DOCS = Path.of("..", "..", "docs");
  private static final String DASHBOARD = "grafana/talaria-dashboard.json";
  private static final String ALERTS = "prometheus/talaria-alerts.yml";
  private static final Pattern METRIC = Pattern.compile("\\btalaria_[a-z_]+");
  private static final Pattern LABEL =
      Pattern.compile("(reason|transport|role)(?:=|!=|=~|!~)\\\\?\"([a-z|-]+)\\\\?\"");

  @TempDir Path dir;

  private Set<String> exported() throws IOException {
    String text = SsPrometheus.of(Snapshot.take(dir, Filter.ALL, 0)) + PrometheusText.of(List.of());
    return text.lines()
        .filter(line -> line.startsWith("# TYPE "))
        .map(line -> line.split(" ")[2])
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {DASHBOARD, ALERTS})
  void everyMetricIsExported(String file) throws Exception {
    Set<String> named =
        METRIC
            .matcher(Files.readString(DOCS.resolve(file)))
            .results()
            .map(hit -> hit.group())
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(named).isNotEmpty().isSubsetOf(exported());
  }

  @ParameterizedTest
  @ValueSource(strings = {DASHBOARD, ALERTS})
  void everyValueOfALabelExists(String file) throws Exception {
    Set<String> known =
        Stream.of(
                Arrays.stream(Reason.values()).map(Reason::code),
                Arrays.stream(NioTransport.values()).map(NioTransport::code),
                Arrays.stream(Role.values()).map(Role::code))
            .flatMap(codes -> codes)
            .collect(Collectors.toSet());
    List<String> named =
        LABEL
            .matcher(Files.readString(DOCS.resolve(file)))
            .results()
            .flatMap(hit -> Arrays.stream(hit.group(2).split("\\|")))
            .toList();
    assertThat(named).isNotEmpty().isSubsetOf(known);
  }

  @Test
  void eachMetricOfConnectionsIsOnTheDashboardOrInARule() throws Exception {
    String all = Files.readString(DOCS.resolve(DASHBOARD)) + Files.readString(DOCS.resolve(ALERTS));
    assertThat(exported())
        .filteredOn(metric -> !metric.startsWith("talaria_port_"))
        .allSatisfy(metric -> assertThat(all).contains(metric));
  }

  @Test
  void thePanelsDoNotOverlap() throws Exception {
    JsonNode panels = Json.parse(Files.readString(DOCS.resolve(DASHBOARD))).get("panels");
    assertThat(panels).isNotEmpty();
    Set<String> taken = new TreeSet<>();
    for (JsonNode panel : panels) {
      assertThat(panel.get("description").asText()).as(panel.get("title").asText()).isNotBlank();
      JsonNode place = panel.get("gridPos");
      for (int x = 0; x < place.get("w").asInt(); x++) {
        for (int y = 0; y < place.get("h").asInt(); y++) {
          int column = place.get("x").asInt() + x;
          assertThat(column).isLessThan(24);
          assertThat(taken.add(column + "/" + (place.get("y").asInt() + y))).isTrue();
        }
      }
    }
  }

  @Test
  void promtoolTakesTheRules() throws Exception {
    ChildProcess.Builder promtool =
        ChildProcess.command("promtool", "check", "rules", DOCS.resolve(ALERTS));
    try {
      ChildProcess unused = promtool.runSuccessfully(Duration.ofSeconds(50));
    } catch (IOException e) {
      assumeTrue(false, "no promtool (Debian's package prometheus)");
    }
  }
}
