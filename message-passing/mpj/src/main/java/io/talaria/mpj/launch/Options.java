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
import java.util.jar.Attributes;
import java.util.jar.JarFile;

/** The command line of the launcher, checked. */
final class Options {
  static final String HELP =
      """
      Usage: talaria mpirun -np N [OPTIONS] [JVM OPTIONS] Main [ARGUMENTS]
             talaria mpirun -np N [OPTIONS] [JVM OPTIONS] -jar app.jar [ARGUMENTS]

      Starts N ranks of a program written for the mpiJava API (package mpi), on this host or others.

        -np N, -n N       number of ranks
        -dev NAME         device: auto, shm, nio (TCP), ucx (a transport that UCX chooses), ibv (InfiniBand
                          or RoCE) or sm (one thread per rank in one JVM); auto is shm within a host, and
                          between hosts nio, or ibv or ucx where all have an RDMA port (default: auto)
        -host H:N[,H:N]   hosts, filled in this order, and the slots (ranks) of each (default: 1 slot)
        -hostfile FILE    the same from a file, one host per line: «node1 slots=4» or «node1:4»; # starts
                          a comment
        -oversubscribe    allow more ranks than slots
        -rsh CMD          start the agent of a host with CMD HOST 'COMMAND' (default: ssh -o BatchMode=yes)
        -java PATH        path of java on the other hosts (default: the same path as here)
        -init-timeout S   seconds in which all ranks must call Init after the first one (default: 60)
        -cp PATH          class path of the program (default: CLASSPATH, or the current directory)
        -label            print [rank] before each line of output
        -timeout S        end the job after S seconds with status 124, and print which rank waits for
                          which (default: no limit)
        -progress-thread  make progress in each rank while the program computes, by a thread that checks
                          for messages every 100 microseconds
        -on-failure WHAT  when a rank fails after Init: abort ends the job; with notify the job continues,
                          and operations of other ranks with the failed one fail (default: abort)
        -check            before each collective, compare the calls of all ranks; name ranks that differ
        -wdir DIR         working directory of the ranks
        -x NAME[=VALUE]   set an environment variable in the ranks; without =VALUE, to the value here
        -bind             pin each rank to a core, round robin over the launcher's cores (by taskset)
        -h, --help        print this help

      JVM options start with -D, -X, -ea, -da, --add, --enable or -javaagent. docs/mpj.md lists the
      properties -Dtalaria.mpj.NAME=VALUE.

      Exit status: 0 if all ranks exit with 0 after MPI.Finalize. Otherwise the status of the first rank
      that failed (128 + n for signal n), or the one passed to MPI.COMM_WORLD.Abort. 2 wrong usage, 69 UCX
      or an RDMA port is missing, 124 time limit exceeded.

        talaria mpirun -np 4 -cp app.jar Hello
        talaria mpirun -np 2 -label -timeout 60 -Xmx1g -jar solver.jar input.txt
        talaria mpirun -np 8 -host node1:4,node2:4 -cp /shared/app.jar Solver
      """;

  int ranks;
  String device = "auto";

  /** Whether another device may be taken where the usual one does not work. */
  boolean anyDevice;

  String classPath;
  boolean label;
  boolean bind;

  /** Whether the job continues after a rank has failed. */
  boolean continues;

  double timeoutSeconds;
  double initSeconds = 60;
  Path directory;
  String remoteJava;

  /** The hosts in order; empty for this one alone. */
  final List<HostSlots> hosts = new ArrayList<>();

  /** The command that starts agents. */
  List<String> shell = List.of("ssh", "-o", "BatchMode=yes");

