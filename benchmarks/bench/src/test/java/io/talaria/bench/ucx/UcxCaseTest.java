// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.bench.compare.Comparison;
import io.talaria.bench.compare.Iterations;
import io.talaria.bench.compare.Timing;
import io.talaria.bench.engine.JvmStarter;
import io.talaria.bench.engine.WorkerPool;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.UcxPerftest;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an iteration makes of a {@code ucx_perftest} that gives no figure. */
@Tag("alone")
@Timeout(180)
class UcxCaseTest {
  private static final Pinning PINNING = new Pinning(Pinning.NONE, Pinning.NONE, "a test");
  private static final Case WHAT = new Case(Operation.TAG, Kind.LATENCY, 16, 1);

  private static JvmStarter starter(String name) {
    return new JvmStarter(name, Pinning.NONE, null, List.of(), List.of());
  }

  @Test
  void aSilentBaselineIsMissingAndTalariasFigureStands(@TempDir Path folder) throws Exception {
    NeedsUcx.check();
    assumeTrue(UcxPerftest.installed(), "no ucx_perftest");
    Path silent = Files.writeString(folder.resolve("silent"), "#!/bin/sh\nexit 0\n");
    Files.setPosixFilePermissions(silent, PosixFilePermissions.fromString("rwx------"));
    Comparison found = new Comparison(List.of(Implementation.TALARIA));
    StringWriter progress = new StringWriter();
    try (WorkerPool workerPool = WorkerPool.here(2, starter("server"), starter("client"))) {
      UcxRun run =
          new UcxRun(
              workerPool,
              new UcxPerftest(PINNING, silent.toString()),
              new Timing(0, 0.05),
              UcxPerftest.SHARED_MEMORY,
              false);
      new Iterations(1, 0, false, new PrintWriter(progress))
          .measure(List.of(new UcxCase(WHAT, run)), found);
    }
    assertThat(found.spread(WHAT.id(), Implementation.TALARIA).median()).isPositive();
    assertThat(found.spread(WHAT.id(), Implementation.UCX_IN_C)).isNull();
    assertThat(found.missing())
        .containsExactly(
            new Comparison.Missing(
                "tag 16 B, latency",
                Implementation.UCX_IN_C,
                1,
                "ucx_perftest printed no figures: "));
    assertThat(progress.toString()).contains("; again");
  }
}
