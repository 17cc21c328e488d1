// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.device.ring.RankPages;
import io.talaria.mpj.device.ring.SharedFiles;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The launcher: {@code talaria mpirun}. Starts a process for each rank, passes their output on, and
 * ends the job as soon as one fails.
 */
public final class Mpirun {
  private static final int STATUS_USAGE = 2;
  private static final int STATUS_TIMEOUT = 124;
  private static final long START_LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

  private record Event(int rank, int status, String why) {}

  private final Options options;
  private final Path directory;
  private final Process[] processes;
  private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final List<OutputPump> pumps = new ArrayList<>();
  private ControlServer control;

  private Mpirun(Options options, Path directory) {
    this.options = options;
    this.directory = directory;
    processes = new Process[options.device.equals("sm") ? 1 : options.ranks];
  }

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria mpirun}
   */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  private static int run(String[] args) {
    Options options;
    try {
      options = Options.parse(args);
    } catch (UsageException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      return STATUS_USAGE;
    }
    if (options == null) {
      System.out.print(Options.HELP);
      return 0;
    }
    Path directory = null;
    try {
      directory = JobDirectory.create();
      return new Mpirun(options, directory).launch();
    } catch (IOException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } finally {
      if (directory != null) {
        JobDirectory.delete(directory);
      }
    }
  }

  private int launch() throws IOException, InterruptedException {
    Thread cleaner = new Thread(this::sweep, "talaria-mpj-sweep");
    Runtime.getRuntime().addShutdownHook(cleaner);
    SharedFiles.prepare(directory, options.ranks);
    control =
        new ControlServer(
            directory,
            options.ranks,
            (rank, status, why) -> events.add(new Event(rank, status, why)));
    for (int i = 0; i < processes.length; i++) {
      start(i);
    }
    int status = watch();
    stopAll();
    for (OutputPump pump : pumps) {
      pump.join(2000);
    }
    control.close();
    return status;
  }

  private boolean threads() {
    return options.device.equals("sm");
  }

  private void start(int rank) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command(rank));
    if (options.directory != null) {
      builder.directory(options.directory.toFile());
    }
    builder.environment().putAll(options.environment);
    builder.environment().put(RankMain.RANK, "" + rank);
    builder.environment().put(RankMain.SIZE, "" + options.ranks);
    builder.environment().put(RankMain.CORES, "" + Runtime.getRuntime().availableProcessors());
    builder.environment().put(RankMain.DIRECTORY, directory.toString());
    builder.redirectInput(
        rank == 0
            ? ProcessBuilder.Redirect.INHERIT
            : ProcessBuilder.Redirect.from(new File("/dev/null")));
    Process process = builder.start();
    processes[rank] = process;
    String label = options.label && !threads() ? "[" + rank + "] " : "";
    pump(new OutputPump(process.getInputStream(), System.out, label));
    pump(new OutputPump(process.getErrorStream(), System.err, label));
    process.onExit().thenAccept(ended -> events.add(new Event(rank, ended.exitValue(), null)));
  }

  private void pump(OutputPump pump) {
    pumps.add(pump);
    pump.start();
  }

  private List<String> command(int rank) {
    List<String> words = new ArrayList<>();
    int cores = Runtime.getRuntime().availableProcessors();
    if (options.bind && !threads()) {
      words.addAll(List.of("taskset", "-c", "" + rank % cores));
    }
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("--enable-native-access=ALL-UNNAMED");
    if (!threads()) {
      given(words, "-Xmx", "-Xmx" + Math.max(32, memoryMegabytes() / 2 / options.ranks) + "m");
      given(
          words,
          "-XX:ActiveProcessorCount=",
          "-XX:ActiveProcessorCount=" + Math.max(1, cores / options.ranks));
    }
    words.addAll(options.jvmOptions);
    words.add("-cp");
    words.add(System.getProperty("java.class.path") + File.pathSeparator + options.classPath);
    if (threads()) {
      words.add(ThreadMain.class.getName());
      words.add("" + options.ranks);
    } else {
      words.add(RankMain.class.getName());
    }
    words.add(options.mainClass);
    words.addAll(options.arguments);
    return words;
  }

  private void given(List<String> words, String prefix, String normal) {
    for (String option : options.jvmOptions) {
      if (option.startsWith(prefix)) {
        return;
      }
    }
    words.add(normal);
  }

  private static long memoryMegabytes() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
        if (line.startsWith("MemTotal:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
        }
      }
    } catch (IOException | NumberFormatException e) {
      // Not on Linux as we know it.
    }
    return 2048;
  }

  /** Waits until all ranks have ended, or one has failed. */
  private int watch() throws InterruptedException {
    long start = System.nanoTime();
    long limit = (long) (options.timeoutSeconds * 1e9);
    int alive = processes.length;
    while (alive > 0) {
      Event event = events.poll(200, TimeUnit.MILLISECONDS);
      long passed = System.nanoTime() - start;
      if (event == null) {
        if (limit > 0 && passed > limit) {
          say("the job has not ended after " + (long) options.timeoutSeconds + " s");
          describe();
          return STATUS_TIMEOUT;
        }
        if (passed > START_LIMIT_NS && !allThere()) {
          return 1;
        }
        continue;
      }
      if (event.why() != null) {
        say(event.why());
        return event.status();
      }
      int status = judge(event);
      if (status != 0) {
        return status;
      }
      alive--;
    }
    return 0;
  }

  private boolean allThere() {
    for (int i = 0; i < processes.length && !threads(); i++) {
      if (processes[i].isAlive() && !control.rank(i).hello) {
        say("rank " + i + ", pid " + processes[i].pid() + ", has not started within 60 s");
        return false;
      }
    }
    return true;
  }

  private int judge(Event event) {
    int rank = event.rank();
    int status = event.status();
    String who = threads() ? "the ranks" : "rank " + rank + " (pid " + processes[rank].pid() + ")";
    if (status > 128) {
      say(who + " was ended by signal " + (status - 128));
    } else if (status != 0) {
      say(who + " ended with status " + status);
    } else if (!threads() && control.rank(rank).init && !control.rank(rank).finalized) {
      say(who + " ended without MPI.Finalize");
      return 1;
    }
    return status;
  }

  private static void say(String line) {
    synchronized (System.err) {
      System.err.println("talaria mpirun: " + line);
      System.err.flush();
    }
  }

  /** Says what each rank waits for. */
  private void describe() {
    if (threads()) {
      return;
    }
    try (Arena arena = Arena.ofConfined();
        FileChannel file = FileChannel.open(directory.resolve("pages"), StandardOpenOption.READ)) {
      MemorySegment pages = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
      RankPages looked = new RankPages(pages, options.ranks);
      for (int i = 0; i < options.ranks; i++) {
        say(
            "rank "
                + i
                + (control.rank(i).finalized
                    ? " has finalized"
                    : control.rank(i).init ? " " + looked.waiting(i) : " is not in MPI yet"));
      }
    } catch (IOException e) {
      say("what the ranks wait for cannot be read: " + e.getMessage());
    }
  }

  /** Asks all ranks to end, and after two seconds insists. */
  private void stopAll() throws InterruptedException {
    for (Process process : processes) {
      if (process != null) {
        process.destroy();
      }
    }
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    for (Process process : processes) {
      if (process != null && !process.waitFor(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        process.destroyForcibly();
        process.waitFor(5, TimeUnit.SECONDS);
      }
    }
  }

  /** At the launcher's end by a signal: nobody and nothing stays. */
  private void sweep() {
    for (Process process : processes) {
      if (process != null) {
        process.destroyForcibly();
      }
    }
    for (Process process : processes) {
      if (process != null) {
        try {
          process.waitFor(2, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
    JobDirectory.delete(directory);
  }
}