  private boolean oversubscribe;
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
        case "-oversubscribe" -> oversubscribe = true;
        case "-host", "-hosts", "-H" -> HostSlots.readList(word, value(word), hosts);
        case "-hostfile", "-machinefile" -> HostSlots.readFile(value(word), hosts);
        case "-rsh" -> shell = shell(value(word));
        case "-java" -> remoteJava = value(word);
        case "-init-timeout" -> initSeconds = number(word, 1, 1_000_000);
        case "-timeout" -> timeoutSeconds = number(word, 1, 1_000_000);
        case "-progress-thread" -> jvmOptions.add("-Dtalaria.mpj.progress=100");
        case "-on-failure" -> continues = continues(value(word));
        case "-check" -> jvmOptions.add("-Dtalaria.mpj.check=true");
        case "-wdir" -> directory = directory(value(word));
        case "-x" -> variable(value(word));
        case "-jar" -> jar = value(word);
        default -> {
          if (word.startsWith("--add-") && word.indexOf('=') < 0) {
            jvmOptions.add(word + "=" + value(word)); // java takes two words as well.
          } else if (isJvmOption(word)) {
            jvmOptions.add(word);
          } else if (word.startsWith("-")) {
            throw new UsageException("unknown option " + word + nearest(word));
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
    checkHosts();
    if (continues && (device.equals("sm") || device.equals("ucx"))) {
      throw new UsageException(
          "-on-failure notify is for -dev auto, shm, nio and ibv: "
              + (device.equals("sm")
                  ? "the ranks of sm are one process"
                  : "a process that is killed may break the memory that UCX shares with others"));
    }
    if (classPath == null) {
      String given = System.getenv("CLASSPATH");
      classPath = given == null || given.isBlank() ? "." : given;
    }
    arguments = Arrays.asList(words).subList(next, words.length);
    checkMain();
    return true;
  }

  private void checkHosts() throws UsageException {
    if (hosts.size() < 2 && device.equals("auto")) {
      device = "shm";
      anyDevice = true;
    }
    if (hosts.isEmpty()) {
      return;
    }
    if (device.equals("sm") || (device.equals("shm") && hosts.size() > 1)) {
      throw new UsageException(
          "-dev "
              + device
              + " is for one host; for several: -dev auto, -dev nio, -dev ucx or -dev ibv");
    }
    int slots = 0;
    for (HostSlots host : hosts) {
      slots += host.slots();
    }
    if (ranks > slots && !oversubscribe) {
      throw new UsageException(
          ranks
              + " ranks for "
              + slots
              + " slots: give hosts more, as in -host "
              + hosts.get(0).name()
              + ":"
              + ranks
              + ", or -oversubscribe");
    }
  }

  /** The host of each rank, by its number in {@link #hosts}: slots in order, then in turns. */
  int[] hostOfRank() {
    int[] of = new int[ranks];
    int rank = 0;
    for (int host = 0; host < hosts.size() && rank < ranks; host++) {
      for (int i = 0; i < hosts.get(host).slots() && rank < ranks; i++) {
        of[rank++] = host;
      }
    }
    for (int host = 0; rank < ranks && !hosts.isEmpty(); host = (host + 1) % hosts.size()) {
      of[rank++] = host;
    }
    return of;
  }

  /** Refuses a main class that is on no class path, before all ranks are started to look for it. */
  private void checkMain() throws UsageException {
    String file = mainClass.replace('.', '/') + ".class";
    boolean here = hosts.isEmpty();
    for (HostSlots host : hosts) {
      here |= host.isThisHost();
    }
    for (String entry :
        (System.getProperty("java.class.path") + File.pathSeparator + classPath)
            .split(File.pathSeparator)) {
      if (!here || has(entry.isEmpty() ? "." : entry, file)) {
        return;
      }
    }
    throw new UsageException(
        "there is no class " + mainClass + " on the class path " + classPath + "; see -cp");
  }

  private static boolean has(String entry, String file) {
    if (entry.endsWith("*")) {
      return true; // All jars of a directory: the rank will see.
    }
    Path path = Path.of(entry);
    if (Files.isDirectory(path)) {
      return Files.isRegularFile(path.resolve(file));
    }
    try (JarFile jar = new JarFile(path.toFile())) {
      return jar.getEntry(file) != null || namesOthers(jar);
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private static boolean namesOthers(JarFile jar) throws IOException {
    return jar.getManifest() != null
        && jar.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH) != null;
  }

  private static List<String> shell(String command) throws UsageException {
    List<String> words = List.of(command.trim().split("\\s+"));
    if (words.get(0).isEmpty()) {
      throw new UsageException("-rsh needs a command, such as -rsh 'ssh -p 2222'");
    }
    return words;
  }

  private static final List<String> KNOWN =
      List.of(
          "-np",
          "-n",
          "-dev",
          "-cp",
          "-host",
          "-hosts",
          "-hostfile",
          "-oversubscribe",
          "-rsh",
          "-java",
          "-init-timeout",
          "-label",
          "-timeout",
          "-check",
          "-progress-thread",
          "-on-failure",
          "-wdir",
          "-x",
          "-bind",
          "-jar",
          "--help");

  /** The option that a word was meant to be, if one is near. */
  private static String nearest(String word) {
    String best = null;
    int least = 3;
    for (String known : KNOWN) {
      int distance = distance(word, known);
      if (distance < least) {
        least = distance;
        best = known;
      }
    }
    return best == null ? "; try: talaria mpirun --help" : "; did you mean " + best + "?";
  }

  /** How many letters to change, add or leave out to make one word of another. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int corner = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = corner + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        corner = row[j];
        row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
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

  private static boolean continues(String what) throws UsageException {
    return switch (what) {
      case "notify" -> true;
      case "abort" -> false;
      default -> throw new UsageException("-on-failure needs abort or notify, not " + what);
    };
  }

  private static String device(String name) throws UsageException {
    String plain = name.endsWith("dev") ? name.substring(0, name.length() - 3) : name;
    return switch (plain) {
      case "auto", "shm", "sm", "nio", "ucx", "ibv" -> plain;
      default -> throw new UsageException("-dev needs auto, shm, nio, ucx, ibv or sm, not " + name);
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
