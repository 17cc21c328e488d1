// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.bench.harness.Target;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where a result goes. */
class OutputOptionsTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Command(name = "measure")
  private static final class Measuring implements Callable<Integer> {
    @Mixin private OutputOptions output;

    @Option(names = "--reached")
    private double reached = 2;

    @Option(names = "--silent")
    private boolean silent;

    @Override
    public Integer call() throws Exception {
      output.check();
      Comparison found = new Comparison(List.of(Implementation.TALARIA));
      found.note("a word for people");
      found.add("speed", "speed", Quantity.COUNT, Implementation.TALARIA, reached);
      found.judge("speed", Target.atLeast(2, reached, Quantity.COUNT));
      if (silent) {
        found.addMissing(
            new Comparison.Missing("speed", Implementation.UCX_IN_C, 1, "it printed nothing"));
      }
      return output.print(
          found, Machine.describe("7", Pinning.decide(false)), "talaria-test-1", Map.of());
    }
  }

  private int run(String... words) {
    return new CommandLine(new Measuring())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words);
  }

  @Test
  void aMinusIsTheStandardOutputAndNothingElseGoesThere() throws Exception {
    assertThat(run("--json", "-")).isZero();
    assertThat(out.toString().lines()).hasSize(1);
    JsonNode tree = Json.parse(out.toString());
    assertThat(tree.get("format").asText()).isEqualTo("talaria-test-1");
    assertThat(err.toString()).contains("a word for people");
  }

  @Test
  void aMissedTargetIsStatusThreeWhereItIsWantedStrictly() throws Exception {
    assertThat(run("--strict")).isZero();
    assertThat(run("--reached=1")).isZero();
    assertThat(run("--reached=1", "--strict", "--json", "-")).isEqualTo(3);
    assertThat(out.toString()).contains("MISSED", "0 of 1 targets met");
    assertThat(out.toString()).contains("\"targetsMissed\":1");
  }

  @Test
  void aFigureThatIsMissingIsStatusOneWhateverIsMissed() {
    assertThat(run("--reached=1", "--strict", "--silent")).isEqualTo(1);
    assertThat(out.toString()).contains("Missing:", "it printed nothing");
    assertThat(err.toString()).isEqualTo("talaria: speed on UCX in C: it printed nothing\n");
  }

  @Test
  void aFileIsNamedWhenItIsWritten(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("result.json");
    assertThat(run("--json", file.toString())).isZero();
    assertThat(out.toString()).contains("a word for people", "Written: " + file);
    assertThat(Files.readString(file)).contains("talaria-test-1");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void aFolderIsRefusedBeforeAnythingIsMeasured(@TempDir Path folder) {
    for (String option : List.of("--json", "--csv", "--hlog")) {
      assertThat(run(option, folder.toString())).isEqualTo(2);
      assertThat(err.toString()).contains(option + ": " + folder + " is a folder");
    }
    assertThat(out.toString()).doesNotContain("a word for people");
  }

  @Test
  void aFileWithoutPermissionIsRefusedBeforeAnythingIsMeasured(@TempDir Path folder)
      throws Exception {
    Path file = Files.createFile(folder.resolve("result.json"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
    assumeFalse(Files.isWritable(file), "this user may write everything");

    assertThat(run("--json", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--json: no permission to write " + file);
    assertThat(out.toString()).doesNotContain("a word for people");
  }

  @Test
  void aFileThatCannotBeWrittenKeepsNoOtherFromBeingWritten(@TempDir Path folder) {
    Path csv = folder.resolve("result.csv");

    assertThat(run("--json", "/dev/full", "--csv", csv.toString(), "--hlog", "/dev/full"))
        .isEqualTo(1);

    assertThat(csv).isNotEmptyFile();
    assertThat(out.toString()).contains("Written: " + csv).doesNotContain("Written: /dev/full");
    String full = "cannot write /dev/full: No space left on device";
    assertThat(err.toString()).contains(full + "; " + full);
  }
}
