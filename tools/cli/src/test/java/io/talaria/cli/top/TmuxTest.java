// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.cli.ports.Tree;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code talaria top} and {@code ss --watch} on a real terminal: one of tmux. */
@Timeout(300)
class TmuxTest {
  private static final long LIMIT_S = 60;

  @TempDir Path dir;
  private Tree tree;
  private String socket;

  @BeforeEach
  void startTerminal() throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/tmux")), "tmux is not installed (Debian: tmux)");
    tree = Tree.in(dir.resolve("sys"));
    socket = dir.resolve("tmux").toString();
    StringBuilder java = new StringBuilder("#!/bin/sh\nexec ");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            Arrays.stream(System.getProperty("java.class.path").split(":"))
                .map(part -> Path.of(part).toAbsolutePath().toString())
                .collect(Collectors.joining(":")),
            "io.talaria.cli.Main");
    command.forEach(word -> java.append('\'').append(word).append("' "));
    Path script = dir.resolve("talaria");
    Files.writeString(script, java + "\"$@\"\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", "sh");
    await(screen -> !screen.isBlank(), "shell"); // which would echo into what is typed sooner
    type("PS1='ready> '; cd " + dir);
    prompt();
  }

  @AfterEach
  void endTerminal() throws Exception {
    if (socket != null) {
      tmux("kill-server");
    }
  }

  private String tmux(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("/usr/bin/tmux", "-S", socket));
    command.addAll(List.of(words));
    return ChildProcess.command(command.toArray())
        .oneOutput()
        .withoutEnvironment(Set.of("TMUX", "NO_COLOR")::contains)
        .environment("LC_ALL", "C.UTF-8")
        .run(Duration.ofSeconds(LIMIT_S))
        .outText();
  }

  private void type(String line) throws Exception {
    tmux("send-keys", "-l", line);
    tmux("send-keys", "Enter");
  }

  private void press(String... keys) throws Exception {
    for (String key : keys) {
      tmux("send-keys", key);
    }
  }

  private String screen(String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of("capture-pane", "-p"));
    words.addAll(List.of(options));
    return tmux(words.toArray(String[]::new));
  }

  private void await(Predicate<String> wanted, String what) throws Exception {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
    while (!wanted.test(screen())) {
      if (System.nanoTime() > endNs) {
        throw new AssertionError("no " + what + " on the screen:\n" + screen());
      }
      Thread.sleep(20); // a terminal cannot be waited for
    }
  }

  private void await(String text) throws Exception {
    await(screen -> screen.contains(text), text);
  }

  /** Starts it, and waits for its first look. */
  private void top(String options) throws Exception {
    prompt();
    type("stty -g > before; echo kept; ./talaria top --sys sys --dir nowhere " + options);
    await("q leave");
  }

  /** Waits until the shell reads: what is typed before goes to the program that ends. */
  private void prompt() throws Exception {
    await(screen -> ("\n" + screen.stripTrailing()).endsWith("\nready>"), "prompt");
  }

  /** The shell is back on its own screen, with what it showed and the modes that it had. */
  private void givenBack(int status) throws Exception {
    prompt();
    type("echo status $?; stty -g > after; cmp before after && echo same modes");
    await("status " + status + "\n");
    await("\nsame modes");
    assertThat(screen()).contains("\nkept").doesNotContain("q leave");
    assertThat(tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}").strip())
        .isEqualTo("1 0");
  }

  @Test
  void keysAreObeyedAndTheScreenIsGivenBack() throws Exception {
    top("");
    await("mlx5_0/1");
    press("Down", "Space", "Up", "Enter");
    await(screen -> screen.contains("in  0 B/s") && screen.contains("mlx5_1/1"), "two ports");
    press("u");
    await("0 bit/s");
    press("4");
    await("no process with Talaria is found");
    press("h");
    await("count errors from now on");
    press("x");
    await("no process with Talaria is found");
    press("Escape");
    // Not before the key is obeyed: an r right behind an escape is another key.
    await(screen -> screen.contains("mlx5_1/1"), "the ports");
    tree.write("class/infiniband/mlx5_1/ports/1/counters/link_downed", "4");
    press("r");
    await(
        screen -> screen.lines().anyMatch(l -> l.contains("mlx5_1/1") && l.contains("4 (+4)")),
        "new errors");
    press("q");
    givenBack(0);
  }

  @Test
  void fourPortsStandSideBySide() throws Exception {
    Tree.ports(dir.resolve("sys"), 4);
    top("");
    await("mlx5_3/1");
    press("Space", "Down", "Space", "Down", "Space", "Down", "Enter");
    await(
        screen ->
            screen
                .lines()
                .anyMatch(
                    line ->
                        line.contains("mlx5_0/1")
                            && line.contains("mlx5_1/1")
                            && line.contains("mlx5_2/1")
                            && line.contains("mlx5_3/1")),
        "four ports in a line");
    press("q");
    givenBack(0);
  }

  @Test
  void itFollowsTheSizeOfTheTerminal() throws Exception {
    top("--screen side");
    await("mlx5_1/1");
    tmux("resize-window", "-x", "39", "-y", "30");
    await("40x10 at least; here 39x30");
    tmux("resize-window", "-x", "60", "-y", "20");
    await(screen -> screen.contains("q leave") && !screen.contains("at least"), "the screen");
    press("q");
    givenBack(0);
  }

  @Test
  void ctrlCGivesItBack() throws Exception {
    top("");
    press("C-c");
    givenBack(130);
  }

  @Test
  void aTerminationGivesItBack() throws Exception {
    top("");
    String child = tmux("display-message", "-p", "#{pane_pid}").strip();
    ProcessHandle.of(Long.parseLong(child))
        .orElseThrow()
        .children()
        .forEach(ProcessHandle::destroy);
    givenBack(143);
  }

  @Test
  void ctrlZStopsItAndItGoesOn() throws Exception {
    type("set -m");
    top("");
    press("C-z");
    await("topped");
    prompt();
    assertThat(screen()).contains("kept").doesNotContain("q leave");
    type("stty -g > stopped; cmp before stopped && echo as before");
    await("\nas before");
    prompt();
    type("fg");
    await("q leave");
    press("q");
    givenBack(0);
  }

  @Test
  void coloursAreShownUnlessTheyAreNotWanted() throws Exception {
    top("");
    await("mlx5_0/1");
    assertThat(screen("-e")).contains("\u001b[31");
    press("q");
    givenBack(0);
    type("clear; export NO_COLOR=1; echo cleared");
    await(screen -> screen.startsWith("cleared\n"), "cleared screen");
    top("");
    await("mlx5_0/1");
    assertThat(screen("-e")).doesNotContain("\u001b[31");
    press("q");
    givenBack(0);
  }

  @Test
  void aDumbTerminalGetsTheTable() throws Exception {
    type("TERM=dumb ./talaria top --sys sys --interval 0.2");
    await("mlx5_0/1");
    assertThat(screen()).doesNotContain("q leave");
    assertThat(tmux("display-message", "-p", "#{alternate_on}").strip()).isEqualTo("0");
    press("C-c");
  }

  @Test
  void ssWatchUsesTheSameScreen() throws Exception {
    type("stty -g > before; echo kept; ./talaria ss --watch --dir nowhere");
    await("q or Ctrl-C ends");
    press("q");
    givenBack(0);
  }
}
