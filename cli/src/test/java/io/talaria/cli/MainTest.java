// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** How the command answers: exit status, and errors in one line. */
class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void printsItsVersion() {
    assertThat(execute("--version")).isZero();
    assertThat(out.toString()).startsWith("talaria ").contains("Java " + Runtime.version());
  }

  @Test
  void explainsItself() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString()).startsWith("Usage: talaria ");
  }

  @Test
  void wrongUsageIsStatusTwoAndNamesTheWayOut() {
    assertThat(execute("--no-such-option")).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly("talaria: Unknown option: '--no-such-option'", "try: talaria --help");
  }

  @Test
  void noCommandIsWrongUsage() {
    assertThat(execute()).isEqualTo(2);
    assertThat(err.toString()).startsWith("talaria: which command?");
  }

  @Test
  void failureIsStatusOneAndItsMessage() {
    assertThat(execute("io")).isEqualTo(1);
    assertThat(err.toString().lines()).containsExactly("talaria: the disk is full");
  }

  @Test
  void failureShowsItsTraceWhenVerbose() {
    assertThat(execute("io", "--verbose")).isEqualTo(1);
    assertThat(err.toString())
        .startsWith("talaria: the disk is full")
        .contains("java.io.IOException", "\tat ");
  }

  @Test
  void mistakesOfOursNameTheirType() {
    assertThat(execute("bug")).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly(
            "talaria: java.lang.IllegalStateException: never",
            "talaria: --verbose shows where this comes from");
  }

  private int execute(String... args) {
    CommandLine line = Main.commandLine();
    line.addSubcommand(new Io()).addSubcommand(new Bug());
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  @Command(name = "io")
  private static final class Io implements Callable<Integer> {
    @Override
    public Integer call() throws IOException {
      throw new IOException("the disk is full");
    }
  }

  @Command(name = "bug")
  private static final class Bug implements Callable<Integer> {
    @Override
    public Integer call() {
      throw new IllegalStateException("never");
    }
  }
}
