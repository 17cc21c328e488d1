// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** docs/monitor.md has every option of {@code ports}, {@code ports reset} and {@code top}. */
class OptionsDocumentationTest {
  private static final Path DOCUMENT = Path.of("..", "..", "docs", "monitor.md");
  private static final Pattern OPTION = Pattern.compile("`(-{1,2}[a-z][a-z-]*)");
  private static final Set<String> OF_ALL_COMMANDS =
      Set.of("-h", "--help", "-V", "--version", "--verbose");

  /** The options in the tables of a section. */
  private static Set<String> described(String section) throws IOException {
    List<String> lines = Files.readAllLines(DOCUMENT);
    int at = lines.indexOf("## " + section) + 1;
    assertThat(at).as(section).isPositive();
    Set<String> found = new TreeSet<>();
    boolean table = false;
    for (; at < lines.size() && !lines.get(at).startsWith("## "); at++) {
      String line = lines.get(at);
      if (line.startsWith("| option |")) {
        table = true;
      } else if (!line.startsWith("|")) {
        table = false;
      } else if (table) {
        OPTION.matcher(line.split("\\|")[1]).results().map(hit -> hit.group(1)).forEach(found::add);
      }
    }
    assertThat(found).as("options in the tables of " + section).isNotEmpty();
    return found;
  }

  private static Set<String> known(CommandLine command) {
    Set<String> names = new TreeSet<>();
    for (OptionSpec option : command.getCommandSpec().options()) {
      names.addAll(List.of(option.names()));
    }
    names.removeAll(OF_ALL_COMMANDS);
    return names;
  }

  private static Set<String> union(Set<String> one, Set<String> other) {
    Set<String> both = new TreeSet<>(one);
    both.addAll(other);
    return both;
  }

  @Test
  void everyOptionIsDescribedAndNoOther() throws IOException {
    CommandLine ports = Main.commandLine().getSubcommands().get("ports");
    CommandLine top = Main.commandLine().getSubcommands().get("top");
    Set<String> fabric = described("Ports of the fabric");
    assertThat(union(described("Ports of this host"), fabric))
        .isEqualTo(union(known(ports), known(ports.getSubcommands().get("reset"))));
    assertThat(described("The screen")).isSubsetOf(known(top));
    assertThat(union(described("The screen"), fabric)).containsAll(known(top));
  }

  @Test
  void everyKeyIsDescribed() throws IOException {
    String table = String.join("\n", Files.readAllLines(DOCUMENT));
    table = table.substring(table.indexOf("| key | does |"), table.indexOf("With `NO_COLOR`"));
    String[] help =
        Main.commandLine().getSubcommands().get("top").getCommandSpec().usageMessage().footer();
    List<String> keys =
        Arrays.stream(help)
            .takeWhile(line -> !line.isEmpty())
            .map(line -> line.strip().split(" {2,}")[0])
            .toList();
    assertThat(keys).hasSizeGreaterThan(4);
    for (String key : String.join(" ", keys).split(" ")) {
      assertThat(table).as("a key of the help").contains(key.length() == 1 ? "`" + key + "`" : key);
    }
  }
}
