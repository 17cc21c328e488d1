// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.collective.Call;
import io.talaria.mpj.device.ring.RankPages;
import io.talaria.mpj.device.ring.SharedFiles;
import io.talaria.mpj.engine.Settings;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The ranks of this host: their processes, their directory, their control links, their output. */
final class HostRanks implements Host {
  /** O_CLOEXEC of Linux. */
  private static final long CLOSED_ON_EXEC = 0x80000;

  /**
   * For what a rank that has ended said last on its control link, which ends with it, unless
   * another process has that open, too.
   */
  private static final long LAST_WORDS_MS = 10_000;

  /** Between SIGTERM and SIGKILL. */
  static final long TERM_NS = 2_000_000_000L;

  /** For processes that have a rank's output open after its end. */
  private static final long OPEN_OUTPUT_NS = 2_000_000_000L;

  private record RankOutput(int rank, OutputPump pump) {}

  private final Plan plan;

  /** Whether the standard input of this process is for rank 0. */
  private final boolean input;

  private final Events events;
  private final OutputStream out;
  private final OutputStream err;
  private final Path directory;
  private final ControlServer control;

  /** By rank; one process for all of {@code sm}. */
  private final Map<Integer, Process> processes = new ConcurrentHashMap<>();

  private final List<RankOutput> outputs = new CopyOnWriteArrayList<>();
  private final Map<Integer, OutputPump> said = new ConcurrentHashMap<>();
  private Thread stopper;
  private volatile boolean stopping;

  /**
   * Makes the directory and the control socket.
   *
   * @param input whether the standard input of this process is for rank 0
   * @param out where ranks' standard output goes, in whole lines
   * @param err where their standard error goes
   * @throws NoRoomException if there is no room
   * @throws IOException if they cannot be made
   */
  HostRanks(Plan plan, boolean input, Events events, OutputStream out, OutputStream err)
      throws IOException {
    this.plan = plan;
    this.input = input;
    this.events = events;
    this.out = out;
    this.err = err;
    if (!Files.isDirectory(Path.of(plan.directory()))) {
      throw new IOException("there is no directory " + plan.directory() + "; see -wdir");
    }
    Settings settings = Settings.ofOptions(plan.jvmOptions());
    int ring = plan.rings() ? settings.ringBytes() : 0;
    NoRoomException.check(
        JobDirectory.parent(settings.directory()), plan.size(), plan.ranks().size(), ring);
    directory = JobDirectory.create(settings.directory());
    try {
      SharedFiles.prepare(directory, plan.size());
      control = new ControlServer(directory, plan.size(), plan.secret(), events);
    } catch (IOException e) {
      JobDirectory.delete(directory);
      throw e;
    }
  }

  @Override
  public String name() {
    return plan.hostName();
  }

  @Override
  public int number() {
    return plan.host();
  }

  @Override
  public void start() {
    try {
      List<Integer> ranks = plan.ranks();
      for (int i = 0; i < (plan.threads() ? 1 : ranks.size()) && !stopping; i++) {
        start(ranks.get(i), i, ranks.size());
      }
    } catch (IOException e) {
      events.failed(e.getMessage());
    }
  }

