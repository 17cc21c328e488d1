// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.launcher.Tree.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command {@code ./talaria test --release}: what it runs, and what it makes of how that ends.
 */
class ReleaseCommandsTest {
  /** Of the usage: those whose tests are others', and that nobody runs for what they do. */
  private static final List<String> NOT_RUN =
      List.of(
          "run", "ss", "ports", "top", "doctor", "test", "mpirun", "mpitop", "mpitune", "package",
          "build", "help");

  @TempDir Path dir;
  private Tree tree;

  @BeforeEach
  void makeTree() throws Exception {
    tree = Tree.in(dir);
    // Maven runs the tests of these; what they end with says it here.
    tree.maven(
        """
        case $* in
          *ChaosTest*) echo well ;;
          *StressTest*) echo first; echo; echo the reason; exit 1 ;;
          *NodesStormTest*) echo 'talaria: no such thing here'; exit 69 ;;
          *NodesSoakTest*) exit 3 ;;
        esac
        exit 0""");
  }

  private Ended release(String... words) throws Exception {
    return tree.run(
        Stream.concat(Stream.of("test", "--release"), Stream.of(words)).toArray(String[]::new));
  }

  @Test
  void whatFailsIsToldWithItsLastLinesAndTheOthersAreRun() throws Exception {
    Ended ended = release("--only", "chaos*,soak-messages");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.out())
        .containsPattern("(?m)^command +result +minutes")
        .containsPattern("(?m)^chaos +passed +\\d+\\.\\d")
        .containsPattern("(?m)^chaos-random +FAILED +\\d+\\.\\d +status 1$")
        .containsPattern("(?m)^chaos-messages +skipped +\\d+\\.\\d +talaria: no such thing here$")
        .containsPattern("(?m)^soak-messages +passed +\\d+\\.\\d +a target is missed$")
        .contains(
            "chaos-random failed (status 1); all of it is in dist/release-test/chaos-random.log:\n",
            "    first\n    the reason\n")
        .containsPattern("\n2 passed, 1 failed, 1 skipped, in \\d+\\.\\d minutes\n$");
    Path logs = tree.root().resolve("dist/release-test");
    assertThat(logs.resolve("chaos.log")).content().contains("well");
    assertThat(logs.resolve("chaos-random.log")).content().contains("the reason");
    assertThat(ended.out()).isEqualTo(Files.readString(logs.resolve("report.txt")));
  }

  @Test
  void itEndsWellIfNothingHasFailed() throws Exception {
    assertThat(release("--only", "chaos,chaos-messages").status()).isZero();
    assertThat(tree.builds()).hasSize(2);
    assertThat(tree.builds().getFirst()).contains("-Dtest=ChaosTest", "-Dtest.limit.seconds=3120");
  }

  @Test
  void itIsShortUnlessALongRunIsWanted() throws Exception {
    assertThat(release("--list", "--only", "fuzz,chaos,soak*").out())
        .isEqualTo(
            """
            fuzz                 fuzz --inputs 20000
            chaos                chaos --minutes 1
            soak                 soak --connects 5000
            soak-messages        soak --messages --connects 200
            """);
    assertThat(release("--long", "--list", "--only", "fuzz,chaos-random,soak*").out())
        .isEqualTo(
            """
            fuzz                 fuzz
            chaos-random         chaos --random
            soak                 soak
            soak-messages        soak --messages
            """);
    assertThat(tree.builds()).isEmpty();
  }

  @Test
  void itRunsEachCommandOfTheUsage() throws Exception {
    String usage = tree.run("--help").out();
    List<String> run =
        release("--list").out().lines().map(line -> line.replaceFirst("^\\S+ +", "")).toList();
    assertThat(run).allMatch(words -> usage.contains("\n  " + words.split(" ")[0] + " "));

    for (String below : List.of("bench", "example")) {
      // Who is named wrongly is told all names.
      String all = tree.run(below).err().strip().replaceFirst(".*There are: ", "");
      assertThat(all.split(" ")).hasSizeGreaterThan(3);
      for (String name : all.split(" ")) {
        assertThat(run).anyMatch(words -> (words + " ").startsWith(below + " " + name + " "));
      }
    }
    Matcher command = Pattern.compile("(?m)^  ([a-z][a-z-]*) ").matcher(usage);
    while (command.find()) {
      String name = command.group(1);
      if (!NOT_RUN.contains(name)) {
        assertThat(run).as(name).anyMatch(words -> (words + " ").startsWith(name + " "));
      }
    }
  }

  @Test
  void aMissingJdkIsStatus69() throws Exception {
    Ended ended =
        tree.run(Map.of("TALARIA_JAVA_HOME", "/nowhere"), "test", "--release", "--only", "chaos");

    assertThat(ended.status()).isEqualTo(69);
    assertThat(tree.builds()).isEmpty();
  }
}
