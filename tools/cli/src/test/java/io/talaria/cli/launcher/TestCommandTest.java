// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.launcher.Tree.Ended;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code ./talaria test}: what it gives to Maven, and what it makes of the reports. */
class TestCommandTest {
  private static final String PASSED = "<testcase classname='a.B' name='works' time='1'/>";
  private static final String SKIPPED =
      "<testcase classname='a.B' name='far' time='0'><skipped message='no UCX here'/></testcase>";
  private static final String FLAKY =
      "<testcase classname='a.B' name='shaky' time='1'>"
          + "<flakyFailure message='once&#10;more'/></testcase>";
  private static final String FAILED =
      "<testcase classname='a.B' name='breaks' time='1'><failure message='bad'/>"
          + "<rerunFailure message='bad'/></testcase>";

  @TempDir Path dir;
  private Tree tree;

  @BeforeEach
  void makeTree() throws Exception {
    tree = Tree.in(dir);
  }

  /** Has Maven write a report of module nio. */
  private void report(int status, String... cases) throws Exception {
    report("", status, cases);
  }

  /** Has Maven print a line, too. */
  private void report(String line, int status, String... cases) throws Exception {
    String text = "<testsuite name='a.B' time='2.5'>" + String.join("", cases) + "</testsuite>";
    String folder = "'" + tree.root() + "/core/nio/target/surefire-reports-java17'";
    Files.createDirectories(tree.root().resolve("core/nio"));
    Files.writeString(tree.root().resolve("core/nio/pom.xml"), "<project/>");
    tree.maven(
        "mkdir -p "
            + folder
            + " && cat >"
            + folder
            + "/TEST-a.B.xml <<'END'\n"
            + text
            + "\nEND\n"
            + "echo printed >"
            + folder
            + "/a.B-output.txt\n"
            + "echo '"
            + line
            + "'\nexit "
            + status);
  }

  @Test
  void countsWhatPassedAndSaysWhatIsLeftOutOrSkippedAndWhatIsSlow() throws Exception {
    report(0, PASSED, PASSED, SKIPPED);
    Path test = tree.root().resolve("core/nio/src/test/java/LastingTest.java");
    Files.createDirectories(test.getParent());
    Files.writeString(test, "@Tag(\"long\")\nclass LastingTest {}");

    Ended ended = tree.run("test");

    assertThat(ended.status()).isZero();
    assertThat(ended.outLines()).last().isEqualTo("2 passed, 0 failed, 1 skipped");
    assertThat(ended.out())
        .contains("2.5 s  nio java17", "a.B", "1  no UCX here")
        .contains("Left out (./talaria test --all runs it):", "nio LastingTest", "30 rounds")
        .doesNotContain("Logs and thread dumps");
    assertThat(tree.builds().get(0)).contains("verify", "-Dtest.left-out=long");
  }

