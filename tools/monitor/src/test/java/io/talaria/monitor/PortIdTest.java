// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Names of ports. */
class PortIdTest {
  @Test
  void areOrderedAsPeopleCount() {
    assertThat(
            Stream.of("mlx5_10/1", "mlx5_2/2", "eth0/0", "mlx5_2/1", "eth00/0", "mlx5/1")
                .map(text -> text.split("/"))
                .map(parts -> PortId.local(parts[0], Integer.parseInt(parts[1])))
                .sorted()
                .map(PortId::toString))
        .containsExactly("eth0", "eth00", "mlx5/1", "mlx5_2/1", "mlx5_2/2", "mlx5_10/1");
  }

  @Test
  void ofInterfacesHaveNoNumber() {
    assertThat(PortId.local("eth0", 0)).hasToString("eth0");
    assertThat(new PortId("switch", 0, "0000000000200000")).hasToString("switch/0");
  }
}
