// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ChildProcessTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(50);

  /** Answers each line, until its input ends; {@code exit N} ends it at once. */
  static final class Echo {
    private Echo() {}

    public static void main(String[] arguments) throws IOException {
      System.out.println("runs " + List.of(arguments) + System.getProperty("of.test"));
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("exit ")) {
          System.err.println("last words");
          System.exit(Integer.parseInt(line.substring(5)));
        }
        System.out.println("got " + line);
      }
    }
  }

  /** A parent that starts a child, prints the child's id and ends in its own way. */
  static final class Parent {
    private Parent() {}

    @SuppressWarnings("MustBeClosedChecker")
    public static void main(String[] arguments) throws Exception {
      ChildProcess child = ChildProcess.command("sleep", 600).start();
      System.out.println(child.pid());
    }
  }

  private static boolean lives(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  private static void awaitGone(long pid) throws InterruptedException {
    long startNs = System.nanoTime();
    while (lives(pid)) {
      assertThat(System.nanoTime() - startNs).isLessThan(LIMIT.toNanos());
      Thread.onSpinWait();
    }
  }

  @Test
  void whatIsLeftOutOfTheEnvironmentIsNotInherited() throws Exception {
    ChildProcess bare =
        ChildProcess.command("/usr/bin/env")
            .withoutEnvironment(name -> true)
            .environment("OF_TEST", "x")
            .runSuccessfully(LIMIT);
    assertThat(bare.out()).containsExactly("OF_TEST=x");
    ChildProcess other =
        ChildProcess.command("/usr/bin/env")
            .withoutEnvironment("PATH"::equals)
            .runSuccessfully(LIMIT);
    assertThat(other.out()).isNotEmpty().noneMatch(line -> line.startsWith("PATH="));
  }

  @Test
  void linesGoInAndOutAndTheEndHasItsStatus() throws Exception {
    try (ChildProcess child =
        ChildProcess.jvm(Echo.class, 1, "two").options("-Dof.test=x").start()) {
      assertThat(child.awaitLine("runs (.*)", LIMIT).group(1)).isEqualTo("[1, two]x");
      child.send("a");
      child.send("b");
      assertThat(child.awaitLine("got b", LIMIT).group()).isEqualTo("got b");
      child.closeInput();
      assertThat(child.awaitSuccess(LIMIT).exitStatus()).isZero();
      assertThat(child.out()).containsExactly("runs [1, two]x", "got a", "got b");
      assertThat(child.err()).isEmpty();
    }
  }

  @Test
  void aLineIsFoundOnce() throws Exception {
    try (ChildProcess child = ChildProcess.command("sh", "-c", "echo a; echo b").start()) {
      assertThat(child.awaitLine(".", LIMIT).group()).isEqualTo("a");
      assertThat(child.awaitLine(".", LIMIT).group()).isEqualTo("b");
      assertThatThrownBy(() -> child.awaitLine(".", LIMIT))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("sh has not printed a line that matches .");
    }
  }

  @Test
  void aFailureHasTheStatusAndBothOutputs() throws Exception {
    try (ChildProcess child = ChildProcess.jvm(Echo.class).start()) {
      child.send("exit 9");
      assertThatThrownBy(() -> child.awaitSuccess(LIMIT))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("Echo has failed; exit status 9")
          .hasMessageContaining("runs []")
          .hasMessageContaining("last words");
      assertThat(child.err()).containsExactly("last words");
      assertThat(child.errText()).isEqualTo("last words\n");
      assertThat(child.outText()).isEqualTo("runs []null\n");
    }
  }

  @Test
  void whatMissesItsTimeShowsItsThreads() throws Exception {
    try (ChildProcess child = ChildProcess.jvm(Echo.class).start()) {
      child.awaitLine("runs.*", LIMIT);
      assertThatThrownBy(() -> child.awaitLine("never", SHORT))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("within 50 ms; running")
          .hasMessageContaining("ChildProcessTest$Echo.main");
      assertThatThrownBy(() -> child.awaitEnd(SHORT))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("Echo has not ended within 50 ms");
      assertThat(child.out())
          .as("both whole, so that nothing is printed into them")
          .filteredOn(line -> line.startsWith(" Metaspace "))
          .hasSize(2);
      child.send("a");
      assertThat(child.awaitLine("got .*", LIMIT).group()).isEqualTo("got a");
    }
  }

  @Test
  void moreOutputThanAPipeHoldsDoesNotBlock() throws Exception {
    ChildProcess child = ChildProcess.command("sh", "-c", "seq 100000; seq 100000 >&2").run(LIMIT);
    assertThat(child.exitStatus()).isZero();
    assertThat(child.out()).hasSize(100_000).endsWith("100000");
    assertThat(child.err()).hasSize(100_000).endsWith("100000");
  }

  @Test
  void closingKillsWhatTheProcessHasStartedToo() throws Exception {
    long parent;
    long below;
    try (ChildProcess child =
        ChildProcess.command("sh", "-c", "sleep 600 & echo $!; wait").start()) {
      parent = child.pid();
      below = Long.parseLong(child.awaitLine("\\d+", LIMIT).group());
      assertThat(lives(below)).isTrue();
    }
    assertThat(lives(parent)).isFalse();
    awaitGone(below);
  }

  @Test
  void anEndedJvmLeavesNoChildren() throws Exception {
    ChildProcess parent = ChildProcess.jvm(Parent.class).run(LIMIT);
    awaitGone(Long.parseLong(parent.out().get(0)));
    assertThat(parent.exitStatus()).isZero();
  }

  @Test
  void theEnvironmentAndTheDirectoryAreAsTold(@TempDir Path directory) throws Exception {
    Path input = Files.writeString(directory.resolve("input"), "from a file\n");
    ChildProcess child =
        ChildProcess.command("sh", "-c", "pwd; echo $OWN $MORE $JDK_JAVA_OPTIONS; cat; echo x >&2")
            .environment("OWN", 1)
            .environment(Map.of("MORE", "2"))
            .directory(directory)
            .input(input)
            .oneOutput()
            .run(LIMIT);
    assertThat(child.out())
        .containsExactly(directory.toRealPath().toString(), "1 2", "from a file", "x");
    assertThat(child.output()).endsWith("from a file\nx\n");
  }

  @Test
  void runningSuccessfullyDemandsStatusZero() throws Exception {
    assertThat(ChildProcess.command("true").runSuccessfully(LIMIT).exitStatus()).isZero();
    assertThatThrownBy(() -> ChildProcess.command("false").runSuccessfully(LIMIT))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("false has failed; exit status 1");
  }

  @Test
  void aSignalArrives() throws Exception {
    try (ChildProcess child = ChildProcess.command("sleep", "600").start()) {
      child.signal("TERM");
      assertThat(child.awaitEnd(LIMIT)).isEqualTo(128 + 15);
      assertThatThrownBy(() -> child.signal("TERM")).hasMessageContaining("signal TERM");
    }
  }

  @Test
  void theCommandInFrontRunsTheJvm() throws Exception {
    ChildProcess child =
        ChildProcess.jvm(Echo.class, "a")
            .under("sh", "-c", "echo first; exec \"$@\"", "sh")
            .classPath(System.getProperty("java.class.path"))
            .java(ChildProcess.jdkProgram("java"))
            .run(LIMIT);
    assertThat(child.out()).containsExactly("first", "runs [a]null");
  }
}