  @Test
  void aFailureIsStatusOneAndItsLogsAreKept() throws Exception {
    report(1, PASSED, FAILED);

    Ended ended = tree.run("test");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.outLines()).last().isEqualTo("1 passed, 1 failed, 0 skipped");
    assertThat(ended.out()).contains("nio java17 a.B.breaks: bad");
    Path kept = tree.root().resolve("dist/test-failures");
    assertThat(kept.resolve("core/nio/target/surefire-reports-java17/TEST-a.B.xml")).exists();
    assertThat(kept.resolve("core/nio/target/surefire-reports-java17/a.B-output.txt"))
        .hasContent("printed");
    assertThat(kept.resolve("test.log")).exists();
  }

  @Test
  void whatPassesTheSecondTimeIsShownAsFlaky() throws Exception {
    report(0, PASSED, FLAKY);

    Ended ended = tree.run("test");

    assertThat(ended.status()).isZero();
    assertThat(ended.out())
        .contains("Flaky, passed in the second run only:\n", "a.B.shaky: once\n");
    assertThat(ended.outLines()).last().isEqualTo("2 passed, 0 failed, 0 skipped");
  }

  @Test
  void whatPassesTheSecondTimeHasFailedInARunOfAll() throws Exception {
    report(0, PASSED, FLAKY);

    Ended ended = tree.run("test", "--all");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.outLines()).last().isEqualTo("1 passed, 1 failed, 0 skipped");
    assertThat(tree.builds().get(0)).doesNotContain("left-out", "rounds", "-Dtest.whole");
  }

  @Test
  void noTestsAtAllAreAFailure() throws Exception {
    assertThat(tree.run("test").status()).isEqualTo(1);
    report(0, SKIPPED);
    assertThat(tree.run("test").status()).isEqualTo(1);
  }

  @Test
  void aBuildThatFailsIsAFailureThoughAllTestsPass() throws Exception {
    report(1, PASSED);

    assertThat(tree.run("test").status()).isEqualTo(1);
  }

  @Test
  void aReportThatIsBrokenOffIsAFailure() throws Exception {
    report(0, PASSED, "<testcase");

    Ended ended = tree.run("test");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.out()).contains("Broken off", "TEST-a.B.xml");
  }

  /** The class has no report, and Maven, which ignores failures in a run of all, ends with 0. */
  @Test
  void aJvmThatMavenKilledBecauseItHungIsAFailure() throws Exception {
    report("[ERROR] There was a timeout in the fork", 0, PASSED);

    Ended ended = tree.run("test", "--all");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.out()).contains("\nHung: Maven has killed a JVM");
    assertThat(ended.outLines()).last().isEqualTo("1 passed, 1 failed, 0 skipped");
    assertThat(tree.root().resolve("dist/test-failures/test.log")).exists();
  }

  @Test
  void aTestThatIsAloneInAModuleWithoutARunForItIsAFailure() throws Exception {
    report(0, PASSED);
    Path test = tree.root().resolve("core/nio/src/test/java/LonelyTest.java");
    Files.createDirectories(test.getParent());
    Files.writeString(test, "@Tag(\"alone\")\nclass LonelyTest {}");

    Ended ended = tree.run("test");

    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.out()).contains("Never run:", "nio LonelyTest: tagged alone");
  }

  @Test
  void aTestNamedToMavenIsRunWhateverItsTag() throws Exception {
    report(0, PASSED);

    assertThat(tree.run("test", "--", "-pl", "nio", "-Dtest=LastingTest").status()).isZero();
    assertThat(tree.builds().get(0))
        .contains("-Dtest.left-out=nothing", "-pl nio -Dtest=LastingTest")
        .doesNotContain("-Dtest.whole");
  }

  @Test
  void ofAChangeWhatItConcernsIsTested() throws Exception {
    report(0, PASSED);
    module("core/nio", "nio", "");
    module("network/nio-ucx", "nio-ucx", "<artifactId>talaria-nio</artifactId>");
    module("network/nio-ucx-ffm", "nio-ucx-ffm", "<artifactId>talaria-nio-ucx</artifactId>");
    module("core/ffi", "ffi", "");
    git("init", "-q");
    commit();
    assertThat(tree.run("test", "--changed").err()).contains("nothing that a module tests differs");
    Files.writeString(tree.root().resolve("core/nio/New.java"), "new");

    Ended ended = tree.run("test", "--changed");

    assertThat(ended.status()).isZero();
    assertThat(tree.builds()).hasSize(1);
    assertThat(tree.builds().get(0))
        .endsWith(" -am -pl core/nio,network/nio-ucx,network/nio-ucx-ffm");
    assertThat(tree.root().resolve("core/ffi/target/not-concerned")).doesNotExist();
    commit();
    Files.writeString(tree.root().resolve("core/ffi/New.java"), "new");
    assertThat(tree.run("test", "--changed").status()).isZero();
    assertThat(tree.builds().get(1)).endsWith("-am -pl core/ffi");
    assertThat(tree.run("test", "--changed=HEAD~1").status()).isZero();
    assertThat(tree.builds().get(2)).endsWith(",core/ffi,network/nio-ucx,network/nio-ucx-ffm");
    assertThat(tree.run("test", "--changed=nowhere").status()).isEqualTo(2);
  }

  /** A launcher that is killed cannot remove its marks. */
  @Test
  void whatAKilledRunOfAChangeHasMarkedIsTestedByOtherRuns() throws Exception {
    report(0, PASSED);
    module("core/nio", "nio", "");
    module("core/ffi", "ffi", "");
    git("init", "-q");
    commit();
    Files.writeString(tree.root().resolve("core/nio/New.java"), "new");

    assertThat(tree.run("test", "--changed").status()).isZero();
    assertThat(tree.run("chaos", "--minutes", "1").status()).isZero();
    assertThat(tree.run("soak", "--connects", "20").status()).isZero();

    assertThat(tree.builds()).hasSize(3);
    assertThat(tree.builds().get(0)).contains("-Dtest.changed ");
    assertThat(tree.builds().subList(1, 3))
        .allSatisfy(build -> assertThat(build).doesNotContain("test.changed"));
    assertThat(Files.readString(tree.root().resolve("pom.xml")))
        .containsPattern(
            "<id>not-concerned</id>\\s*<activation>\\s*<property>\\s*<name>test.changed</name>");
  }

  private void module(String folder, String name, String dependencies) throws Exception {
    Path pom = Files.createDirectories(tree.root().resolve(folder)).resolve("pom.xml");
    Files.writeString(
        pom,
        "<parent>\n</parent>\n  <artifactId>talaria-" + name + "</artifactId>\n" + dependencies);
  }

  private void commit() throws Exception {
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "change");
  }

  private void git(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("git", "-C", tree.root().toString()));
    command.addAll(List.of(words));
    ChildProcess unused =
        ChildProcess.command(command.toArray()).runSuccessfully(Duration.ofMinutes(1));
  }

  @Test
  void modulesSideBySideLeaveTheirOrderToTheOneThatComesLast() throws Exception {
    report(0, PASSED);

    assertThat(tree.run("test", "--", "-T2").status()).isZero();
    assertThat(tree.builds().get(0)).contains("-Dtest.whole", "-T2");
  }
}
