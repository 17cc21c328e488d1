// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WireCountersTest {
  @TempDir private Path sys;

  private void write(String file, long value) throws IOException {
    Path path = sys.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, value + "\n");
  }

  @Test
  void bothWaysOfTheInterfaceAndAllInfinibandPortsInBytesAreCounted() throws IOException {
    write("class/net/eth0/statistics/rx_bytes", 100);
    write("class/net/eth0/statistics/tx_bytes", 10);
    for (int port = 1; port <= 2; port++) {
      write("class/infiniband/mlx5_0/ports/" + port + "/counters/port_xmit_data", 5);
      write("class/infiniband/mlx5_0/ports/" + port + "/counters/port_rcv_data", 2);
    }
    assertThat(new WireCounters(sys, "eth0").read())
        .isEqualTo(new WireCounters.Reading(110, 2 * 7 * 4));
  }

  @Test
  void whatLoopsBackIsCountedOnce() throws IOException {
    write("class/net/lo/statistics/rx_bytes", 100);
    write("class/net/lo/statistics/tx_bytes", 100);
    assertThat(new WireCounters(sys, "lo").read()).isEqualTo(new WireCounters.Reading(100, -1));
  }

  @Test
  void nothingIsKnownWhereThereAreNoCounters() {
    WireCounters.Reading none = new WireCounters(sys, "").read();
    assertThat(none).isEqualTo(WireCounters.Reading.NONE);
    assertThat(new WireCounters.Reading(7, 8).since(none)).isEqualTo(WireCounters.Reading.NONE);
  }
}
