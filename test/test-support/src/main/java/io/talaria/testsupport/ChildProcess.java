// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A child process of a test, most often a JVM. Threads read its output and keep all of it, so it
 * never blocks on a full pipe. An expectation that fails throws an {@link AssertionError} that
 * contains the output.
 *
 * <p>Any thread may call any method. The test that started the process closes it, which kills it;
 * so does the end of the test's JVM.
 */
public final class ChildProcess implements AutoCloseable {
  private static final Set<String> JVM_VARIABLES =
      Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

  /** How long the rest of the output may take once the process has ended. */
  private static final Duration DRAIN = Duration.ofSeconds(5);

  /** How long a JVM may take to print its threads. */
  private static final Duration DUMP = Duration.ofSeconds(20);

  /** The last line of the heap that HotSpot prints behind the threads; an empty one follows. */
  private static final String END_OF_DUMP = "  class space ";

  private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> RUNNING.forEach(ChildProcess::kill), "child-killer"));
  }

  private record Line(boolean error, String text) {}

  private final Builder spec;
  private final Process process;

  /**
   * The lines in the order in which they came; guards the fields below, which its monitor tells.
   */
  private final List<Line> lines = new ArrayList<>();

  private int openStreams = 2;

  /** The index in {@link #lines} of the first one that {@link #awaitLine} has not passed. */
  private int unread;

  private ChildProcess(Builder spec, Process process) {
    this.spec = spec;
    this.process = process;
    read(process.getInputStream(), false);
    read(process.getErrorStream(), true);
  }

  /**
   * Describes a JVM like this one: the same Java and class path.
   *
   * @param main the class whose {@code main} runs
   * @param arguments for it
   */
  public static Builder jvm(Class<?> main, Object... arguments) {
    return new Builder(main.getName(), texts(arguments));
  }

  /**
   * Describes a process that runs a command.
   *
   * @param words the command and its arguments
   */
  public static Builder command(Object... words) {
    return new Builder(null, texts(words));
  }

  private static List<String> texts(Object... values) {
    return Arrays.stream(values).map(String::valueOf).toList();
  }

  /** Returns the path of a program of this JVM's JDK, such as {@code java}. */
  public static String jdkProgram(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }

  /** What a child process is started with. Confined to one thread. */
  public static final class Builder {
    private final String main;
    private final List<String> arguments;
    private final List<String> prefix = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> environment = new TreeMap<>();
    private Predicate<String> without = JVM_VARIABLES::contains;
    private String java = jdkProgram("java");
    private String classPath = System.getProperty("java.class.path");
    private Path directory;
    private Path input;
    private boolean oneOutput;

    private Builder(String main, List<String> arguments) {
      this.main = main;
      this.arguments = arguments;
    }

    /** Adds words in front: a command that runs this one. */
    public Builder under(String... words) {
      prefix.addAll(List.of(words));
      return this;
    }

    /** Adds options of the JVM. */
    public Builder options(String... more) {
      return options(List.of(more));
    }

    /** Adds options of the JVM. */
    public Builder options(List<String> more) {
      options.addAll(more);
      return this;
    }

    /** Takes another {@code java} command than this JVM's. */
    public Builder java(String command) {
      java = command;
      return this;
    }

    /** Takes another class path than this JVM's. */
    public Builder classPath(String path) {
      classPath = path;
      return this;
    }

    /**
     * Sets a variable of the environment. The child inherits the others, without those that give
     * options to every JVM.
     */
    public Builder environment(String name, Object value) {
      environment.put(name, value.toString());
      return this;
    }

    /** Sets variables of the environment. */
    public Builder environment(Map<String, String> variables) {
      environment.putAll(variables);
      return this;
    }

    /** Leaves out variables of the environment that the child would inherit. */
    public Builder withoutEnvironment(Predicate<String> names) {
      without = without.or(names);
      return this;
    }

    /** Sets the working directory, else that of this JVM. */
    public Builder directory(Path path) {
      directory = path;
      return this;
    }

    /** Takes the standard input from a file, instead of {@link ChildProcess#send}. */
    public Builder input(Path file) {
      input = file;
      return this;
    }

    /** Has the standard error go to the standard output. */
    public Builder oneOutput() {
      oneOutput = true;
      return this;
    }

    private List<String> words() {
      List<String> words = new ArrayList<>(prefix);
      if (main != null) {
        words.add(java);
        words.addAll(options);
        words.add("-cp");
        words.add(classPath);
        words.add(main);
      }
      words.addAll(arguments);
      return words;
    }

    /** Returns what failures call it. */
    private String name() {
      return main == null ? words().get(0) : main.substring(main.lastIndexOf('.') + 1);
    }

    /**
     * Starts the process.
     *
     * @throws IOException if that is impossible
     */
    public ChildProcess start() throws IOException {
      ProcessBuilder builder = new ProcessBuilder(words()).redirectErrorStream(oneOutput);
      builder.environment().keySet().removeIf(without);
      builder.environment().putAll(environment);
      if (directory != null) {
        builder.directory(directory.toFile());
      }
      if (input != null) {
        builder.redirectInput(input.toFile());
      }
      Process process = builder.start();
      RUNNING.add(process);
      return new ChildProcess(this, process);
    }

    /**
     * Runs the process to its end, without input.
     *
     * @param limit how long that may take
     * @return the process, which has ended
     * @throws IOException if it cannot be started
     */
    public ChildProcess run(Duration limit) throws IOException, InterruptedException {
      try (ChildProcess child = start()) {
        child.closeInput();
        child.awaitEnd(limit);
        return child;
      }
    }

    /**
     * Runs the process to its end, without input, and demands exit status 0.
     *
     * @param limit how long that may take
     * @return the process, which has ended
     * @throws IOException if it cannot be started
     */
    public ChildProcess runSuccessfully(Duration limit) throws IOException, InterruptedException {
      return run(limit).awaitSuccess(Duration.ZERO);
    }
  }

  private void read(InputStream from, boolean error) {
    String name = spec.name() + (error ? "-stderr" : "-stdout");
    Thread thread = new Thread(() -> keepLines(from, error), name);
    thread.setDaemon(true);
    thread.start();
  }

  private void keepLines(InputStream from, boolean error) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        keep(new Line(error, line));
      }
    } catch (IOException e) {
      keep(new Line(true, "(the output cannot be read: " + e.getMessage() + ")"));
    } finally {
      synchronized (lines) {
        openStreams--;
        lines.notifyAll();
      }
    }
  }

  private void keep(Line line) {
    synchronized (lines) {
      lines.add(line);
      lines.notifyAll();
    }
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /** Returns whether the process has not ended. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Returns the lines of the standard output up to now. */
  public List<String> out() {
    return texts(false);
  }

  /** Returns the lines of the standard error up to now. */
  public List<String> err() {
    return texts(true);
  }

  private List<String> texts(boolean error) {
    synchronized (lines) {
      return lines.stream().filter(line -> line.error() == error).map(Line::text).toList();
    }
  }

  /** Returns {@link #out} as a text, each line with its end. */
  public String outText() {
    return text(out());
  }

  /** Returns {@link #err} as a text, each line with its end. */
  public String errText() {
    return text(err());
  }

  /** Returns all lines of both outputs up to now as a text, in the order in which they came. */
  public String output() {
    synchronized (lines) {
      return text(lines.stream().map(Line::text).toList());
    }
  }

  private static String text(List<String> lines) {
    return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  /**
   * Waits for a line of the standard output. Lines before it are passed over: the next call looks
   * at those behind it.
   *
   * @param regex what the whole line matches
   * @param limit how long to wait
   * @return the match
   * @throws AssertionError if the process ends, or the time, without such a line
   */
  public MatchResult awaitLine(String regex, Duration limit) throws InterruptedException {
    Pattern pattern = Pattern.compile(regex);
    long startNs = System.nanoTime();
    synchronized (lines) {
      while (true) {
        while (unread < lines.size()) {
          Line line = lines.get(unread++);
          Matcher matcher = pattern.matcher(line.text());
          if (!line.error() && matcher.matches()) {
            return matcher.toMatchResult();
          }
        }
        if (openStreams == 0 || !waitUntil(startNs, limit)) {
          break;
        }
      }
    }
    throw failure("has not printed a line that matches " + regex, limit);
  }

  /** Waits for news of the output; false if the time is up. The caller holds the monitor. */
  private boolean waitUntil(long startNs, Duration limit) throws InterruptedException {
    long restNs = limit.toNanos() - (System.nanoTime() - startNs);
    if (restNs <= 0) {
      return false;
    }
    TimeUnit.NANOSECONDS.timedWait(lines, restNs);
    return true;
  }

  /**
   * Sends a line to the standard input.
   *
   * @throws IOException if the process has ended
   */
  public void send(String line) throws IOException {
    OutputStream out = process.getOutputStream();
    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Ends the standard input. */
  public void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process has ended.
    }
  }

  /**
   * Sends a signal, such as {@code STOP}.
   *
   * @throws AssertionError if the process has ended
   */
  public void signal(String signal) throws IOException, InterruptedException {
    if (!trySignal(signal)) {
      throw failure("cannot get the signal " + signal);
    }
  }

  private boolean trySignal(String signal) throws IOException, InterruptedException {
    return new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start().waitFor() == 0;
  }

  /**
   * Waits for the end of the process and of its output.
   *
   * @param limit how long to wait
   * @return the exit status
   * @throws AssertionError if it has not ended by then
   */
  public int awaitEnd(Duration limit) throws InterruptedException {
    if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
      throw failure("has not ended", limit);
    }
    long startNs = System.nanoTime();
    synchronized (lines) {
      // A process that it has left behind may keep the pipes open.
      boolean inTime = true;
      while (openStreams > 0 && inTime) {
        inTime = waitUntil(startNs, DRAIN);
      }
    }
    return process.exitValue();
  }

  /**
   * Waits for the end of the process with exit status 0.
   *
   * @param limit how long to wait
   * @return this
   * @throws AssertionError if it has not ended by then, or with another status
   */
  public ChildProcess awaitSuccess(Duration limit) throws InterruptedException {
    return awaitEnd(limit) == 0 ? this : failed();
  }

  private ChildProcess failed() {
    throw failure("has failed");
  }

  /**
   * Returns the exit status.
   *
   * @throws IllegalThreadStateException if the process has not ended
   */
  public int exitStatus() {
    return process.exitValue();
  }

  private AssertionError failure(String what, Duration limit) throws InterruptedException {
    dumpThreads();
    return failure(what + " within " + limit.toMillis() + " ms");
  }

  private AssertionError failure(String what) {
    return new AssertionError(spec.name() + " " + what + "; " + this);
  }

  /** Has a JVM that runs print its threads, which are then part of its output. */
  private void dumpThreads() throws InterruptedException {
    int before;
    synchronized (lines) {
      before = lines.size();
    }
    if (spec.main == null || !spec.prefix.isEmpty() || !process.isAlive()) {
      return; // the process may be no JVM, and would end by the signal
    }
    try {
      if (!trySignal("QUIT")) {
        return; // it has just ended
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    long startNs = System.nanoTime();
    synchronized (lines) {
      boolean inTime = true;
      while (inTime && openStreams > 0 && !isDumped(before)) {
        inTime = waitUntil(startNs, DUMP);
      }
    }
  }

  /**
   * Returns whether the lines from {@code before} on contain a whole dump: what the program prints
   * while the JVM does ends up within a line of the dump. The caller holds the monitor.
   */
  private boolean isDumped(int before) {
    for (int i = before; i + 1 < lines.size(); i++) {
      if (lines.get(i).text().startsWith(END_OF_DUMP)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Kills the process and those it has started, as {@code kill -9} does, and waits for its end. The
   * signal {@code KILL} ends the process alone.
   */
  public void kill() {
    kill(process);
    Process unused = process.onExit().join();
  }

  private static void kill(Process process) {
    if (!process.isAlive()) {
      return; // another one may have its id by now
    }
    ProcessHandle handle = process.toHandle();
    // First those below: of a process that has ended nobody knows them.
    handle.descendants().forEach(ProcessHandle::destroyForcibly);
    handle.destroyForcibly();
  }

  /** Kills the process and those it has started, if it has not ended, and ends its input. */
  @Override
  public void close() {
    kill();
    closeInput();
    RUNNING.remove(process);
  }

  /** Returns the command, the exit status and the output up to now. */
  @Override
  public String toString() {
    String status = process.isAlive() ? "running" : "exit status " + process.exitValue();
    return status + "\n--- command\n" + spec.words() + "\n--- output\n" + output() + "---";
  }
}
