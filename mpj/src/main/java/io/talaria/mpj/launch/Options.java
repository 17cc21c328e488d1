// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;

/** The command line of the launcher, checked. */
final class Options {
  static final String HELP =
      """
      Usage: talaria mpirun -np N [OPTIONS] [JVM OPTIONS] Main [ARGUMENTS]
             talaria mpirun -np N [OPTIONS] [JVM OPTIONS] -jar app.jar [ARGUMENTS]

      Starts N ranks of a program written for the mpiJava API (package mpi) on this host.

        -np N, -n N       how many ranks
        -dev NAME         auto, shm (a process a rank, the default) or sm (a thread a rank, one JVM)
        -cp PATH          class path of the program (CLASSPATH, or the current directory)
        -label            put [rank] before each line of output
        -timeout S        end the job after S seconds, with status 124, and say who waits for whom
        -wdir DIR         working directory of the ranks
        -x NAME[=VALUE]   set an environment variable in the ranks
        -bind             one core a rank, in turn (by taskset)
        -h, --help        this

      JVM options are what begins with -D, -X, -ea, -da, --add, --enable or -javaagent. Properties
      -Dtalaria.mpj.NAME=VALUE are in docs/mpj.md.

      Exit status: 0 if all ranks ended so after MPI.Finalize; else that of the first rank that failed
      (128 + n for signal n), that of MPI.COMM_WORLD.Abort; 2 for wrong usage, 124 for the time limit.

        talaria mpirun -np 4 -cp app.jar Hello
        talaria mpirun -np 2 -label -timeout 60 -Xmx1g -jar solver.jar input.txt
      """;

  int ranks;
  String device = "auto";
  String classPath;
  boolean label;
  boolean bind;
  double timeoutSeconds;
  Path directory;
  final Map<String, String> environment = new LinkedHashMap<>();
  final List<String> jvmOptions = new ArrayList<>();
  String mainClass;
  List<String> arguments = List.of();

  private final String[] words;
  private int next;

  private Options(String[] words) {
    this.words = words;
  }

  /** Reads a command line; null if it asks for help. */
  static Options parse(String[] words) throws UsageException {
    Options o = new Options(words);
    return o.read() ? o : null;
  }

  private boolean read() throws UsageException {
    String jar = null;
    while (next < words.length && mainClass == null && jar == null) {
      String word = words[next++];
      switch (word) {
        case "-h", "--help", "-help" -> {
          return false;
        }
        case "-np", "-n" -> ranks = (int) number(word, 1, 3500);
        case "-dev" -> device = device(value(word));
        case "-cp", "-classpath", "--class-path" -> classPath = value(word);
        case "-label" -> label = true;
        case "-bind" -> bind = true;
        case "-oversubscribe" -> {}
        case "-timeout" -> timeoutSeconds = number(word, 1, 1_000_000);
        case "-wdir" -> directory = directory(value(word));
        case "-x" -> variable(value(word));
        case "-jar" -> jar = value(word);
        default -> {
          if (isJvmOption(word)) {
            jvmOptions.add(word);
          } else if (word.startsWith("-")) {
            throw new UsageException("unknown option " + word + "; try: talaria mpirun --help");
          } else {
            mainClass = word;
          }
        }
      }
    }
    if (jar != null) {
      readJar(jar);
    }
    if (ranks == 0) {
      throw new UsageException("how many ranks? for example: talaria mpirun -np 2 Main");
    }
    if (mainClass == null) {
      throw new UsageException("which class? for example: talaria mpirun -np " + ranks + " Main");
    }
    if (classPath == null) {
      String given = System.getenv("CLASSPATH");
      classPath = given == null || given.isBlank() ? "." : given;
    }
    arguments = Arrays.asList(words).subList(next, words.length);
    return true;
  }

  private static boolean isJvmOption(String word) {
    return word.startsWith("-D")
        || word.startsWith("-X")
        || word.startsWith("-ea")
        || word.startsWith("-da")
        || word.startsWith("-esa")
        || word.startsWith("-javaagent:")
        || word.startsWith("-agentlib:")
        || word.startsWith("--add-")
        || word.startsWith("--enable-")
        || word.startsWith("-verbose:");
  }

  private String value(String option) throws UsageException {
    if (next == words.length) {
      throw new UsageException(option + " needs a value; try: talaria mpirun --help");
    }
    return words[next++];
  }

  private long number(String option, long least, long most) throws UsageException {
    String value = value(option);
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new UsageException(
        option + " needs a whole number from " + least + " to " + most + ", not " + value);
  }

  private static String device(String name) throws UsageException {
    String plain = name.endsWith("dev") ? name.substring(0, name.length() - 3) : name;
    return switch (plain) {
      case "auto", "shm" -> "shm";
      case "sm" -> "sm";
      default -> throw new UsageException("-dev needs auto, shm or sm, not " + name);
    };
  }

  private static Path directory(String name) throws UsageException {
    if (!Files.isDirectory(Path.of(name))) {
      throw new UsageException("-wdir needs a directory, not " + name);
    }
    return Path.of(name);
  }

  private void variable(String word) throws UsageException {
    int equals = word.indexOf('=');
    String name = equals < 0 ? word : word.substring(0, equals);
    String set = equals < 0 ? System.getenv(name) : word.substring(equals + 1);
    if (name.isEmpty() || set == null) {
      throw new UsageException(
          "-x needs NAME=VALUE, or the name of a variable that is set: " + word);
    }
    environment.put(name, set);
  }

  private void readJar(String jar) throws UsageException {
    try (JarFile file = new JarFile(jar)) {
      mainClass =
          file.getManifest() == null
              ? null
              : file.getManifest().getMainAttributes().getValue("Main-Class");
    } catch (IOException e) {
      throw new UsageException("the jar " + jar + " cannot be read: " + e.getMessage());
    }
    if (mainClass == null) {
      throw new UsageException("the jar " + jar + " names no Main-Class: use -cp and a class");
    }
    classPath = classPath == null ? jar : jar + File.pathSeparator + classPath;
  }
}
