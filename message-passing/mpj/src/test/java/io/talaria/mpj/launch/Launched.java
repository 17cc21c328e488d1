// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.testsupport.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A launcher in a process of its own, and what it printed. */
final class Launched {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /** How long the tests are to take, which ranks need to know, too. */
  private static final String ROUNDS = "talaria.test.rounds";

  /** What the launcher says of ranks that have not come to where they wait. */
  private static final List<String> NOT_THERE =
      List.of(" has no agent yet", " does not answer", " is not in MPI yet", " does not wait");

  private final ChildProcess process;
  private final Path jobs;

  /** When the folder of jobs was changed last before this one was started. */
  private final FileTime changed;

  private Launched(ChildProcess process, Path jobs, FileTime changed) {
    this.process = process;
    this.jobs = jobs;
    this.changed = changed;
  }

  static Launched start(String... words) throws IOException {
    return start(List.of(), words);
  }

  /** Runs one to its end. */
  static Launched run(String... words) throws IOException, InterruptedException {
    return start(words).ended();
  }

  /**
   * Runs a program that waits for ever until its time is over; for longer if its ranks had not yet
   * come to where they wait.
   */
  static Launched runUntilTimeout(int seconds, String... words)
      throws IOException, InterruptedException {
    Launched job = runFor(seconds, words);
    String said = job.err();
    return NOT_THERE.stream().anyMatch(said::contains) ? runFor(60, words) : job;
  }