  private void start(int rank, int place, int ranksHere) throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    ProcessBuilder builder = new ProcessBuilder(command(place, ranksHere, cores));
    builder.directory(new File(plan.directory()));
    Map<String, String> environment = builder.environment();
    environment.remove(RankMain.NOTIFY); // Of a job whose rank has started this launcher.
    environment.putAll(plan.environment());
    environment.put(RankMain.RANK, "" + rank);
    environment.put(RankMain.CORES, "" + cores);
    environment.put(RankMain.DIRECTORY, directory.toString());
    environment.put(RankMain.DEVICE, plan.device());
    environment.put(RankMain.HOSTS, RankMain.hosts(plan.hostOfRank()));
    builder.redirectInput(
        rank == 0 && input && hasInput()
            ? ProcessBuilder.Redirect.INHERIT
            : ProcessBuilder.Redirect.from(new File("/dev/null")));
    Process process = builder.start();
    processes.put(rank, process);
    String label = plan.label() && !plan.threads() ? "[" + rank + "] " : "";
    pump(rank, new OutputPump(process.getInputStream(), out, label));
    OutputPump errors = new OutputPump(process.getErrorStream(), err, label);
    said.put(rank, errors);
    pump(rank, errors);
    process
        .onExit()
        .thenCompose(
            ended -> {
              // Else it may have failed before it could say hello; threads have no link.
              boolean saidHello = ended.exitValue() == 0 && !plan.threads();
              return control.lastWords(rank, saidHello, LAST_WORDS_MS);
            })
        .thenRun(() -> events.exited(rank, process.pid(), process.exitValue()));
  }

  /**
   * Whether this process was given a standard input. If it was not, its descriptor is that of some
   * file of the JVM's own, which is not for programs that are started: what was inherited is.
   */
  private static boolean hasInput() {
    Path input = Path.of("/proc/self/fd/0");
    try {
      if (Files.readSymbolicLink(input).startsWith(System.getProperty("java.home"))) {
        return false;
      }
      for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/0"))) {
        if (line.startsWith("flags:")) {
          long flags = Long.parseLong(line.substring("flags:".length()).strip(), 8);
          return (flags & CLOSED_ON_EXEC) == 0;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      // Closed; or not on Linux as we know it.
      return !Files.isDirectory(input.getParent());
    } catch (IOException | NumberFormatException e) {
      return true;
    }
  }

  private void pump(int rank, OutputPump pump) {
    outputs.add(new RankOutput(rank, pump));
    pump.start();
  }

  private List<String> command(int place, int ranksHere, int cores) {
    List<String> words = new ArrayList<>();
    if (plan.bind() && !plan.threads()) {
      List<Integer> allowed = AllowedCores.list();
      words.addAll(List.of("taskset", "-c", "" + allowed.get(place % allowed.size())));
    }
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("--enable-native-access=ALL-UNNAMED");
    if (!plan.threads()) {
      given(words, "-Xmx", "-Xmx" + Math.max(32, (HostMemory.bytes() >> 20) / 2 / ranksHere) + "m");
      given(
          words,
          "-XX:ActiveProcessorCount=",
          "-XX:ActiveProcessorCount=" + Math.max(1, cores / ranksHere));
    }
    words.addAll(plan.jvmOptions());
    words.add("-cp");
    words.add(plan.classPath());
    if (plan.threads()) {
      words.add(ThreadMain.class.getName());
      words.add("" + plan.size());
    } else {
      words.add(RankMain.class.getName());
    }
    words.add(plan.mainClass());
    words.addAll(plan.arguments());
    return words;
  }

  private void given(List<String> words, String prefix, String normal) {
    for (String option : plan.jvmOptions()) {
      if (option.startsWith(prefix)) {
        return;
      }
    }
    words.add(normal);
  }

  @Override
  public void rankAddresses(List<String> ofAll) {
    List<String> lines = new ArrayList<>();
    for (String each : ofAll) {
      lines.add("address " + each);
    }
    lines.add("addresses");
    control.tellAll(String.join("\n", lines));
  }

  @Override
  public void go() {
    control.tellAll("go");
  }

  @Override
  public void tell(int rank, String line) {
    control.tell(rank, line);
  }

  @Override
  public List<String> describe() {
    Map<Integer, String> lines = new TreeMap<>();
    if (plan.threads()) {
      return List.of();
    }
    try (Arena arena = Arena.ofConfined();
        FileChannel file =
            FileChannel.open(directory.resolve(JobDirectory.PAGES), StandardOpenOption.READ)) {
      MemorySegment pages = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
      RankPages looked = new RankPages(pages, plan.size());
      for (int rank : plan.ranks()) {
        lines.put(rank, "rank " + rank + where() + " " + state(rank, looked));
      }
    } catch (IOException e) {
      return List.of("what the ranks" + where() + " wait for cannot be read: " + e.getMessage());
    }
    return List.copyOf(lines.values());
  }

  private String state(int rank, RankPages looked) {
    ControlServer.Progress progress = control.rank(rank);
    if (progress.finalized) {
      return "has finalized";
    }
    if (progress.init) {
      return looked.waiting(rank, Call::describe);
    }
    OutputPump errors = said.get(rank);
    String last = errors == null ? "" : errors.lastLines();
    return "is not in MPI yet" + (last.isEmpty() ? "" : "; it said last: " + last);
  }

  private String where() {
    return plan.severalHosts() ? " on " + plan.hostName() : "";
  }

  @Override
  public synchronized void stop() {
    if (stopper == null) {
      stopping = true;
      stopper = new Thread(this::end, "talaria-mpj-stop");
      stopper.start();
    }
  }

  private void end() {
    // By their handles: a Process would close the pipes, and what hooks say would be lost.
    processes.values().forEach(process -> process.toHandle().destroy());
    long until = System.nanoTime() + TERM_NS;
    try {
      for (Process process : processes.values()) {
        if (!process.waitFor(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          process.toHandle().destroyForcibly();
          process.waitFor(5, TimeUnit.SECONDS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    control.close();
    JobDirectory.delete(directory);
  }

  @Override
  public void awaitEnd(long forReaderNs) {
    stop();
    try {
      stopper.join(30_000);
      awaitOutput(new Patience(OPEN_OUTPUT_NS, forReaderNs));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitOutput(Patience patience) throws InterruptedException {
    for (List<RankOutput> open = openOutputs(); !open.isEmpty(); open = openOutputs()) {
      boolean passing = open.stream().anyMatch(output -> output.pump().isPassing());
      if (!patience.lasts(passing)) {
        outputs.removeAll(open); // the end of the launcher does not wait once more
        if (!passing) {
          tellOfOpen(open);
        }
        return;
      }
      open.get(0).pump().join(Patience.LOOK_MS);
    }
  }

  private List<RankOutput> openOutputs() {
    return outputs.stream().filter(output -> output.pump().isAlive()).toList();
  }

  private void tellOfOpen(List<RankOutput> open) {
    String who =
        plan.threads()
            ? "the ranks"
            : open.stream()
                .map(output -> "rank " + output.rank())
                .distinct()
                .collect(Collectors.joining(", "));
    String line =
        "talaria mpirun: another process"
            + where()
            + " keeps the output of "
            + who
            + " open; what it writes now is not passed on\n";
    try {
      synchronized (err) {
        err.write(line.getBytes(StandardCharsets.UTF_8));
        err.flush();
      }
    } catch (IOException | UncheckedIOException e) {
      // The reader of the output is gone.
    }
  }

  /** Ends the ranks as {@link #stop} does, and waits for that: hooks of theirs run. */
  @Override
  public void kill() {
    awaitEnd(READER_NS_AT_KILL);
    processes.values().forEach(Process::destroyForcibly);
    JobDirectory.delete(directory);
  }
}
