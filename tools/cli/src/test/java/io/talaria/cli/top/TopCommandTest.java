// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.Main;
import io.talaria.cli.harness.ExitStatus;
import io.talaria.cli.ports.FabricChoice;
import io.talaria.cli.ports.Tree;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code talaria top} without a terminal, where it is {@code talaria ports}. */
@Timeout(180)
class TopCommandTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @Test
  void allPortsAreShownOnRequest(@TempDir Path sys) throws Exception {
    Tree.in(sys);
    try (ChildProcess top = ChildProcess.jvm(Main.class, "top", "--all", "--sys", sys).start()) {
      assertThat(top.awaitLine("lo .*", LIMIT).group()).contains("300 B");
    }
  }

  /** Of the ports of this host it would show tables without end. */
  @Test
  void theFabricIsShownOnRequest() throws Exception {
    ChildProcess top =
        ChildProcess.jvm(Main.class, "top", "--fabric", "--from", "none_0").run(LIMIT);
    assertThat(top.exitStatus()).as(top.output()).isEqualTo(ExitStatus.MISSING);
  }

  @Test
  void optionsOfTheFabricAreHandedOnAsGiven() {
    String[] all = {
      "--from=mlx5_0/1", "--timeout-ms=50", "--tries=3", "--max-hops=4", "--queries=5"
    };
    assertThat(CommandLine.populateCommand(new FabricChoice(), all).words()).containsExactly(all);
    assertThat(CommandLine.populateCommand(new FabricChoice(), "--tries=3").words())
        .containsExactly("--tries=3");
  }
}
