// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.NioTransport;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;

/** Which package of this module may use which: what the JDK's jdeps finds, and nothing else. */
class PackagesTest {
  private static final String MODULE = "io.talaria.messaging";

  /** The API is known to all; of the rest it knows those who make nodes and directories. */
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("", Set.of("connect", "handshake", "node")),
          Map.entry("codec", Set.of("")),
          Map.entry("counters", Set.of()),
          Map.entry("dispatch", Set.of()),
          Map.entry(
              "connect",
              Set.of(
                  "",
                  "counters",
                  "dispatch",
                  "engine",
                  "handshake",
                  "node",
                  "records",
                  "ring",
                  "transport",
                  "types",
                  "wire")),
          Map.entry(
              "engine",
              Set.of("", "codec", "counters", "dispatch", "records", "ring", "transport", "types")),
          Map.entry("handshake", Set.of("", "ring", "wire")),
          Map.entry(
              "node",
              Set.of(
                  "",
                  "codec",
                  "counters",
                  "dispatch",
                  "engine",
                  "handshake",
                  "records",
                  "transport",
                  "types",
                  "ucx",
                  "verbs")),
          Map.entry("records", Set.of("", "codec", "ring", "types")),
          Map.entry("ring", Set.of()),
          Map.entry("transport", Set.of("ring", "wire")),
          Map.entry("types", Set.of("", "codec", "handshake")),
          Map.entry("ucx", Set.of("ring", "transport")),
          Map.entry("verbs", Set.of("", "ring", "transport")),
          Map.entry("wire", Set.of()));

  private static final Pattern ARROW =
      Pattern.compile("\\s+" + MODULE + "(\\.\\w+)?\\s+->\\s+" + MODULE + "(\\.\\w+)?\\s.*");

  /** From a class of the API to one of another package; the line names each by its full name. */
  private static final Pattern OUT_OF_THE_API =
      Pattern.compile(
          "\\s+"
              + Pattern.quote(MODULE)
              + "\\.([A-Z][\\w$]*)\\s+->\\s+"
              + Pattern.quote(MODULE)
              + "\\.(\\w+\\.[A-Z][\\w$]*)\\s.*");

  @Test
  void packagesUseOnlyThoseThatTheyMay() throws Exception {
    Set<String> wrong = new TreeSet<>();
    Set<String> seen = new TreeSet<>();
    for (String line : jdeps("-verbose:package")) {
      Matcher arrow = ARROW.matcher(line);
      if (arrow.matches()) {
        String from = name(arrow.group(1));
        String to = name(arrow.group(2));
        seen.add(from);
        if (!from.equals(to) && !MAY_USE.getOrDefault(from, Set.of()).contains(to)) {
          wrong.add(from + " -> " + to);
        }
      }
    }
    assertThat(wrong).as("arrows that PackagesTest.MAY_USE does not know").isEmpty();
    assertThat(seen).contains("connect", "engine", "handshake", "node", "transport");
  }

  /**
   * A static factory names its implementation, which knows the API: no other class of the API does.
   */
  @Test
  void onlyFactoriesOfTheApiUseOtherPackages() throws Exception {
    Set<String> seen = new TreeSet<>();
    for (String line : jdeps("-verbose:class")) {
      Matcher arrow = OUT_OF_THE_API.matcher(line);
      if (arrow.matches()) {
        seen.add(arrow.group(1) + " -> " + arrow.group(2));
      }
    }
    assertThat(seen)
        .containsExactlyInAnyOrder(
            "Nodes -> connect.Conductor",
            "Nodes -> node.Connector",
            "Nodes -> node.Connector$Factory",
            "Nodes -> node.LocalNode",
            "NodeDirectory -> handshake.Directories");
  }

  private static String[] jdeps(String verbosity) throws URISyntaxException {
    StringWriter out = new StringWriter();
    PrintWriter printed = new PrintWriter(out);
    int status =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(
                printed,
                printed,
                verbosity,
                "-filter:none",
                "--ignore-missing-deps",
                "--module-path",
                "" + placeOf(NioTransport.class), // what the module requires must be found
                "" + placeOf(Node.class));
    printed.flush();
    assertThat(status).as(out.toString()).isZero();
    return out.toString().split("\\R", -1);
  }

  private static Path placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static String name(String group) {
    return group == null ? "" : group.substring(1);
  }
}
