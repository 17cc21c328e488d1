// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/** Counters files as a process leaves them, and as somebody else does. */
public final class CountersDamage {
  /** Records of the small sample. */
  public static final int RECORDS = 64;

  private static final long SETTLE_NS = 100_000;
  private static final int NEAR_HEADER_BYTES = 160;

  private CountersDamage() {}

  /** A whole file. */
  static byte[] sample(Path dir) throws IOException {
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      for (int i = 0; i < 40; i++) {
        ConnectionCounters connection =
            counters.connection(
                Role.CLIENT,
                new InetSocketAddress("127.0.0.1", i + 1),
                new InetSocketAddress("fe80::1", 9));
        connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring " + i);
        connection.acceleratedIn(i);
      }
      counters.selector().selected();
      return Files.readAllBytes(counters.path());
    }
  }

  /** A file of {@link #RECORDS} records. */
  public static byte[] smallSample(Path dir) throws IOException {
    byte[] sample =
        Arrays.copyOf(
            sample(dir), CountersLayout.HEADER_BYTES + RECORDS * CountersLayout.RECORD_BYTES);
    sample[CountersLayout.H_CAPACITY] = RECORDS;
    sample[CountersLayout.H_CAPACITY + 1] = 0;
    return sample;
  }

  /** Reads a file, with little patience for records that are being written. */
  public static ProcessInfo read(Path file) throws IOException {
    return CountersReader.read(file, SETTLE_NS);
  }

  /** A copy that is cut short, full of noise, or wrong in some places. */
  public static byte[] damage(byte[] sample, Random random) {
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
}
