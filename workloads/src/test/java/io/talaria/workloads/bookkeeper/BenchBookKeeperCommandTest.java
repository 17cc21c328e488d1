// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.bookkeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.workloads.run.Invocation;
import org.junit.jupiter.api.Test;

class BenchBookKeeperCommandTest {
  private static Invocation bench(String... args) {
    return Invocation.of(new BenchBookKeeperCommand(), args);
  }

  @Test
  void comparesBothRoads() {
    Invocation bench =
        bench("-m", "50", "--size", "16,1K", "--outstanding", "4", "--warm-up", "0", "--no-pin");
    assertThat(bench.status()).as(bench.err()).isZero();
    assertThat(bench.out())
        .contains("write, 16 B", "read, 16 B", "write, 1 KiB", "read, 1 KiB")
        .contains("Connections on Talaria: 2 shm (same-host)");
  }

  @Test
  void refusesWrongOptions() {
    Invocation wildcard = bench("--server");
    assertThat(wildcard.status()).isEqualTo(2);
    assertThat(wildcard.err()).contains("--address must name the address that clients reach");
    Invocation none = bench("--outstanding", "0");
    assertThat(none.status()).isEqualTo(2);
    assertThat(none.err()).contains("--outstanding must be from 1 to 10,000, not 0");
  }
}
