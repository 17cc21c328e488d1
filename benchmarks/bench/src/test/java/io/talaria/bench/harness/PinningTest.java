// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class PinningTest {
  @Test
  void nothingIsPinnedWhenNotWanted() {
    Pinning pinning = Pinning.decide(false);

    assertThat(pinning.active()).isFalse();
    assertThat(pinning.describe()).isEqualTo("none (not wanted)");
    assertThat(Pinning.prefix(pinning.serverCore())).isEmpty();
  }

  @Test
  void aCoreBecomesTheWordsOfTaskset() {
    assertThat(Pinning.prefix(1)).containsExactly("taskset", "-c", "1");
  }

  @Test
  void programsAreFoundOnThePath() {
    assertThat(Pinning.find("sh")).isNotNull();
    assertThat(Pinning.find("no-such-program-of-talaria")).isNull();
  }

  @Test
  void coresAreOfTheProcessesOwnSetAndNotTwoThreadsOfOne() {
    List<Integer> allowed = Cores.parse("4-6,9\n");
    assertThat(allowed).containsExactly(4, 5, 6, 9);
    assertThat(Cores.two(allowed, core -> List.of(4, 5))).containsExactly(4, 6);
    assertThat(Cores.two(List.of(4, 5), core -> List.of(4, 5))).containsExactly(4, 5);
    assertThat(Cores.allowed()).isNotEmpty().allMatch(core -> core >= 0);
  }

  @Test
  void chosenCoresAreChecked() {
    int own = Cores.allowed().get(0);
    assertThat(pinning("--cores", own + "," + own))
        .isIn(Pinning.on(own, own), new Pinning(-1, -1, "no taskset (package util-linux)"));
    refused("such as 0,1", "--cores", "1");
    refused("none of those that this process may use", "--cores", own + ",4096");
    refused("--no-pin not to", "--no-pin", "--cores", "0,0");
  }

  private static void refused(String why, String... words) {
    assertThatExceptionOfType(ParameterException.class)
        .isThrownBy(() -> pinning(words))
        .withMessageContaining(why);
  }

  @Command
  private static final class Measuring {
    @Mixin private PinOptions pin;
  }

  private static Pinning pinning(String... words) {
    Measuring measuring = new Measuring();
    CommandLine command = new CommandLine(measuring);
    command.parseArgs(words);
    return measuring.pin.pinning(command);
  }
}
