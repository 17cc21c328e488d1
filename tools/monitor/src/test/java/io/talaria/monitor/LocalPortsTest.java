// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ports and their counters, as kernels show them. */
@Timeout(60)
class LocalPortsTest {
  @TempDir Path dir;
  private SysTree sys;
  private LocalPorts ports;

  @BeforeEach
  void makeTree() {
    sys = new SysTree(dir);
    ports = LocalPorts.below(dir);
  }

  @AfterEach
  void close() {
    ports.close();
  }

  private Port only() {
    List<Port> all = ports.scan();
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  private Reading onlyReading() {
    List<Reading> all = ports.read();
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  @Test
  void anInfinibandPortIsKnownWithAllItSays() {
    sys.connectX();

    assertThat(only())
        .isEqualTo(
            new Port(
                PortId.local("mlx5_0", 1),
                LinkLayer.INFINIBAND,
                PortState.ACTIVE,
                "LinkUp",
                31,
                new LinkRate(100_000_000_000L, 4, "100 Gb/s 4X EDR"),
                "506b:4b03:00f3:e6a4",
                "fe80:0000:0000:0000:506b:4b03:00f3:e6a4",
                List.of(),
                false));
  }

  @Test
  void dataOfAnInfinibandPortIsFourBytesAUnit() {
    sys.connectX();
    Reading reading = onlyReading();

    int sent = reading.indexOf(CounterKind.DATA, Traffic.SENT);
    assertThat(reading.counters().get(sent).name()).isEqualTo("port_xmit_data");
    assertThat(reading.value(sent)).isEqualTo(1000);
    assertThat(reading.total(sent)).isEqualTo(4000);
    assertThat(reading.amount(reading.indexOf(CounterKind.PACKETS, Traffic.RECEIVED)))
        .isEqualTo(20);
  }

  @Test
  void allSourcesAreReadAndWhatNobodyNamedIsShown() {
    sys.connectX();
    Reading reading = onlyReading();

    assertThat(reading.counters())
        .extracting(Counter::source)
        .contains(CounterSource.COUNTERS, CounterSource.HW_COUNTERS, CounterSource.DEVICE);
    int unknown = reading.indexOf("a_new_counter");
    assertThat(reading.counters().get(unknown).kind()).isEqualTo(CounterKind.OTHER);
    assertThat(reading.value(unknown)).isEqualTo(5);
    assertThat(reading.indexOf("lifespan")).isEqualTo(-1);
    assertThat(reading.sum(CounterKind.ERRORS)).isEqualTo(3);
  }

  @Test
  void aRocePortHasItsInterfaceAndTheGidOfVersionTwoWithAnAddress() {
    sys.roce();
    List<Port> all = ports.scan();

    assertThat(all).extracting(port -> port.id().toString()).containsExactly("mlx5_1/1", "ens1f0");
    assertThat(all.get(0).layer()).isEqualTo(LinkLayer.ROCE);
    assertThat(all.get(0).netDevices()).containsExactly("ens1f0");
    assertThat(all.get(0).gid()).isEqualTo("0000:0000:0000:0000:0000:ffff:0a4d:0001");
    assertThat(all.get(0).lid()).isZero();
    assertThat(all.get(1).layer()).isEqualTo(LinkLayer.ETHERNET);
    assertThat(all.get(1).rate()).isEqualTo(new LinkRate(25_000_000_000L, 0, "25 Gb/s"));
  }

  @Test
  void theCountersOfARocePortAndItsInterfaceStayApart() {
    sys.roce();
    List<Reading> readings = ports.read();

    Reading roce = readings.get(0);
    Reading net = readings.get(1);
    assertThat(roce.total(roce.indexOf(CounterKind.DATA, Traffic.SENT))).isEqualTo(1600);
    assertThat(net.total(net.indexOf(CounterKind.DATA, Traffic.SENT))).isEqualTo(12);
  }

  @Test
  void softRoceCountsPacketsButNoBytes() {
    sys.softRoce();
    Reading reading = onlyReading();

    assertThat(reading.indexOf(CounterKind.DATA, Traffic.SENT)).isEqualTo(-1);
    assertThat(reading.value(reading.indexOf(CounterKind.PACKETS, Traffic.SENT))).isEqualTo(100);
    assertThat(reading.port().netDevices()).containsExactly("dummy0");
  }

  @Test
  void countersTheKernelRefreshesSeldomAreNotReadMoreOften() {
    sys.softRoce().file("class/infiniband/rxe0/ports/1/hw_counters/lifespan", 60_000);
    RateTracker tracker = new RateTracker();
    Reading first = onlyReading();
    tracker.update(first);
    sys.file("class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", 200);
    Reading second = onlyReading();

    int sent = second.indexOf("sent_pkts");
    assertThat(second.value(sent)).isEqualTo(100);
    assertThat(second.atNs(sent)).isEqualTo(first.atNs(sent));
    assertThat(tracker.update(second).change(sent)).isEqualTo(Change.UNKNOWN);
  }

  @Test
  void anOldKernelsWideCountersAreTakenForTheNarrowOnes() {
    sys.oldKernel();
    Reading reading = onlyReading();

    int sent = reading.indexOf(CounterKind.DATA, Traffic.SENT);
    assertThat(reading.counters().get(sent).source()).isEqualTo(CounterSource.COUNTERS_EXT);
    assertThat(reading.total(sent)).isEqualTo(4L * 8589934592L);
    assertThat(reading.port().state()).isEqualTo(PortState.INIT);
    assertThat(reading.port().rate()).isEqualTo(new LinkRate(10_000_000_000L, 4, "10 Gb/s 4X"));
  }

  @Test
  void emptyOddAndHugeFilesAreLeftOut() {
    sys.rdmaPort("mlx4_0", 1, "InfiniBand", "4: ACTIVE", "nonsense");
    String at = "class/infiniband/mlx4_0/ports/1/counters/";
    sys.file(at + "empty", "");
    sys.file(at + "words", "N/A (no PMA)");
    sys.file(at + "negative", "-1");
    sys.file(at + "toolarge", "18446744073709551616");
    sys.file(at + "largest", "18446744073709551615");
    sys.file(at + "symbol_error", "7");
    Reading reading = onlyReading();

    assertThat(reading.counters())
        .extracting(Counter::name)
        .containsExactly("largest", "symbol_error");
    assertThat(reading.total(0)).isEqualTo("18446744073709551615");
    assertThat(reading.port().rate()).isEqualTo(LinkRate.UNKNOWN);
  }

  @Test
  void aPortWithoutAnyCountersIsShownWithItsState() {
    sys.rdmaPort("mlx4_0", 1, "InfiniBand", "1: DOWN", "10 Gb/sec (4X)");
    Reading reading = onlyReading();

    assertThat(reading.counters()).isEmpty();
    assertThat(reading.port().state()).isEqualTo(PortState.DOWN);
    assertThat(reading.sum(CounterKind.ERRORS)).isNegative();
  }

  @Test
  void aFileThatVanishesBetweenTwoReadingsIsUnknownAndTheOthersAreRead() throws Exception {
    sys.netInterface("eth0", "up", 1000, true, 1);
    ports.read();
    // An open file that is truncated reads as a device does that was taken away.
    sys.file("class/net/eth0/statistics/rx_errors", "");
    Reading reading = onlyReading();

    assertThat(reading.known(reading.indexOf("rx_errors"))).isFalse();
    assertThat(reading.known(reading.indexOf("rx_bytes"))).isTrue();
    assertThat(reading.sum(CounterKind.ERRORS)).isNegative();
  }

  @Test
  void packetsForWhichTheHostWasTooSlowAreErrorsOfTheirOwn() {
    sys.netInterface("eth0", "up", 1000, true, 1);
    sys.file("class/net/eth0/statistics/rx_dropped", 0);
    sys.file("class/net/eth0/statistics/rx_missed_errors", 40);
    Reading reading = onlyReading();

    // 3 are in rx_errors, which rx_crc_errors is a part of.
    assertThat(reading.sum(CounterKind.ERRORS)).isEqualTo(43);
    assertThat(reading.counters().get(reading.indexOf("rx_missed_errors")).part()).isFalse();
  }

  @Test
  void packetsOnALinkThatIsNotToReceiveAreNoErrors() {
    sys.netInterface("eth0", "up", 1000, true, 1);
    sys.file("class/net/eth0/statistics/rx_nohandler", 40);
    Reading reading = onlyReading();

    assertThat(reading.sum(CounterKind.ERRORS)).isEqualTo(3);
    assertThat(reading.counters().get(reading.indexOf("rx_nohandler")).kind())
        .isEqualTo(CounterKind.OTHER);
  }

  @Test
  void aPortThatIsGoneIsForgottenByTheNextScanAndComesBack() {
    sys.softRoce().netInterface("eth0", "up", 1000, true, 1);
    assertThat(ports.scan()).hasSize(2);
    for (String file : new String[] {"sent_pkts", "rcvd_pkts", "retry_exceeded_err", "lifespan"}) {
      sys.remove("class/infiniband/rxe0/ports/1/hw_counters/" + file);
    }
    for (String file :
        new String[] {
          "hw_counters",
          "gid_attrs/ndevs/0",
          "gid_attrs/ndevs",
          "gid_attrs",
          "link_layer",
          "state",
          "phys_state",
          "rate",
          "lid",
          ""
        }) {
      sys.remove("class/infiniband/rxe0/ports/1/" + file);
    }
    assertThat(ports.scan()).extracting(port -> port.id().device()).containsExactly("eth0");
    sys.softRoce();
    assertThat(ports.scan()).hasSize(2);
  }

  @Test
  void loopbackAndDummiesAreMarked() {
    sys.netInterface("lo", "unknown", -1, false, 772);
    sys.netInterface("dummy0", "unknown", -1, false, 1);
    sys.netInterface("veth1", "up", 10000, false, 1);
    sys.netInterface("eth0", "unknown", -1, true, 1);
    sys.netInterface("bond0", "down", -1, false, 1); // it was in use
    sys.netInterface("ifb0", "down", -1, false, 1).nothingCarried("ifb0");
    sys.netInterface("eth1", "down", -1, true, 1).nothingCarried("eth1");
    sys.netInterface("br0", "up", -1, false, 1).nothingCarried("br0");

    assertThat(ports.scan())
        .filteredOn(Port::virtual)
        .extracting(port -> port.id().device())
        .containsExactly("dummy0", "ifb0", "lo");
  }

  @Test
  void moreFilesThanMayBeKeptOpenAreReadAllTheSame() {
    for (int i = 0; i < 120; i++) {
      sys.netInterface("eth" + i, "up", 1000, true, 1);
    }
    for (int round = 0; round < 3; round++) {
      List<Reading> readings = ports.read();
      assertThat(readings)
          .hasSize(120)
          .allSatisfy(
              reading -> assertThat(reading.value(reading.indexOf("tx_bytes"))).isEqualTo(12));
    }
    assertThat(ports.scan())
        .extracting(port -> port.id().device())
        .startsWith("eth0", "eth1", "eth2")
        .endsWith("eth119");
  }

  @Test
  void aHostWithoutAnyOfItHasNoPorts() {
    assertThat(ports.scan()).isEmpty();
    assertThat(ports.read()).isEmpty();
  }

  @Test
  void thisHostIsRead() {
    try (LocalPorts here = LocalPorts.open()) {
      List<Port> all = here.scan();
      assertThat(all).extracting(port -> port.id().device()).contains("lo");
      assertThat(here.read()).hasSameSizeAs(all);
    }
  }
}
