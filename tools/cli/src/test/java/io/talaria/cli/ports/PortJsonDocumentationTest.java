// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.monitor.LinkLayer;
import io.talaria.monitor.LinkRate;
import io.talaria.monitor.Port;
import io.talaria.monitor.PortId;
import io.talaria.monitor.PortState;
import io.talaria.monitor.fabric.FabricNode;
import io.talaria.monitor.fabric.FabricPort;
import io.talaria.monitor.fabric.NodeType;
import io.talaria.monitor.fabric.Topology;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** docs/monitor.md has every name of the JSON, in its order and with its type, and no other. */
@Timeout(60)
class PortJsonDocumentationTest {
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "monitor.md");

  @TempDir Path dir;

  private static void hold(String heading, JsonNode object) throws Exception {
    List<String> lines = Files.readAllLines(DOCUMENT);
    int at = lines.indexOf("### " + heading);
    assertThat(at).as(heading).isNotNegative();
    while (!lines.get(at).startsWith("| name |")) {
      at++;
    }
    List<String> described = new ArrayList<>();
    for (at += 2; lines.get(at).startsWith("|"); at++) {
      String[] cells = lines.get(at).split("\\|");
      String name = cells[1].strip().replace("`", "");
      described.add(name);
      assertThat(fits(object.get(name), cells[2].strip()))
          .as("%s is %s", lines.get(at), object.get(name))
          .isTrue();
    }
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    assertThat(described).as(heading).isEqualTo(names);
  }

  private static boolean fits(JsonNode value, String type) {
    if (value == null) {
      return false;
    }
    if (type.endsWith(" or null")) {
      return value.isNull() || fits(value, type.substring(0, type.length() - " or null".length()));
    }
    return switch (type) {
      case "text" -> value.isTextual();
      case "time" -> Instant.parse(value.asText()).toString().equals(value.asText());
      case "number" -> value.isNumber();
      case "object" -> value.isObject();
      case "list" -> value.isArray();
      default -> throw new AssertionError("a type that is not explained: " + type);
    };
  }

  @Test
  void everyNameIsDescribed() throws Exception {
    Tree.in(dir);
    try (LocalSource source = new LocalSource(dir, new PortFilter(List.of(), true))) {
      source.look();
      JsonNode tree = Json.parse(Json.line(PortJson.tree(source.look())));
      hold("Reading", tree);
      for (JsonNode port : tree.get("ports")) {
        hold("Port", port);
        hold("Traffic", port.get("traffic"));
        for (JsonNode counter : port.get("counters")) {
          hold("Counter", counter);
        }
      }
    }
  }

  @Test
  void aFabricIsDescribed() throws Exception {
    PortId id = new PortId("Switch1", 1, "0000000000200000");
    Port port =
        new Port(
            id,
            LinkLayer.INFINIBAND,
            PortState.ACTIVE,
            "LinkUp",
            1,
            new LinkRate(10_000_000_000L, 4, "10 Gb/s 4X SDR"),
            "0000000000200000",
            "",
            List.of(),
            false);
    FabricPort far = new FabricPort(port, new PortId("Hca1", 1, "0000000000100000"));
    Topology topology =
        new Topology(
            List.of(new FabricNode(id.nodeGuid(), NodeType.SWITCH, "Switch1", List.of(far))), 1);
    PortLine silent = new PortLine(port, null, "silent: no response in time", far.peer());
    JsonNode tree =
        Json.parse(Json.line(PortJson.tree(new Look(0, List.of(silent), 0, topology, ""))));
    hold("Reading", tree);
    hold("Port", tree.get("ports").get(0));
    hold("Traffic", tree.get("ports").get(0).get("traffic"));
    hold("Node", tree.get("nodes").get(0));
    assertThat(tree.get("ports").get(0).get("problem").asText()).startsWith("silent");
    assertThat(tree.get("ports").get(0).get("peer").get("device").asText()).isEqualTo("Hca1");
  }
}
