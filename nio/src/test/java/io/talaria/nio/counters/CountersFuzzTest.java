// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.io.IOException;
import java.net.InetSocketAddress;
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
  private static final int CASES = 4_000;
  private static final long SETTLE_NS = 100_000;
  private static final int NEAR_HEADER_BYTES = 160;

  @TempDir Path dir;

  private byte[] sample() throws IOException {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      for (int i = 0; i < 40; i++) {
        ConnectionCounters connection =
            counters.connection(
                Role.CLIENT,
                new InetSocketAddress("127.0.0.1", i + 1),
                new InetSocketAddress("fe80::1", 9));
        connection.mode(Mode.SHM, Reason.SAME_HOST, "ring " + i);
        connection.fabricIn(i);
      }
      counters.selector().selected();
      return Files.readAllBytes(counters.path());
    }
  }

  @Test
  void damagedFilesAreReadOrRefusedButNeverCrash() throws Exception {
    byte[] sample = Arrays.copyOf(sample(), 4096 + 64 * 256);
    sample[CountersLayout.H_CAPACITY] = 64;
    sample[CountersLayout.H_CAPACITY + 1] = 0;
    // A name without meaning, so that a changed process id alone does not end the case.
    Path file = dir.resolve("fuzz");
    Random random = new Random(20_260_731);
    int read = 0;
    int refused = 0;
    for (int i = 0; i < CASES; i++) {
      byte[] bytes = damage(sample, random);
      Files.write(file, bytes);
      try {
        ProcessInfo info = CountersReader.read(file, SETTLE_NS);
        assertThat(info.connections().size() + info.damaged()).isLessThanOrEqualTo(64);
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

  private static byte[] damage(byte[] sample, Random random) {
    byte[] bytes = sample.clone();
    int kind = random.nextInt(10);
    if (kind == 0) {
      return Arrays.copyOf(bytes, random.nextInt(bytes.length));
    }
    if (kind == 1) {
      random.nextBytes(bytes);
      if (random.nextBoolean()) {
        System.arraycopy(sample, 0, bytes, 0, CountersLayout.HEADER_BYTES);
      }
      return bytes;
    }
    int from = kind == 2 ? 0 : CountersLayout.H_PID;
    int to = kind == 2 ? NEAR_HEADER_BYTES : bytes.length;
    for (int n = 1 + random.nextInt(64); n > 0; n--) {
      int at = from + random.nextInt(to - from);
      bytes[at] =
          switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> (byte) 0xFF;
            case 2 -> 0x7F;
            default -> (byte) random.nextInt();
          };
    }
    return bytes;
  }

  @Test
  void aFileThatShrinksAndGrowsWhileItIsReadDoesNoHarm() throws Exception {
    byte[] sample = sample();
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
