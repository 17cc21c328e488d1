// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import io.talaria.bench.harness.JvmExit;
import io.talaria.cli.harness.HarnessException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A launcher of some library, with the ranks that it starts: a tree of processes. Closing it ends
 * all that is left of it, and so does the end of this process. Used by one thread.
 */
final class RankProcess implements AutoCloseable {
  private static final int SHOWN_LINES = 6;
  private static final long GRACE_S = 5;
  private static final long OWN_END_S = 2;
  private static final File NOTHING = new File("/dev/null");
  private static final String ENDING = "the benchmark is being ended";

  private final String name;
  private final Path said;
  private final Thread atExit = new Thread(this::endAtExit, "talaria-mpj-ranks-end");
  private final Process process;
  private final Object lock = new Object();

  /** What the end of this process ends, once it runs; guarded by {@link #lock}. */
  private ProcessHandle launcher;

  /** Whether this process ends, so that nothing more is started; guarded by {@link #lock}. */
  private boolean exiting;

  /**
   * How to start one.
   *
   * @param words the words of the command
   * @param environment what it has beside this process's
   */
  record Command(List<String> words, Map<String, String> environment) {
    Command {
      words = List.copyOf(words);
      environment = Map.copyOf(environment);
    }
  }

  private RankProcess(String name, ProcessBuilder builder, Path said) throws IOException {
    this.name = name;
    this.said = said;
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      process = start(builder);
    } catch (IOException e) {
      boolean unused = JvmExit.withdraw(atExit);
      throw e;
    }
  }

  private Process start(ProcessBuilder builder) throws IOException {
    synchronized (lock) {
      if (exiting) {
        throw new IOException(ENDING);
      }
      Process started = builder.start();
      launcher = started.toHandle();
      return started;
    }
  }

  /**
   * Starts one.
   *
   * @param name its name in messages
   * @param command how
   * @param folder where it runs, and where what it says is kept
   * @throws HarnessException if it cannot be started
   */
  static RankProcess start(String name, Command command, Path folder) throws HarnessException {
    Path said = folder.resolve(name + ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command.words())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectInput(NOTHING)
            .redirectOutput(said.toFile());
    builder.environment().putAll(command.environment());
    try {
      return new RankProcess(name, builder, said);
    } catch (IOException e) {
      throw new HarnessException("cannot start " + name + ": " + e.getMessage(), e);
    } catch (IllegalStateException e) { // of the shutdown hook
      throw new HarnessException("cannot start " + name + ": " + ENDING, e);
    }
  }

  boolean alive() {
    return process.isAlive();
  }

  /** Returns what it has said so far. */
  String said() throws HarnessException {
    try {
      return Files.readString(said, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new HarnessException("cannot read what " + name + " said: " + e.getMessage(), e);
    }
  }

  /**
   * Waits for its end, and returns what it has said.
   *
   * @param limit how long at most
   * @throws HarnessException if it does not end in time, or with a status that is not 0
   * @throws InterruptedException if interrupted
   */
  String await(Duration limit) throws HarnessException, InterruptedException {
    boolean inTime = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
    if (inTime && process.exitValue() == 0) {
      return said();
    }
    String how =
        inTime
            ? "ended with status " + process.exitValue()
            : "did not end within " + limit.toSeconds() + " s";
    throw new HarnessException(name + " " + how + last(said()));
  }

  /** Returns the last of what was said, for a message; empty if it was nothing. */
  static String last(String text) {
    List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
    int from = Math.max(0, lines.size() - SHOWN_LINES);
    return lines.isEmpty() ? "" : ": " + String.join(" / ", lines.subList(from, lines.size()));
  }

  /** Ends it gently, as a launcher then ends its ranks, and kills what is left. */
  @Override
  public void close() {
    List<ProcessHandle> all = tree(process.toHandle());
    process.destroy();
    try {
      process.waitFor(GRACE_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    all.forEach(ProcessHandle::destroyForcibly);
    boolean unused = JvmExit.withdraw(atExit);
  }

  /**
   * Ends it like {@link #close}, because who is killed leaves its files. Ctrl-C has reached the
   * launcher as well, and Open MPI's does not tidy up after a second signal: hence the first wait.
   */
  private void endAtExit() {
    ProcessHandle running; // not the Process, which may wait for the thread that waits for it
    synchronized (lock) {
      exiting = true;
      running = launcher;
    }
    if (running == null) {
      return;
    }
    List<ProcessHandle> all = tree(running);
    if (!ends(running, OWN_END_S)) {
      running.destroy();
      boolean unused = ends(running, GRACE_S);
    }
    all.forEach(ProcessHandle::destroyForcibly);
  }

  private static boolean ends(ProcessHandle launcher, long limitS) {
    try {
      launcher.onExit().get(limitS, TimeUnit.SECONDS);
      return true;
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /**
   * The process and its descendants. A process whose launcher has ended is no longer a descendant,
   * and ends by itself.
   */
  private static List<ProcessHandle> tree(ProcessHandle launcher) {
    List<ProcessHandle> all = new ArrayList<>();
    try (Stream<ProcessHandle> below = launcher.descendants()) {
      below.forEach(all::add);
    }
    all.add(launcher);
    return all;
  }
}
