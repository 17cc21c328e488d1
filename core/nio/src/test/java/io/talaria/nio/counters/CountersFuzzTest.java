// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.file.CountersFormatException;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a counters file holds, reading it ends in a result or in an IOException. */
@Timeout(120)
class CountersFuzzTest {
  private static final int CASES =
      Integer.getInteger("talaria.test.rounds", 150) < 150 ? 1_000 : 4_000;

  private static final long SETTLE_NS = 100_000;

  @TempDir Path dir;

  @Test
  void damagedFilesAreReadOrRefusedButNeverCrash() throws Exception {
    byte[] sample = CountersDamage.smallSample(dir);
    // A name without meaning, so that a changed process id alone does not end the case.
    Path file = dir.resolve("fuzz");
    Random random = new Random(20_260_731);
    int read = 0;
    int refused = 0;
    for (int i = 0; i < CASES; i++) {
      byte[] bytes = CountersDamage.damage(sample, random);
      Files.write(file, bytes);
      try {
        ProcessInfo info = CountersReader.read(file, SETTLE_NS);
        assertThat(info.connections().size() + info.damaged())
            .isLessThanOrEqualTo(CountersDamage.RECORDS);
        assertThat(info.toString()).doesNotContain("\u001b", "\u0000", "\n");
        assertThat(info.totals()).isNotNull();
        read++;
      } catch (IOException e) {
        assertThat(e.getMessage()).contains(file.toString());
        refused++;
      }
    }
    assertThat(read).as("cases read").isPositive();
    assertThat(refused).as("cases refused").isPositive();
  }

  @Test
  void aFileThatShrinksAndGrowsWhileItIsReadDoesNoHarm() throws Exception {
    byte[] sample = CountersDamage.sample(dir);
    Path file = dir.resolve("shrinking");
    Files.write(file, sample);
    AtomicBoolean done = new AtomicBoolean();
    Thread enemy =
        new Thread(
            () -> {
              Random random = new Random(7);
              while (!done.get()) {
                try {
                  Files.write(file, Arrays.copyOf(sample, random.nextInt(sample.length)));
                  Files.write(file, sample);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              }
            });
    enemy.start();
    try {
      for (int i = 0; i < 500; i++) {
        try {
          CountersReader.read(file, SETTLE_NS);
        } catch (CountersFormatException e) {
          assertThat(e.getMessage()).contains(file.toString());
        }
      }
    } finally {
      done.set(true);
      enemy.join();
    }
  }
}
