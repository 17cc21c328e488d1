// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Role;
import io.talaria.nio.counters.ProcessCounters;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The table of the jar alone. */
@Timeout(30)
class BareTableTest {
  private static final int MANY = 50_000;

  @TempDir Path dir;

  @Test
  void tensOfThousandsOfConnectionsAreShownInAMoment() {
    InetSocketAddress end = new InetSocketAddress("127.0.0.1", 8080);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      for (int i = 0; i < MANY; i++) {
        counters.connection(Role.CLIENT, end, end);
      }
      PrintStream to = new PrintStream(out, false, StandardCharsets.UTF_8);
      assertThat(BareTable.print(List.of("--dir", dir.toString()), to, to)).isZero();
      to.flush();
    }
    assertThat(out.toString(StandardCharsets.UTF_8).lines()).hasSize(MANY + 1);
  }
}
