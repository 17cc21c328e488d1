// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.cli.ss.snapshot.Filter;
import io.talaria.cli.ss.snapshot.Rates;
import io.talaria.cli.ss.snapshot.Snapshot;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.counters.ProcessCounters;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** docs/seeing.md has every name of the JSON, in its order and with its type, and no other. */
@Timeout(180)
class SsJsonDocumentationTest {
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "seeing.md");

  @TempDir Path dir;

  /** What the document says of one object: names with their types. */
  private static List<String> documented(String heading) throws Exception {
    List<String> lines = Files.readAllLines(DOCUMENT);
    int at = lines.indexOf("### " + heading);
    assertThat(at).as(heading).isNotNegative();
    while (!lines.get(at).startsWith("| name |")) {
      at++;
    }
    List<String> rows = new ArrayList<>();
    for (at += 2; at < lines.size() && lines.get(at).startsWith("|"); at++) {
      String[] cells = lines.get(at).split("\\|");
      assertThat(cells[3].trim()).as(lines.get(at)).isNotEmpty();
      rows.add(cells[1].trim().replace("`", "") + ": " + cells[2].trim());
    }
    return rows;
  }

  /** The documented rows must be the names of the object, each with a value of its type. */
  private static void hold(String heading, JsonNode object) throws Exception {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    List<String> rows = documented(heading);
    assertThat(rows).extracting(row -> row.substring(0, row.indexOf(':'))).isEqualTo(names);
    for (String row : rows) {
      JsonNode value = object.get(row.substring(0, row.indexOf(':')));
      String type = row.substring(row.indexOf(':') + 2);
      assertThat(fits(value, type)).as("%s, which is %s", row, value).isTrue();
    }
  }

  private static boolean fits(JsonNode value, String type) {
    if (type.endsWith(" or null")) {
      return value.isNull() || fits(value, type.substring(0, type.lastIndexOf(" or ")));
    }
    return switch (type) {
      case "text" -> value.isTextual();
      case "time" -> Instant.parse(value.asText()).toString().equals(value.asText());
      case "number", "bytes" -> value.isNumber();
      case "object" -> value.isObject();
      case "list", "list of texts" -> value.isArray();
      default -> throw new AssertionError("a type that is not explained: " + type);
    };
  }

  @Test
  void everyNameIsDescribed() throws Exception {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      InetSocketAddress address = new InetSocketAddress("127.0.0.1", 80);
      ConnectionCounters connection = counters.connection(Role.CLIENT, address, address);
      counters.connection(Role.LISTENER, address, null);
      counters.refused(Reason.BUSY);
      Snapshot earlier = Snapshot.take(dir, Filter.ALL, 1_000);
      connection.tcpIn(5);
      Snapshot later = Snapshot.take(dir, Filter.ALL, 3_000);

      for (Rates rates : new Rates[] {null, Rates.between(earlier, later)}) {
        JsonNode tree = Json.parse(Json.line(SsJson.tree(later, rates)));
        hold("Snapshot", tree);
        hold("Summary", tree.get("summary"));
        JsonNode process = tree.get("processes").get(0);
        hold("Process", process);
        hold("Totals", process.get("totals"));
        hold("Connection", process.get("connections").get(0));
        hold("Connection", process.get("connections").get(1));
      }
    }
  }
}
