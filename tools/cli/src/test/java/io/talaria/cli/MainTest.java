// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.harness.HarnessException;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How the command answers: exit status, and errors in one line. */
class MainTest {
  private static final String MANY_LINES =
      "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19";

  @TempDir Path dir;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void theUsageOfACommandIsOneLine() {
    List<CommandLine> all = new ArrayList<>(List.of(Main.commandLine()));
    for (int i = 0; i < all.size(); i++) {
      all.addAll(all.get(i).getSubcommands().values());
      List<String> help = all.get(i).getUsageMessage().lines().toList();
      assertThat(help.get(0)).startsWith("Usage: talaria").hasSizeLessThanOrEqualTo(80);
      assertThat(help.get(1)).as(help.get(0)).doesNotStartWith("    ");
    }
  }

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
  void aWordThatIsNoneOfSeveralIsToldWithEachOfThemOnce() {
    assertThat(execute("choice", "--sort=air")).isEqualTo(2);
    assertThat(err.toString()).startsWith("talaria: --sort: there is no 'air', but land, sea\n");
  }

  @Test
  void optionsThatExcludeEachOtherAreToldWithoutAnotherBeginning() {
    assertThat(execute("choice", "--up", "--down")).isEqualTo(2);
    assertThat(err.toString()).startsWith("talaria: --up, --down are mutually exclusive");
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

  @Test
  void whatAProcessPrintedIsShownIfItIsShort() {
    assertThat(execute("printed", "--text", "No such option")).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly("talaria: the server ended", "--- output ---", "No such option");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Error: gone\n\tat Some.where(Here.java:1)", MANY_LINES})
  void tracesAndLongOutputAreShownWhenVerbose(String printed) {
    assertThat(execute("printed", "--text", printed)).isEqualTo(1);
    assertThat(err.toString().lines())
        .containsExactly(
            "talaria: the server ended", "talaria: --verbose shows all that was printed");
    assertThat(execute("printed", "--text", printed, "--verbose")).isEqualTo(1);
    assertThat(err.toString()).contains(printed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ss", "ss --nodes", "ss --watch 0.01 --json"})
  void outputThatCannotBeWrittenIsAFailure(String words) throws Exception {
    ChildProcess ended = main(words + " --dir \"$DIR\" >/dev/full");
    assertThat(ended.exitStatus()).isEqualTo(1);
    assertThat(ended.errText()).isEqualTo("talaria: cannot write to standard output\n");
  }

  @Test
  void aReaderThatEndsEarlyIsNoFailure() throws Exception {
    ChildProcess ended =
        main("ss --watch 0.01 --json --dir \"$DIR\" | head -n 1; echo ${PIPESTATUS[0]}");
    assertThat(ended.out()).hasSize(2).last().isEqualTo("0");
    assertThat(ended.errText()).isEmpty();
  }

  /** Runs the command in a process of its own, with what a shell makes of its output. */
  private ChildProcess main(String words) throws Exception {
    return ChildProcess.command(
            "bash",
            "-c",
            "\"$JAVA\" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 io.talaria.cli.Main " + words)
        .environment("DIR", dir)
        .environment("JAVA", ChildProcess.jdkProgram("java"))
        .environment("CLASSPATH", System.getProperty("java.class.path"))
        .withoutEnvironment(name -> name.startsWith("JAVA_") || name.startsWith("JDK_"))
        .run(Duration.ofSeconds(60));
  }

  private int execute(String... args) {
    CommandLine line = Main.commandLine();
    line.addSubcommand(new Choice());
    line.addSubcommand(new Io()).addSubcommand(new Bug()).addSubcommand(new Printed());
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  private enum Sort {
    LAND,
    SEA;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Command(name = "choice")
  private static final class Choice implements Callable<Integer> {
    @Option(names = "--sort", split = ",")
    private List<Sort> sorts = new ArrayList<>();

    @ArgGroup(exclusive = true)
    private Way way;

    static final class Way {
      @Option(names = "--up")
      private boolean up;

      @Option(names = "--down")
      private boolean down;
    }

    @Override
    public Integer call() {
      return sorts.size() + (way != null && (way.up || way.down) ? 1 : 0);
    }
  }

  @Command(name = "io")
  private static final class Io implements Callable<Integer> {
    @Override
    public Integer call() throws IOException {
      throw new IOException("the disk is full");
    }
  }

  @Command(name = "printed")
  private static final class Printed implements Callable<Integer> {
    @Option(names = "--text")
    private String text;

    @Override
    public Integer call() throws HarnessException {
      throw new HarnessException("the server ended\n--- output ---\n" + text);
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
