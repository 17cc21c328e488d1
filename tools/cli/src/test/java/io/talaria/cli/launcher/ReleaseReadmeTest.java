// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The README of the release speaks of what a release has. {@code ReleaseTest} looks into a release;
 * this compares with what {@code tools/launcher/package.sh} puts into one.
 */
@Timeout(60)
class ReleaseReadmeTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent().getParent();
  private static final Path README = ROOT.resolve("tools/launcher/release/README.md");
  private static final Duration LIMIT = Duration.ofSeconds(50);
  private static final Pattern COMMAND = Pattern.compile("bin/talaria ([a-z][a-z-]*)");
  private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#]+)");
  private static final Pattern ABOVE = Pattern.compile("]\\(\\.\\./([A-Z]+\\.md)");
  private static final Pattern LISTED = Pattern.compile("(?m)^  ([a-z][a-z-]*)[ A-Z\\[].*");

  /** The commands that it names. */
  static Set<String> commands(String readme) {
    return all(COMMAND, readme);
  }

  /** The files that it names as those of the archive. */
  static Set<String> files(String readme) {
    Set<String> files = all(LINK, readme);
    readme
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| `bin/talaria "))
        .map(line -> line.split("\\|")[1])
        .flatMap(cell -> all(QUOTED, cell).stream())
        .forEach(files::add);
    return files;
  }

  private static Set<String> all(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(hit -> hit.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> commandsOf(Path script) throws IOException, InterruptedException {
    ChildProcess help = ChildProcess.command("sh", script, "--help").runSuccessfully(LIMIT);
    return all(LISTED, help.outText());
  }

  @Test
  void everyCommandIsOneOfTheRelease() throws Exception {
    String readme = Files.readString(README);
    Set<String> has = commandsOf(ROOT.resolve("tools/launcher/release.sh"));
    assertThat(commands(readme)).isNotEmpty().isEqualTo(has);
  }

  @Test
  void everyCommandThatAReleaseLacksIsSaidToBeAbsent() throws Exception {
    String readme = Files.readString(README);
    Set<String> lacks = commandsOf(ROOT.resolve("talaria"));
    lacks.removeAll(commandsOf(ROOT.resolve("tools/launcher/release.sh")));
    String absent =
        readme.lines().filter(line -> line.contains("not in a release")).findFirst().orElseThrow();
    Set<String> named = all(QUOTED, absent);
    assertThat(named).containsAll(lacks).contains("bench kafka");
    for (String command : named) {
      List<Object> words =
          new ArrayList<>(List.of("sh", ROOT.resolve("tools/launcher/release.sh")));
      words.addAll(List.of(command.split(" ")));
      ChildProcess refused = ChildProcess.command(words.toArray()).run(LIMIT);
      assertThat(refused.errText())
          .isEqualTo("talaria: " + command + " needs the sources, and is not in a release\n");
      assertThat(refused.exitStatus()).isEqualTo(69);
    }
  }

  @Test
  void everyDocumentIsThere() throws Exception {
    assertThat(files(Files.readString(README)))
        .filteredOn(file -> file.startsWith("docs"))
        .hasSizeGreaterThan(5)
        .allSatisfy(file -> assertThat(ROOT.resolve(file)).exists());
  }

  @Test
  void whatDocumentsLinkToAboveThemIsPutIntoTheRelease() throws Exception {
    String puts = Files.readString(ROOT.resolve("tools/launcher/package.sh"));
    Set<String> linked = new TreeSet<>();
    try (Stream<Path> documents = Files.list(ROOT.resolve("docs"))) {
      for (Path document : documents.filter(file -> file.toString().endsWith(".md")).toList()) {
        linked.addAll(all(ABOVE, Files.readString(document)));
      }
    }
    assertThat(linked).contains("SECURITY.md", "README.md");
    linked.remove("README.md"); // a release has one of its own
    assertThat(linked).allSatisfy(file -> assertThat(puts).contains("\"$ROOT/" + file + "\""));
  }

  @Test
  void itSpeaksOfNoBuild() throws Exception {
    assertThat(Files.readString(README))
        .doesNotContain("Maven", "mvn ", "JDK 25", "git clone", "clone this");
  }

  /** But where it says how to read the documents, which name them. */
  @Test
  void itHasNoCommandOfTheSourceTree() throws Exception {
    assertThat(Files.readAllLines(README))
        .filteredOn(line -> line.contains("./talaria") || line.contains("dist/"))
        .singleElement()
        .asString()
        .contains("`bin/talaria`", "`talaria.jar`");
  }
}
