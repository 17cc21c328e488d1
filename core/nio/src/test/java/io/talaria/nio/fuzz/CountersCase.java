// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.fuzz;

import io.talaria.nio.counters.CountersDamage;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Damaged counters files, read as {@code ss} reads them. An input is a file. */
final class CountersCase {
  private static final int FILES = 50;
  private static final String HARMFUL = "\u001b\u0000\n\r";

  private final Path file;
  private final byte[] sample;

  CountersCase(Path dir) throws IOException {
    file = dir.resolve("damaged");
    Path whole = Files.createTempDirectory(dir, "counters"); // mode 0700
    sample = CountersDamage.smallSample(whole);
    Files.deleteIfExists(whole);
  }

  int run(Random random) throws IOException {
    for (int i = 0; i < FILES; i++) {
      Files.write(file, CountersDamage.damage(sample, random));
      ProcessInfo info;
      try {
        info = CountersDamage.read(file);
      } catch (IOException e) {
        continue; // refused
      }
      int shown = info.connections().size() + info.damaged();
      if (shown > CountersDamage.RECORDS) {
        throw new Finding(shown + " records in a file of " + CountersDamage.RECORDS);
      }
      String text = info.toString();
      for (int c = 0; c < HARMFUL.length(); c++) {
        if (text.indexOf(HARMFUL.charAt(c)) >= 0) {
          throw new Finding("a control character " + (int) HARMFUL.charAt(c) + " would be shown");
        }
      }
    }
    return FILES;
  }
}
