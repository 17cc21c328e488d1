// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Settings;
import io.talaria.it.programs.Haste;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program that exits in the middle of connecting removes all its files, without help. */
class ExitTest {
  private static final int USUAL = 12;
  private static final int MAX_US = 60_000;

  @RegisterExtension final Lab lab = new Lab();

  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  @Timeout(value = 300, unit = TimeUnit.SECONDS)
  void leavesNothing(Flavour flavour) throws Exception {
    Random chance = new Random(1);
    for (int round = 0; round < Settings.scaled(USUAL); round++) {
      int after = round % 3 == 0 ? 0 : chance.nextInt(MAX_US);
      lab.child(flavour, Haste.class).arg("after", after).start().awaitExit(0);
      assertThat(files(lab.talariaDir())).as("after %d us", after).isEmpty();
      assertThat(files(lab.shmDir())).as("after %d us", after).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TALARIA", "TALARIA_17"})
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void connectsForTheFirstTimeWhileItExits(Flavour flavour) throws Exception {
    Child child = lab.child(flavour, Haste.class).arg("in", "hook").start();
    child.await("connected");
    child.awaitExit(0);
    assertThat(files(lab.talariaDir())).isEmpty();
    assertThat(files(lab.shmDir())).isEmpty();
  }

  private static List<Path> files(Path dir) throws IOException {
    if (!Files.isDirectory(dir)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(dir)) {
      return files.toList();
    }
  }
}
