// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.monitor.fabric.binding.FabricLibraries;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Discovery and queries in a simulated fabric, beside the programs that administrators use. */
@Timeout(300)
class FabricTest {
  /** Two switches with two links between them, and three hosts. */
  static final String NET =
      """
      Switch	8 "Switch1"
      [1]	"Hca1"[1]
      [2]	"Hca2"[2]
      [3]	"Switch2"[3]
      [4]	"Switch2"[4]

      Switch	8 "Switch2"
      [3]	"Switch1"[3]
      [4]	"Switch1"[4]
      [5]	"Hca3"[1]	w=1

      Hca	2 "Hca1"
      [1]	"Switch1"[1]

      Hca	2 "Hca2"
      [2]	"Switch1"[2]

      Hca	1 "Hca3"
      [1]	"Switch2"[5]	w=1
      """;

  /** How perfquery calls the counters, and how the kernel does. */
  private static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry("SymbolErrorCounter", "symbol_error"),
          Map.entry("LinkErrorRecoveryCounter", "link_error_recovery"),
          Map.entry("LinkDownedCounter", "link_downed"),
          Map.entry("PortRcvErrors", "port_rcv_errors"),
          Map.entry("PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors"),
          Map.entry("PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors"),
          Map.entry("PortXmitDiscards", "port_xmit_discards"),
          Map.entry("PortXmitConstraintErrors", "port_xmit_constraint_errors"),
          Map.entry("PortRcvConstraintErrors", "port_rcv_constraint_errors"),
          Map.entry("LocalLinkIntegrityErrors", "local_link_integrity_errors"),
          Map.entry("ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors"),
          Map.entry("VL15Dropped", "VL15_dropped"),
          Map.entry("PortXmitWait", "port_xmit_wait"));

  private static final Pattern LINE = Pattern.compile("(\\w+):\\.+(\\d+)");

  @TempDir Path dir;

  @BeforeEach
  void look() throws Exception {
    Optional<String> unavailableReason = IbSim.unavailableReason();
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
  }

  private static Map<String, Long> perfquery(IbSim sim, String... arguments) throws Exception {
    Map<String, Long> values = new HashMap<>();
    Matcher matcher = LINE.matcher(sim.run("perfquery", arguments));
    while (matcher.find()) {
      values.put(matcher.group(1), Long.parseUnsignedLong(matcher.group(2)));
    }
    return values;
  }

  private static Map<String, Long> values(List<String> response) {
    assertThat(response.get(0)).as("%s", response).isEqualTo("RESPONDED");
    Map<String, Long> values = new HashMap<>();
    for (String line : response.subList(1, response.size())) {
      String[] words = line.split(" ");
      values.put(words[1], Long.parseUnsignedLong(words[2]));
    }
    return values;
  }

  @Test
  void nodesPortsAndCountersAreThoseThatAdministratorsSee() throws Exception {
    try (IbSim sim = IbSim.start(dir, NET)) {
      sim.manageOnce();
      try (IbSim.Client client = sim.client("", 2)) {
        List<String> found = client.request("discover");
        assertThat(found)
            .filteredOn(line -> line.startsWith("node"))
            .extracting(line -> line.substring(0, line.lastIndexOf(' ')))
            .containsExactly(
                "node SWITCH Switch1",
                "node SWITCH Switch2",
                "node ADAPTER Hca1",
                "node ADAPTER Hca2",
                "node ADAPTER Hca3");
        assertThat(found)
            .anyMatch(
                line ->
                    line.matches("port Hca2/2 ACTIVE lid [1-9]\\d* to Switch1/2 at 10 Gb/s 4X SDR"))
            .anyMatch(
                line ->
                    line.matches(
                        "port Hca3/1 ACTIVE lid [1-9]\\d* to Switch2/5 at 2.5 Gb/s 1X SDR"))
            .anyMatch(line -> line.matches("port Switch1/8 DOWN lid \\d+ to null at .*"));

        // Every counter of its own value, and two at the end of what they can count.
        long value = 3;
        for (String name : NAMES.keySet()) {
          long set =
              switch (name) {
                case "SymbolErrorCounter" -> 65535;
                case "LocalLinkIntegrityErrors" -> 7;
                case "ExcessiveBufferOverrunErrors" -> 9;
                case "PortXmitWait" -> 4294967295L;
                default -> value++;
              };
          sim.type("PerformanceSet \"Hca2\"[2] PortCounters." + name + "=" + set);
        }
        List<String> response = client.request("query Hca2/2");
        String lid =
            found.stream()
                .filter(line -> line.startsWith("port Hca2/2 "))
                .findFirst()
                .orElseThrow()
                .replaceAll(".* lid (\\d+) .*", "$1");
        Map<String, Long> theirs = perfquery(sim, lid, "2");
        Map<String, Long> ours = values(response);
        NAMES.forEach(
            (name, kernels) -> {
              assertThat(theirs).containsKey(name);
              assertThat(ours.get(kernels)).as(name).isEqualTo(theirs.get(name));
            });
        assertThat(response)
            .contains("PMA symbol_error 65535 stuck", "PMA port_xmit_wait 4294967295 stuck");
        // The query itself is carried by the port and counted.
        Map<String, Long> wide = perfquery(sim, "-x", lid, "2");
        for (String[] pair :
            new String[][] {
              {"PortXmitData", "port_xmit_data"},
              {"PortRcvData", "port_rcv_data"},
              {"PortXmitPkts", "port_xmit_packets"},
              {"PortRcvPkts", "port_rcv_packets"}
            }) {
          long more = wide.get(pair[0]) - ours.get(pair[1]);
          assertThat(more).as(pair[0]).isBetween(0L, 2000L);
        }

        assertThat(client.request("reset Hca2/2")).containsExactly("RESPONDED");
        Map<String, Long> afterwards = values(client.request("query Hca2/2"));
        assertThat(afterwards.get("symbol_error")).isZero();
        assertThat(afterwards.get("port_xmit_wait")).isZero();
        assertThat(client.request("all").get(0)).isEqualTo("10 of 10");
      }
    }
  }

  @Test
  void withoutASubnetManagerNodesAreSeenAndQueriesSayWhatIsMissing() throws Exception {
    try (IbSim sim = IbSim.start(dir, NET);
        IbSim.Client client = sim.client("", 2)) {
      assertThat(client.request("discover")).filteredOn(line -> line.startsWith("node")).hasSize(5);
      assertThat(client.request("query Hca2/2")).containsExactly("NO_LID");
    }
  }

  @Test
  void aSilentPortAndAnUnpluggedNodeHoldNobodyUp() throws Exception {
    try (IbSim sim = IbSim.start(dir, NET)) {
      sim.manageOnce();
      try (IbSim.Client client = sim.client("Hca1", 1)) {
        client.request("discover");
        sim.type("Error \"Hca3\"[1] 100");
        assertThat(client.request("query Hca3/1")).containsExactly("SILENT");
        assertThat(client.request("query Hca2/2")).startsWith("RESPONDED");
        sim.type("Error \"Hca3\"[1] 0");
        assertThat(client.request("query Hca3/1")).startsWith("RESPONDED");
        sim.type("Unlink \"Hca2\"[2]");
        assertThat(client.request("discover"))
            .filteredOn(line -> line.startsWith("node"))
            .hasSize(4)
            .noneMatch(line -> line.contains("Hca2"));
      }
    }
  }

  @Test
  void aMonitorKeepsQueryingTheOthersWhenAPortFallsSilentAndTakesItUpAgain() throws Exception {
    try (IbSim sim = IbSim.start(dir, NET)) {
      sim.manageOnce();
      try (IbSim.Client client = sim.client("", 1)) {
        assertThat(client.request("watch")).isEmpty();
        assertThat(client.request("fresh Hca3/1")).containsExactly("responded");
        sim.type("Error \"Hca3\"[1] 100");
        assertThat(client.request("failure Hca3/1")).containsExactly("SILENT");
        assertThat(client.request("fresh Hca2/2")).containsExactly("responded");
        assertThat(client.request("fresh Switch1/1")).containsExactly("responded");
        sim.type("Error \"Hca3\"[1] 0");
        assertThat(client.request("fresh Hca3/1")).containsExactly("responded");
      }
    }
  }

  @Test
  void aMissingLibraryIsNamedWithItsPackage() {
    String before = System.getProperty(FabricLibraries.UMAD_PROPERTY);
    System.setProperty(FabricLibraries.UMAD_PROPERTY, "/no/such/libibumad.so");
    try {
      assertThatThrownBy(() -> Fabric.open(FabricOptions.USUAL))
          .isInstanceOf(FabricException.class)
          .hasMessageContaining("/no/such/libibumad.so", "is not a file");
    } finally {
      if (before == null) {
        System.clearProperty(FabricLibraries.UMAD_PROPERTY);
      } else {
        System.setProperty(FabricLibraries.UMAD_PROPERTY, before);
      }
    }
  }

  @Test
  void aHostWithoutAnAdapterSaysSo() {
    assumeTrue(
        !java.nio.file.Files.isDirectory(Path.of("/sys/class/infiniband")), "there are adapters");
    assertThatThrownBy(() -> Fabric.open(FabricOptions.USUAL))
        .isInstanceOf(FabricException.class)
        .hasMessageContaining("no InfiniBand adapter is here");
  }
}