  private static Launched runFor(int seconds, String... words)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("-timeout", "" + seconds));
    all.addAll(List.of(words));
    return run(all.toArray(String[]::new));
  }

  /** Waits for its end. */
  Launched ended() throws InterruptedException {
    int ignored = status();
    return this;
  }

  /**
   * With a file system of its own for the shared files.
   *
   * @param size as mount wants it, such as 100k; other options may follow it, behind a comma
   */
  static Launched startWithRoom(String size, String... words) throws IOException {
    String mount = "mount -t tmpfs -o size=" + size + " tmpfs \"$0\" && exec \"$@\"";
    return start(List.of("unshare", "-m", "sh", "-c", mount), words);
  }

  /** With classes of a folder instead of those of the same name, for the launcher and its ranks. */
  static Launched startWithClasses(Path folder, String... words) throws IOException {
    String classPath = folder + File.pathSeparator + System.getProperty("java.class.path");
    return start(List.of(), classPath, words);
  }

  /** With its standard input closed. */
  static Launched startWithoutInput(String... words) throws IOException {
    return start(List.of("sh", "-c", "exec \"$@\" <&-"), words);
  }

  /** As a rank of a job that continues after failures starts it. */
  static Launched startByNotifiedRank(String... words) throws IOException {
    return start(List.of("sh", "-c", "export TALARIA_MPJ_NOTIFY=1 && exec \"$@\""), words);
  }

  /** With a line as its standard input. */
  static Launched startWithInput(String line, String... words) throws IOException {
    return start(List.of("sh", "-c", "echo " + line + " | \"$@\""), words);
  }

  /** With a reader of its output that begins late. */
  static Launched startWithSlowReader(int seconds, String... words) throws IOException {
    String pipeline = "{ \"$@\"; echo status $? >&2; } | { sleep " + seconds + "; exec cat; }";
    return start(List.of("sh", "-c", pipeline), words);
  }

  /** With one core to run on. */
  static Launched startOn(int core, String... words) throws IOException {
    return start(List.of("sh", "-c", "exec taskset -c " + core + " \"$@\""), words);
  }

  /** Why {@link #startWithRoom} cannot work here, or null. */
  static String noMounts() throws IOException, InterruptedException {
    ChildProcess process =
        ChildProcess.command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
            .run(LIMIT);
    return process.exitStatus() == 0
        ? null
        : "nothing can be mounted here: " + process.output().strip();
  }

  private static Launched start(List<String> before, String... words) throws IOException {
    return start(before, System.getProperty("java.class.path"), words);
  }

  private static Launched start(List<String> before, String classPath, String[] words)
      throws IOException {
    // Its own: other tests start jobs at the same time.
    Path jobs = Files.createTempDirectory(Path.of("/dev/shm"), "talaria-test-");
    jobs.toFile().deleteOnExit();
    FileTime changed = Files.getLastModifiedTime(jobs);
    List<Object> arguments = new ArrayList<>(List.of("-Dtalaria.mpj.dir=" + jobs));
    arguments.addAll(ofRanks());
    arguments.addAll(List.of(words));
    ChildProcess.Builder builder =
        ChildProcess.jvm(Mpirun.class, arguments.toArray())
            .classPath(classPath)
            .options("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1");
    if (!before.isEmpty()) {
      builder.under(before.toArray(String[]::new)).under(jobs.toString());
    }
    return new Launched(builder.start(), jobs, changed);
  }

  /** What ranks are told in a run of the tests: how long it is to be, and how they are compiled. */
  static List<String> ofRanks() {
    List<String> options = new ArrayList<>();
    for (String each : System.getProperty("talaria.test.children", "").split(" ", -1)) {
      if (!each.isEmpty()) {
        options.add(each);
      }
    }
    String rounds = System.getProperty(ROUNDS);
    if (rounds != null) {
      options.add("-D" + ROUNDS + "=" + rounds);
    }
    return options;
  }

  /** The launcher's process, if another one has started it. */
  ProcessHandle launcher() throws InterruptedException {
    while (process.isAlive()) {
      Optional<ProcessHandle> found =
          descendants().filter(each -> wordsOf(each).contains(Mpirun.class.getName())).findAny();
      if (found.isPresent()) {
        return found.get();
      }
      Thread.sleep(20);
    }
    throw new AssertionError("the launcher did not start: " + process);
  }

  private Stream<ProcessHandle> descendants() {
    return ProcessHandle.of(process.pid()).stream().flatMap(ProcessHandle::descendants);
  }

  private static List<String> wordsOf(ProcessHandle process) {
    boolean java = process.info().command().orElse("").endsWith("/java");
    return java ? List.of(process.info().arguments().orElse(new String[0])) : List.of();
  }

  /** Ends all its processes. */
  void end() throws InterruptedException {
    descendants().forEach(ProcessHandle::destroyForcibly);
    int ignored = status();
  }

  /** Sends the launcher, and none of its ranks, a signal. */
  void signal(String name) throws IOException, InterruptedException {
    process.signal(name);
  }

  String out() {
    return process.outText();
  }

  String err() {
    return process.errText();
  }

  int status() throws InterruptedException {
    try {
      return process.awaitEnd(LIMIT);
    } finally {
      process.close();
    }
  }

  /** Where the job has its shared files. */
  Path directory() {
    return jobs;
  }

  /** Whether the job has made its directory, which may be gone by now. */
  boolean begun() throws IOException {
    return !Files.getLastModifiedTime(jobs).equals(changed);
  }

  /** Files of this job that are there now. */
  List<Path> left() throws IOException {
    try (var files = Files.list(jobs)) {
      return files.toList();
    }
  }

  /** Waits until the text has lines with pids of that many ranks; in the order of ranks. */
  List<Long> pids(int ranks) throws InterruptedException {
    long until = System.nanoTime() + 60_000_000_000L;
    while (true) {
      Map<Integer, Long> pids = new TreeMap<>();
      for (String line : process.out()) {
        if (line.startsWith("pid ")) {
          String[] words = line.split(" ");
          pids.put(Integer.parseInt(words[1]), Long.parseLong(words[2]));
        }
      }
      if (pids.size() == ranks) {
        return List.copyOf(pids.values());
      }
      if (System.nanoTime() > until || !process.isAlive()) {
        throw new AssertionError("the ranks did not start: " + process);
      }
      Thread.sleep(20);
    }
  }
}
