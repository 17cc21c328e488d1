// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import io.talaria.cli.doctor.checks.Surroundings;
import io.talaria.cli.doctor.checks.SystemFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What {@code /proc} says of a process, as far as this user may read it.
 *
 * @param pid its id here
 * @param name the command's short name
 * @param user its user, or -1
 * @param netNamespace what names its network namespace, or empty
 * @param readable whether its environment may be read, and with it all options of its Java
 * @param words the options of its Java, and its arguments; later ones count
 * @param java whether it is a JVM
 * @param root its root directory, as seen from here
 */
record ProcessFacts(
    long pid,
    String name,
    long user,
    String netNamespace,
    boolean readable,
    List<String> words,
    boolean java,
    Path root) {
  private static final String NUL = "\0";

  /** A word of the options in the environment; the JVM takes quotes anywhere in it. */
  private static final Pattern WORD = Pattern.compile("(?:'[^']*'|\"[^\"]*\"|[^\\s'\"]++)+");

  private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

  /** What is known of a process, or null if there is none of that id. */
  static ProcessFacts of(Surroundings here, long pid) {
    Path process = here.system("/proc/" + pid);
    if (!Files.isDirectory(process)) {
      return null;
    }
    List<String> environment = List.of(SystemFiles.text(process.resolve("environ")).split(NUL));
    List<String> words = new ArrayList<>();
    words.addAll(options(environment, "JAVA_TOOL_OPTIONS"));
    words.addAll(options(environment, "JDK_JAVA_OPTIONS"));
    List<String> command = List.of(SystemFiles.text(process.resolve("cmdline")).split(NUL));
    words.addAll(command);
    words.addAll(options(environment, "_JAVA_OPTIONS"));
    return new ProcessFacts(
        pid,
        SystemFiles.text(process.resolve("comm")),
        user(process),
        link(process.resolve("ns/net")),
        Files.isReadable(process.resolve("environ")),
        List.copyOf(words),
        // A program may have cleared its command line.
        (!command.isEmpty() && command.get(0).matches("(?:.*/)?java"))
            || SystemFiles.text(process.resolve("maps")).contains("libjvm.so"),
        process.resolve("root"));
  }

  private static List<String> options(List<String> environment, String variable) {
    return environment.stream()
        .filter(entry -> entry.startsWith(variable + "="))
        .flatMap(entry -> WORD.matcher(entry.substring(variable.length() + 1)).results())
        .map(word -> QUOTED.matcher(word.group()).replaceAll("$1$2"))
        .toList();
  }

  private static long user(Path process) {
    return SystemFiles.lines(process.resolve("status")).stream()
        .filter(line -> line.startsWith("Uid:"))
        .map(line -> line.split("\\s+"))
        .filter(fields -> fields.length > 2)
        .mapToLong(fields -> Long.parseLong(fields[2]))
        .findFirst()
        .orElse(-1);
  }

  private static String link(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** Whether its options switch Talaria on, by the agent or by the class path. */
  boolean switchedOn() {
    return hasAgent()
        || words.contains(
            "-Djava.nio.channels.spi.SelectorProvider=io.talaria.nio.TalariaProvider");
  }

  /** Whether its options name the agent. */
  boolean hasAgent() {
    return words.stream()
        .anyMatch(word -> word.matches("-javaagent:(?:.*/)?[^/]*talaria[^/]*\\.jar(?:=.*)?"));
  }

  /** A property, or what it is without one. */
  String property(String name, String usual) {
    String value = usual;
    for (String word : words) {
      if (word.startsWith("-D" + name + "=")) {
        value = word.substring(name.length() + 3);
      }
    }
    return value;
  }

  /** Its run-time directory. */
  Path dir() {
    return Path.of(property("talaria.dir", "/tmp/talaria-" + user));
  }

  /** Its directory of shared memory. */
  Path shmDir() {
    return Path.of(property("talaria.shm.dir", "/dev/shm/talaria-" + user));
  }

  /** What tells a directory of this process from any other; empty if it cannot be looked at. */
  String identity(Path directory) {
    try {
      Map<String, Object> is =
          Files.readAttributes(
              root.resolve(directory.toString().substring(1)),
              "unix:dev,ino",
              LinkOption.NOFOLLOW_LINKS);
      return is.get("dev") + ":" + is.get("ino");
    } catch (IOException | RuntimeException e) {
      return "";
    }
  }

  @Override
  public String toString() {
    return "pid " + pid + " (" + name + ")";
  }
}
