// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.result.WireCounters.Carried;
import io.talaria.bench.result.WireCounters.Look;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WireCountersTest {
  @TempDir private Path sys;

  private void write(String file, Object value) throws IOException {
    Path path = sys.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, value + "\n");
  }

  private void count(String name, long received, long sent) throws IOException {
    write("class/net/" + name + "/statistics/rx_bytes", received);
    write("class/net/" + name + "/statistics/tx_bytes", sent);
  }

  private void port(int number, long sent, long received) throws IOException {
    String at = "class/infiniband/mlx5_0/ports/" + number + "/";
    write(at + "link_layer", "InfiniBand");
    write(at + "counters/port_xmit_data", sent);
    write(at + "counters/port_rcv_data", received);
  }

  @Test
  void bothWaysOfTheInterfaceAndAllInfinibandPortsInBytesAreCounted() throws IOException {
    count("eth0", 100, 10);
    count("eth1", 1, 1);
    port(1, 5, 2);
    port(2, 50, 20);
    WireCounters wire = new WireCounters(sys, "eth0");
    Look before = wire.read();
    count("eth0", 300, 15);
    count("eth1", 1000, 1000);
    port(1, 15, 2);
    port(2, 50, 21);
    assertThat(wire.read().since(before)).isEqualTo(new Carried(205, 11 * 4));
  }

  @Test
  void whatLoopsBackIsCountedOnce() throws IOException {
    count("lo", 100, 100);
    WireCounters wire = new WireCounters(sys, "lo");
    Look before = wire.read();
    count("lo", 150, 150);
    assertThat(wire.read().since(before)).isEqualTo(new Carried(50, -1));
  }

  @Test
  void aPortThatWasResetMakesTheSumUnknown() throws IOException {
    port(1, 5, 2);
    port(2, 50, 20);
    WireCounters wire = new WireCounters(sys, "");
    Look before = wire.read();
    port(1, 15, 2);
    port(2, 0, 21);
    assertThat(wire.read().since(before)).isEqualTo(Carried.NONE);
  }

  @Test
  void softRoceWhichCountsNoBytesIsLeftOut() throws IOException {
    write("class/infiniband/rxe0/ports/1/link_layer", "Ethernet");
    write("class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", 5);
    port(1, 5, 2);
    WireCounters wire = new WireCounters(sys, "");
    Look before = wire.read();
    port(1, 6, 2);
    assertThat(wire.read().since(before)).isEqualTo(new Carried(-1, 4));
  }

  @Test
  void nothingIsKnownWhereThereAreNoCounters() {
    WireCounters wire = new WireCounters(sys, "");
    assertThat(wire.read().since(wire.read())).isEqualTo(Carried.NONE);
  }
}
