// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import io.talaria.bench.harness.Latencies;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Case;
import io.talaria.bench.plan.LinkImplementation;
import io.talaria.bench.plan.Pattern;
import io.talaria.bench.plan.SocketTransport;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Rows made up for tests. */
public final class Rows {
  private Rows() {}

  static ResultLine.Environment environment(String run, String server) {
    Machine machine = Machine.describe("1.0", Pinning.decide(false));
    return new ResultLine.Environment(run, "host", machine, server, "test");
  }

  public static Row throughput(
      SocketTransport transport, int sizeBytes, int connections, int repetition) {
    long messages = 1_000 + 10L * repetition;
    return new Row(
        new LinkImplementation(BindingKind.NIO, transport),
        new Case(Pattern.THROUGHPUT, 2, connections, sizeBytes, 0, 5_000),
        repetition,
        transport == SocketTransport.SHM ? "1 shm (same-host), \"quoted\"" : "",
        messages,
        messages,
        List.of(1_000_000L),
        null,
        null,
        2 * messages * sizeBytes,
        -1);
  }

  public static Row roundTrips(
      SocketTransport transport, int sizeBytes, int connections, int rate) {
    Histogram begun = Latencies.histogram();
    Histogram due = rate == 0 ? null : Latencies.histogram();
    for (int i = 1; i <= 1_000; i++) {
      begun.recordValue(1_000L * i);
      if (due != null) {
        due.recordValue(2_000L * i);
      }
    }
    return new Row(
        new LinkImplementation(BindingKind.NIO, transport),
        new Case(Pattern.PINGPONG, 2, connections, sizeBytes, rate, 1_000),
        1,
        "",
        1_000,
        2_000,
        List.of(500_000_000L),
        begun,
        due,
        -1,
        -1);
  }
}
