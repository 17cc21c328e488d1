// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What {@code java -jar talaria.jar} does: it tells how to switch Talaria on, and runs the commands
 * that lie beside the jar, in a release or in the project's tree. Where the jar is alone, {@code
 * ss} is the bare table, because that needs nothing but what the agent has anyway.
 *
 * <p>Called by {@code TalariaAgent} alone, which finds it by name, because it needs Java 17. Its
 * exit statuses are those of all commands.
 */
public final class Commands {
  private static final int USAGE = 2;
  private static final int MISSING = 69;
  private static final String MAIN = "io.talaria.cli.Main";

  /** Commands for the Java that the programs run on. */
  private static final List<String> HERE = List.of("ss", "doctor");

  private Commands() {}

  /**
   * Runs a command.
   *
   * @param words the command and its arguments
   * @return the exit status; a command from beside the jar ends the JVM itself
   * @throws Exception if the command cannot be run
   */
  public static int run(String[] words) throws Exception {
    String command = words.length == 0 ? "" : words[0];
    switch (command) {
      case "" -> {
        usage(System.err);
        return USAGE;
      }
      case "help", "-h", "--help" -> {
        if (words.length < 2) {
          usage(System.out);
          return 0;
        }
        return run(new String[] {words[1], "--help"});
      }
      case "-V", "--version" -> {
        System.out.println("talaria " + version());
        return 0;
      }
      default -> {
        if (!HERE.contains(command)) {
          System.err.println(
              "talaria: "
                  + command
                  + " is not a command of the jar, which has ss, doctor and help;"
                  + " bin/talaria of the release has the others");
          return USAGE;
        }
        return runHere(command, words);
      }
    }
  }

  private static int runHere(String command, String[] words) throws Exception {
    Path jar = jar();
    boolean nodes =
        command.equals("doctor")
            && List.of(words).stream().anyMatch(word -> word.startsWith("--nodes"));
    List<Path> libraries = libraries(jar.toAbsolutePath().getParent(), nodes);
    if (!libraries.isEmpty()) {
      start(libraries, words);
      return 0; // the command has ended the JVM
    }
    if (command.equals("ss")) {
      return BareTable.print(List.of(words).subList(1, words.length), System.out, System.err);
    }
    System.err.println(
        "talaria: "
            + command
            + " needs the folder lib of the release beside "
            + jar
            + "; ./talaria package makes it");
    return MISSING;
  }

  /**
   * The jars of the commands: of a release, or of the tree this one was built in; none if alone.
   *
   * @param all with those that only nodes of messaging need; each takes a descriptor
   */
  private static List<Path> libraries(Path home, boolean all) throws IOException {
    List<Path> found = new ArrayList<>();
    Path core = home.resolve("lib").resolve("core");
    if (Files.isRegularFile(core.resolve("talaria-cli.jar"))) {
      addJars(core, found);
      if (all) {
        addJars(home.resolve("lib"), found);
      }
    } else if (home.endsWith("dist")) {
      Path tree = home.resolveSibling("tools").resolve("cli").resolve("target");
      if (Files.isRegularFile(tree.resolve("talaria-cli.jar"))) {
        found.add(tree.resolve("talaria-cli.jar"));
        addJars(tree.resolve("lib"), found);
      }
    }
    return found;
  }

  private static void addJars(Path folder, List<Path> found) throws IOException {
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        files.filter(file -> file.toString().endsWith(".jar")).sorted().forEach(found::add);
      }
    }
  }

  /** Runs the command as if there were no agent: nothing is shared with the classes of this jar. */
  private static void start(List<Path> libraries, String[] words) throws Exception {
    URL[] urls = new URL[libraries.size()];
    for (int i = 0; i < urls.length; i++) {
      urls[i] = url(libraries.get(i));
    }
    ClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    try {
      Class.forName(MAIN, true, loader)
          .getMethod("main", String[].class)
          .invoke(null, (Object) words);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception) {
        throw (Exception) e.getCause();
      }
      throw e;
    }
  }

  private static URL url(Path file) throws MalformedURLException {
    return file.toUri().toURL();
  }

  private static Path jar() throws URISyntaxException {
    URI place = Commands.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    return new File(place).toPath();
  }

  private static String version() {
    String version = Commands.class.getPackage().getImplementationVersion();
    return version == null ? "(development)" : version;
  }

  private static void usage(PrintStream out) {
    out.println(
        String.join(
            System.lineSeparator(),
            "Talaria "
                + version()
                + ": accelerates the TCP connections of unmodified Java programs.",
            "",
            "  java -javaagent:talaria.jar -jar app.jar       run with Talaria",
            "  JAVA_TOOL_OPTIONS=-javaagent:/path/talaria.jar the same, for all JVMs",
            "",
            "  java -jar talaria.jar ss       list the connections of this host",
            "  java -jar talaria.jar doctor   check what this machine supports, and what is missing",
            "  java -jar talaria.jar help     print this; help ss and help doctor print their options",
            "",
            "bin/talaria of a release has these commands and more. The jar without the release has"
                + " no",
            "doctor, and an ss that prints a simple table, with the options --dir DIR and --help.",
            "Exit status: 0 success, 1 failure, 2 wrong usage, 69 something is missing."));
  }
}
