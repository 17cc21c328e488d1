// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** A fixed corpus for each build; {@code ./talaria fuzz} goes on where it ends. */
@Timeout(value = 200, threadMode = ThreadMode.SEPARATE_THREAD)
class FuzzTest {
  private static final long SEED = 20_261_121;
  private static final int INPUTS = 20_000;

  @TempDir Path dir;

  @Test
  void nothingThatAPeerDoesHarmsTheProcessOrAnotherConnection() throws Exception {
    Fuzzer fuzzer = new Fuzzer(SEED, line -> {});
    AtomicReference<String> hanging = new AtomicReference<>();
    Thread runner = Thread.currentThread();
    try (Watch watch =
        new Watch(
            what -> {
              hanging.set(what);
              runner.interrupt();
            })) {
      fuzzer.run(dir, INPUTS, -1, watch);
    } catch (Exception | Error e) {
      String stacks = hanging.get();
      throw new AssertionError(
          "case " + fuzzer.number() + " of seed " + SEED + (stacks == null ? "" : ": " + stacks),
          e);
    }
    assertThat(fuzzer.total()).as(fuzzer.table()).isGreaterThanOrEqualTo(INPUTS);
  }
}
