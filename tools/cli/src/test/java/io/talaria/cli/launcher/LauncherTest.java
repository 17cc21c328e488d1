// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.cli.Main;
import io.talaria.cli.launcher.Tree.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code ./talaria}: what it does without a build, what it ends with, what it says. */
class LauncherTest {
  private static final Pattern TO_BUILD =
      Pattern.compile("run \\./talaria (build.*), then \\./talaria (.+) again");

  @TempDir Path dir;
  private Tree tree;

  @BeforeEach
  void makeTree() throws Exception {
    tree = Tree.in(dir);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--version", "-V"})
  void itsVersionNeedsNoBuild(String option) throws Exception {
    Ended ended = tree.run(option);

    assertThat(ended.status()).isZero();
    assertThat(ended.out()).matches("talaria \\d+\\.\\d+\\.\\d+\\S*\n");
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run",
        "test",
        "build",
        "package",
        "chaos",
        "soak",
        "fuzz",
        "ucx-example",
        "verbs-example",
        "bench verbs",
        "bench ports"
      })
  void aCommandOfTheLauncherHasHelpOfItsOwnWithoutABuild(String command) throws Exception {
    Ended ended = tree.run((command + " --help").split(" "));

    assertThat(ended.status()).isZero();
    assertThat(ended.out())
        .startsWith("Usage: ./talaria " + command)
        .contains("Exit status:", "69");
    assertThat(tree.run(("help " + command).split(" ")).out()).isEqualTo(ended.out());
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo",
        "ss",
        "ports",
        "top",
        "doctor",
        "observe",
        "bench sockets",
        "bench mpj",
        "example echo",
        "mpirun",
        "mpitop",
        "mpitune"
      })
  void helpOfWhatIsNotBuiltSaysWhatItIsAndStartsNoBuild(String command) throws Exception {
    Ended ended = tree.run((command + " --help").split(" "));

    assertThat(ended.status()).isZero();
    assertThat(ended.out())
        .startsWith("talaria " + command.split(" ")[0])
        .contains("talaria build");
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bench", "bench kvs", "example", "mpirun"})
  void helpOfABuildStartsNone(String words) throws Exception {
    Ended ended = tree.run(("build " + words + " --help").split(" "));

    assertThat(ended.status()).isZero();
    assertThat(ended.out()).isEqualTo(tree.run("build", "--help").out());
    assertThat(tree.builds()).isEmpty();
  }

  @Test
  void whatMessagePassingNeedsIsBuiltByAnyOfItsCommands() throws Exception {
    assertThat(tree.run("build", "mpitop").status()).isZero();

    assertThat(tree.builds()).singleElement().asString().contains("message-passing/mpj-examples");
  }

  @ParameterizedTest
  @CsvSource({
    "hlep, help",
    "tset, test",
    "demmo, demo",
    "chaso, chaos",
    "obsevre, observe",
    "sss, ss",
    "port, ports",
    "rdmatest, rdma-test",
  })
  void aTypoNamesTheNearestCommandAtOnce(String typo, String meant) throws Exception {
    Ended ended = tree.run(typo);

    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err())
        .isEqualTo(
            "talaria: unknown command "
                + typo
                + ", did you mean "
                + meant
                + "? Try: ./talaria --help\n");
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "frobnicate              | unknown command frobnicate; try: ./talaria --help",
        "--frobnicate            | unknown option --frobnicate; try: ./talaria --help",
        "bench sokets            | bench: unknown name sokets, did you mean sockets? There are:"
            + " bookkeeper grpc",
        "bench foo               | bench: unknown name foo; there are: bookkeeper grpc kafka kvs"
            + " messages",
        "bench                   | bench: which one? There are: bookkeeper grpc",
        "build bench foo         | bench: unknown name foo; there are: bookkeeper grpc",
        "build bench             | bench: which one? There are: bookkeeper grpc",
        "build example           | example: which one? There are: counter echo kvs messages",
        "example kvz             | example: unknown name kvz, did you mean kvs? There are: counter",
        "example                 | example: which one? There are: counter echo kvs messages",
        "test --release --all    | test: --all does not go with --release",
        "test --release --only   | test: --only needs names or patterns",
        "test --release --only x | test: --only x: there is no such command",
        "test --release --lst    | test: unknown option --lst; try: ./talaria test --help",
        "run                     | run: which command?",
        "run --quiet -- true     | run: unknown option --quiet; try: ./talaria run --help",
        "test --al               | test: unknown option --al; try: ./talaria test --help",
        "build now               | build: unknown option now; try: ./talaria build --help",
        "chaos --messages --connections 5 | chaos: --connections does not go with --messages",
        "chaos --jdk-sockets --messages | chaos: --jdk-sockets does not go with --messages",
        "chaos --random --connections 5 | chaos: --connections does not go with --random",
        "chaos --connections 5 --jdk-sockets --random | chaos: --connections does not go with",
        "chaos --random --messages | chaos: either --random or --messages",
        "chaos --minutes x       | --minutes needs a whole number from 1 to 10000, not x",
        "soak --messages --connects 5 | --connects needs a whole number from 20 to 1000000000",
        "soak --connects         | --connects needs a whole number from 1 to 1000000000",
        "fuzz --inputs 0         | --inputs needs a whole number from 1",
        "fuzz --case             | --case needs a whole number",
        "fuzz --loud             | fuzz: unknown option --loud; try: ./talaria fuzz --help",
        "ucx-example mesaging    | ucx-example: no example mesaging, did you mean messaging? There"
            + " are: messaging streaming",
        "verbs-example pingpong  | verbs-example: no example pingpong, did you mean ping-pong?",
        "verbs-example --loud    | verbs-example: unknown option --loud; try: ./talaria"
            + " verbs-example",
        "bench verbs --bindig    | bench verbs: unknown option --bindig; try: ./talaria bench"
            + " verbs",
        "bench verbs             | bench verbs: --binding is what there is",
        "bench ports --all       | bench ports: unknown option --all; try: ./talaria bench ports",
        "bench verbs --json -    | bench verbs: --binding is what there is",
        "bench verbs --binding --json | bench verbs: --json needs a file, or - for",
        "bench ports             | bench ports: either --fabric or --top",
        "bench ports --fabric --top | bench ports: either --fabric or --top",
        "bench ports --top --json /no/x | bench ports: --json: there is no folder /no",
        "bench ports --top --json /proc | bench ports: --json: /proc is a folder",
        "ucx-example --remote me | --remote needs HOST:PORT, not me",
      })
  void wrongUsageIsStatusTwoAndNoBuild(String words, String said) throws Exception {
    Ended ended = tree.run(words.split(" "));

    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).startsWith("talaria: " + said);
    assertThat(tree.builds()).isEmpty();
  }

  @Test
  void withoutACommandItTellsAllAndEndsWithTwo() throws Exception {
    Ended ended = tree.run();

    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.out()).isEqualTo(tree.run("--help").out());
    assertThat(Main.commandLine().getSubcommands().keySet())
        .allSatisfy(name -> assertThat(ended.out()).contains("\n  " + name + " "));
  }

  @Test
  void aMissingJdkIsStatus69() throws Exception {
    Ended ended = tree.run(Map.of("TALARIA_JAVA_HOME", "/nowhere"), "build");

    assertThat(ended.status()).isEqualTo(69);
    assertThat(ended.err())
        .isEqualTo("talaria: TALARIA_JAVA_HOME=/nowhere: there is no /nowhere/bin/java\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"build", "run -- true", "ss", "bench ports --fabric", "fuzz", "test"})
  void aJavaThatIsNamedAndIsNotThereIsToldThoughAllIsBuilt(String words) throws Exception {
    tree.pretendBuilt();

    Ended ended = tree.run(Map.of("TALARIA_JAVA_HOME", "/nowhere"), words.split(" "));

    assertThat(ended.status()).isEqualTo(69);
    assertThat(ended.err()).contains("TALARIA_JAVA_HOME=/nowhere: there is no /nowhere/bin/java");
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"run -- true", "ss", "bench sockets", "mpirun -np 2 X"})
  void aReleaseTakesNoOtherJavaThanTheOneThatIsNamed(String words) throws Exception {
    Ended nowhere = tree.runRelease(Map.of("TALARIA_JAVA_HOME", "/nowhere"), words.split(" "));

    assertThat(nowhere.status()).isEqualTo(69);
    assertThat(nowhere.err())
        .isEqualTo("talaria: TALARIA_JAVA_HOME=/nowhere: there is no /nowhere/bin/java\n");
  }

  @ParameterizedTest
  @CsvSource({"ss, 11, 17", "bench, 17, 25"})
  void aReleaseTellsThatTheJavaThatIsNamedIsTooOld(String word, String is, String needed)
      throws Exception {
    Map<String, String> old = Map.of("TALARIA_JAVA_HOME", tree.javaHome(is).toString());

    Ended ended = tree.runRelease(old, word, "sockets");

    assertThat(ended.status()).isEqualTo(69);
    assertThat(ended.err())
        .contains(word + " needs Java " + needed + " or newer, TALARIA_JAVA_HOME=")
        .endsWith(" is Java " + is + "\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"doctor --nodes x", "doctor --nodes=x", "doctor --cluster c --nodes x"})
  void aReleaseNeedsANewerJavaForNodesWhereverTheOptionStands(String words) throws Exception {
    Map<String, String> old = Map.of("TALARIA_JAVA_HOME", tree.javaHome("17").toString());

    Ended ended = tree.runRelease(old, words.split(" "));

    assertThat(ended.status()).isEqualTo(69);
    assertThat(ended.err()).contains("doctor --nodes needs Java 25 or newer");
  }

  @Test
  void helpOfAReleaseTakesAllWords() throws Exception {
    Map<String, String> java = Map.of("TALARIA_JAVA_HOME", tree.javaHome("25").toString());

    Ended ended = tree.runRelease(java, "help", "bench", "nonsense");

    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).startsWith("talaria: bench: unknown name nonsense");
  }

  @Test
  void whatMustBeBuiltBeforeItTellsItsOptionsIsBuiltByTheCommandThatIsNamed() throws Exception {
    String said = tree.run("bench", "messages", "--help").out();
    assertThat(said)
        .contains("./talaria build bench messages, then ./talaria bench messages --help");
    assertThat(tree.builds()).isEmpty();
    tree.maven("mkdir -p dist && exit 0");

    assertThat(tree.run("build", "bench", "messages").status()).isZero();

    assertThat(tree.builds()).hasSize(1);
    assertThat(tree.builds().getFirst())
        .contains(
            ",message-passing/mpj,message-passing/mpj-examples,messaging/messaging,"
                + "applications/workloads -am package");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bench", "bench kvs", "example", "example echo", "doctor --nodes", "ss"})
  void whatHelpTellsToBuildFirstCanBeBuilt(String command) throws Exception {
    String said = tree.run((command + " --help").split(" ")).out();
    Matcher told = TO_BUILD.matcher(said);
    assertThat(told.find()).as(said).isTrue();
    assertThat(told.group(1)).doesNotContain("-");
    assertThat(told.group(2)).isEqualTo(command + " --help");

    assertThat(tree.run(told.group(1).split(" ")).status()).isZero();

    assertThat(tree.builds()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sockets", "ucx", "mpj", "messages"})
  void helpOfABenchmarkThatIsNotBuiltIsItsOwnLine(String name) throws Exception {
    assertThat(tree.run("bench", name, "--help").outLines())
        .hasSize(2)
        .first()
        .asString()
        .startsWith("talaria bench " + name + " ");
  }

  /** A build without them deletes the libraries, and leaves the jars. */
  @ParameterizedTest
  @ValueSource(strings = {"bench netty", "bench programs"})
  void helpOfWhatHasItsJarButNotItsLibrariesTellsHowToBuildIt(String command) throws Exception {
    tree.pretendBuilt();

    Ended ended = tree.run((command + " --help").split(" "));

    assertThat(ended.status()).isZero();
    assertThat(ended.out()).contains("./talaria build " + command + ", then");
    assertThat(tree.builds()).isEmpty();
  }

  @Test
  void aBuildThatFailsIsStatusOneAndShowsItsErrors() throws Exception {
    tree.maven("echo '[ERROR] no such module'; exit 1");

    Ended ended = tree.run("build");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.err()).contains("[ERROR] no such module", "dist/build.log");
  }

  @Test
  void runEndsAsItsCommandAndGivesItTheAgentAndTheProperties() throws Exception {
    tree.pretendBuilt();

    Ended ended =
        tree.run(
            Map.of("JAVA_TOOL_OPTIONS", "-Dmine=1"),
            "run",
            "-Dtalaria.quiet=true",
            "--",
            "sh",
            "-c",
            "echo $JAVA_TOOL_OPTIONS; exit 42");

    assertThat(ended.status()).isEqualTo(42);
    assertThat(ended.out())
        .isEqualTo(
            "'-javaagent:"
                + tree.root().toRealPath()
                + "/dist/talaria.jar' -Dtalaria.quiet=true -Dmine=1\n");
    assertThat(tree.builds()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"it's", "a \"b\"", "\"", "don't say \"no\"", "two  blanks"})
  void runGivesTheJvmEachPropertyAsItIs(String value) throws Exception {
    tree.pretendBuilt();

    // Without the agent, whose jar is empty here.
    Ended ended =
        tree.run(
            "run",
            "-Dtalaria.word=" + value,
            "-Dtalaria.after=1",
            "--",
            "sh",
            "-c",
            "export JAVA_TOOL_OPTIONS=\"${JAVA_TOOL_OPTIONS#*.jar\\' }\""
                + " && exec \"$JAVA_HOME/bin/java\" -XshowSettings:properties -version");

    assertThat(ended.status()).as(ended.err()).isZero();
    assertThat(ended.err().lines().map(String::strip))
        .contains("talaria.word = " + value, "talaria.after = 1");
  }

  @Test
  void anInterruptIsStatus130() throws Exception {
    String ignored =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow()
            .replaceAll("SigIgn:\\s*", "");
    assumeTrue(
        (Long.parseUnsignedLong(ignored, 16) & 2) == 0, "SIGINT is ignored here, as under nohup");
    tree.pretendBuilt();

    assertThat(tree.run("run", "--", "sh", "-c", "kill -INT $$").status()).isEqualTo(130);
  }
}
