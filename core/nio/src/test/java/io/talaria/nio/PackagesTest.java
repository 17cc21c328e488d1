// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which package of this module may use which: what the JDK's jdeps finds, and nothing else. */
class PackagesTest {
  private static final String MODULE = "io.talaria.nio";

  /** The words that all packages share; they use nothing of this module but each other. */
  private static final Set<String> VOCABULARY =
      Set.of("ConnectionInfo", "NioTransport", "Reason", "Role");

  /** Each package, and which others it may use. The module's own package is the empty one. */
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("", Set.of("adaptor", "channel", "counters", "counters.file", "privileged")),
          Map.entry("adaptor", Set.of("jdk", "privileged")),
          Map.entry("authentication", Set.of("transport", "process")),
          Map.entry(
              "channel",
              Set.of(
                  "adaptor",
                  "doorbell",
                  "config",
                  "context",
                  "control",
                  "counters",
                  "transport",
                  "jdk",
                  "memory",
                  "negotiation",
                  "privileged",
                  "spin")),
          Map.entry(
              "context",
              Set.of(
                  "doorbell",
                  "config",
                  "counters",
                  "transport",
                  "files",
                  "hosts",
                  "jdk",
                  "memory",
                  "negotiation",
                  "shm",
                  "spin")),
          Map.entry("control", Set.of("counters", "doorbell", "jdk", "privileged", "process")),
          Map.entry("doorbell", Set.of("jdk", "privileged")),
          Map.entry("config", Set.of("process")),
          Map.entry(
              "counters", Set.of("counters.file", "files", "memory", "privileged", "process")),
          Map.entry("counters.file", Set.of("process")),
          Map.entry("counters.reader", Set.of("counters.file")),
          Map.entry("transport", Set.of("privileged")),
          Map.entry("files", Set.of("process")),
          Map.entry(
              "hosts",
              Set.of(
                  "authentication", "config", "counters", "transport", "negotiation", "process")),
          Map.entry("jdk", Set.of("privileged")),
          Map.entry("memory", Set.of("transport", "files", "privileged", "process")),
          Map.entry(
              "negotiation",
              Set.of("counters", "transport", "files", "memory", "privileged", "process")),
          Map.entry("privileged", Set.of()),
          Map.entry("process", Set.of()),
          Map.entry("shm", Set.of("doorbell", "transport", "files", "memory")),
          Map.entry("spin", Set.of("privileged")));

  private static final Pattern ARROW =
      Pattern.compile("\\s+" + MODULE + "\\.([\\w.$]+)\\s+->\\s+" + MODULE + "\\.([\\w.$]+)\\s.*");

  /** The classes that use others of this module, and which. */
  private static Map<String, Set<String>> arrows() throws Exception {
    ToolProvider jdeps = ToolProvider.findFirst("jdeps").orElseThrow();
    Path classes =
        Path.of(Reason.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    StringWriter out = new StringWriter();
    PrintWriter printed = new PrintWriter(out);
    int status =
        jdeps.run(
            printed,
            printed,
            "-verbose:class",
            "-filter:none",
            "--ignore-missing-deps",
            "" + classes);
    printed.flush();
    assertThat(status).as(out.toString()).isZero();
    Map<String, Set<String>> arrows = new TreeMap<>();
    for (String line : out.toString().split("\\R", -1)) {
      Matcher arrow = ARROW.matcher(line);
      if (arrow.matches()) {
        arrows.computeIfAbsent(arrow.group(1), from -> new TreeSet<>()).add(arrow.group(2));
      }
    }
    return arrows;
  }

  private static String packageOf(String name) {
    int dot = name.lastIndexOf('.');
    return dot < 0 ? "" : name.substring(0, dot);
  }

  private static boolean isVocabulary(String name) {
    int nested = name.indexOf('$');
    return VOCABULARY.contains(nested < 0 ? name : name.substring(0, nested));
  }

  @Test
  void packagesUseOnlyThoseThatTheyMay() throws Exception {
    Set<String> wrong = new TreeSet<>();
    Set<String> seen = new TreeSet<>();
    arrows()
        .forEach(
            (from, uses) -> {
              String own = packageOf(from);
              seen.add(own);
              for (String used : uses) {
                String other = packageOf(used);
                boolean allowed =
                    isVocabulary(from)
                        ? isVocabulary(used)
                        : own.equals(other)
                            || isVocabulary(used)
                            || MAY_USE.getOrDefault(own, Set.of()).contains(other);
                if (!allowed) {
                  wrong.add(from + " -> " + used);
                }
              }
            });
    assertThat(wrong).as("arrows that PackagesTest.MAY_USE does not know").isEmpty();
    assertThat(seen).as("packages with arrows").contains("negotiation", "channel", "hosts");
  }

  @Test
  void noPackageUsesItselfByWayOfOthers() {
    for (String start : MAY_USE.keySet()) {
      Set<String> reached = new TreeSet<>();
      reach(start, reached);
      assertThat(reached).as("what " + start + " may use, directly or not").doesNotContain(start);
    }
  }

  private static void reach(String from, Set<String> reached) {
    for (String next : MAY_USE.getOrDefault(from, Set.of())) {
      if (reached.add(next)) {
        reach(next, reached);
      }
    }
  }

  @Test
  void nothingInThisModuleNamesTheReaderOfCountersFiles() throws Exception {
    arrows()
        .forEach(
            (from, uses) -> {
              if (!packageOf(from).equals("counters.reader")) {
                assertThat(uses).as("used by " + from).noneMatch(to -> to.contains("reader."));
              }
            });
  }

  private static final Pattern MODULE_NAME = Pattern.compile("\\bmodule ([\\w.]+) \\{");
  private static final Pattern QUALIFIED_EXPORT =
      Pattern.compile("exports ([\\w.]+) to\\s+([\\w.,\\s]+);");

  @Test
  void qualifiedExportsNameModulesThatUseThePackage() throws Exception {
    Map<String, Path> sources = new TreeMap<>();
    try (Stream<Path> directories = Files.find(Path.of("..", ".."), 2, (f, a) -> a.isDirectory())) {
      for (Path each : directories.toList()) {
        Path java = each.resolve("src/main/java");
        if (Files.exists(java.resolve("module-info.java"))) {
          Matcher name = MODULE_NAME.matcher(Files.readString(java.resolve("module-info.java")));
          assertThat(name.find()).as("module-info in " + java).isTrue();
          sources.put(name.group(1), java);
        }
      }
    }
    assertThat(sources).containsKeys(MODULE, "io.talaria.messaging");
    Set<String> dead = new TreeSet<>();
    for (Path java : sources.values()) {
      Matcher export = QUALIFIED_EXPORT.matcher(Files.readString(java.resolve("module-info.java")));
      while (export.find()) {
        for (String user : export.group(2).split("[,\\s]+", -1)) {
          if (!sources.containsKey(user) || !names(sources.get(user), export.group(1))) {
            dead.add(export.group(1) + " to " + user);
          }
        }
      }
    }
    // NamedTransport puts together the name of the class that it loads.
    assertThat(dead)
        .as("exports of packages that no source of the other module names")
        .containsExactly("io.talaria.nio.ucx to io.talaria.nio");
  }

  /** Whether a source names a class of the package: imports it, or loads it by its name. */
  private static boolean names(Path java, String packageName) throws IOException {
    Pattern type = Pattern.compile(Pattern.quote(packageName) + "\\.[A-Z]");
    try (Stream<Path> files = Files.walk(java)) {
      for (Path each : (Iterable<Path>) files::iterator) {
        if (each.toString().endsWith(".java") && type.matcher(Files.readString(each)).find()) {
          return true;
        }
      }
    }
    return false;
  }
}
