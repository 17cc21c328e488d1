// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A child JVM seen from its parent. Used by one thread; the caller that started it closes it, which
 * ends the process in any case, and so does the end of this JVM.
 */
public final class ChildJvm implements AutoCloseable {
  /** The option that has the transport ucx take JUCX. */
  public static final String BY_JUCX = "-Dtalaria.ucx.binding=jucx";

  /** The property that chooses the transport of Netty in benchmarks of its programs. */
  private static final String NETTY_TRANSPORT = "talaria.harness.netty";

  /** The option that has them take its native transport epoll. */
  public static final String NETTY_EPOLL = "-D" + NETTY_TRANSPORT + "=epoll";

  /** The options that leave all ports out, and say that this is wanted. */
  public static final List<String> ON_TCP =
      List.of("-Dtalaria.ports.except=1-65535", "-D" + TransportProbe.ON_TCP + "=true");

  private static final int TAIL_LINES = 400;

  /** How long a child may take to print its threads; one that is stopped prints none. */
  private static final Duration DUMP = Duration.ofSeconds(5);

  private static final long DUMP_LOOK_MS = 20;

  /** The last line of the heap that HotSpot prints behind the threads. */
  private static final String END_OF_DUMP = "  class space ";

  private static final Duration GRACE = Duration.ofSeconds(5);
  private static final String END = "";

  private static final String FAILED = "failed";

  private final String name;
  private final Process process;
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private final Deque<String> tail = new ArrayDeque<>();

  /** How often it has printed its threads; guarded by {@link #tail}. */
  private int dumps;

  private final Thread errorPump;
  private final Thread eventPump;

  /** The failure that it has reported to {@link #next}, or null. */
  private volatile String reported;

  private ChildJvm(String name, Process process) {
    this.name = name;
    this.process = process;
    errorPump = pump(process.getErrorStream(), "stderr");
    eventPump = pump(process.getInputStream(), "stdout");
  }

  /**
   * Starts a child. Options that the environment would give to every JVM are not passed on, so that
   * children differ in nothing but what the specification says.
   *
   * @param spec what to start
   * @throws HarnessException if the program cannot be started
   */
  public static ChildJvm start(ChildSpec spec) throws HarnessException {
    ProcessBuilder builder = new ProcessBuilder(spec.command());
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().remove("JDK_JAVA_OPTIONS");
    builder.environment().remove("_JAVA_OPTIONS");
    if (spec.jvmOptions().contains(BY_JUCX)) {
      // As "talaria run" does: UCX reads these from the environment alone.
      builder.environment().putIfAbsent("UCX_LOG_FILE", "stderr");
      builder.environment().putIfAbsent("UCX_HANDLE_ERRORS", "none");
      builder.environment().putIfAbsent("UCX_WARN_UNUSED_ENV_VARS", "n");
      builder.environment().putIfAbsent("UCX_POSIX_ERROR_HANDLING", "y");
    }
    try {
      return new ChildJvm(spec.name(), ProcessesAtExit.start(builder, GRACE));
    } catch (IOException e) {
      throw new HarnessException("cannot start the " + spec.name() + ": " + e.getMessage(), e);
    }
  }

  /** Returns whether this JVM was started with {@link #NETTY_EPOLL}. */
  public static boolean nettyEpoll() {
    return "epoll".equals(System.getProperty(NETTY_TRANSPORT));
  }

  private Thread pump(InputStream from, String what) {
    Thread thread = new Thread(() -> copy(from, what), "talaria-" + name + "-" + what);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void copy(InputStream from, String what) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith(ParentLink.EVENT)) {
          events.add(line.substring(ParentLink.EVENT.length()));
        } else {
          remember(line);
        }
      }
    } catch (IOException e) {
      remember("(" + what + " lost: " + e.getMessage() + ")");
    }
    if (what.equals("stdout")) {
      events.add(END);
    }
  }

  private void remember(String line) {
    synchronized (tail) {
      tail.add(line);
      if (line.startsWith(END_OF_DUMP)) {
        dumps++;
      }
      if (tail.size() > TAIL_LINES) {
        tail.remove();
      }
    }
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /**
   * Gives the child an order.
   *
   * @param order a record, map or simple value, as the child expects it
   * @throws HarnessException if the child has gone
   */
  public void send(Object order) throws HarnessException {
    try {
      OutputStream out = process.getOutputStream();
      out.write((Json.line(order) + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException e) {
      throw new ChildGoneException(text("has gone before it got its order" + exitStatus()));
    }
  }

  /**
   * What a child reported.
   *
   * @param name what happened
   * @param payload what belongs to it
   */
  public record Event(String name, JsonNode payload) {
    /**
     * Returns the payload as a value.
     *
     * @param <T> its type
     * @param type its type
     * @throws HarnessException if it is of another shape
     */
    public <T> T as(Class<T> type) throws HarnessException {
      try {
        return Json.as(payload, type);
      } catch (IOException e) {
        throw new HarnessException("event '" + name + "' carries no " + type.getSimpleName(), e);
      }
    }
  }

  /**
   * Waits for an event of a certain name.
   *
   * @param <T> the type of what the event carries
   * @param event the name of the event that must come next
   * @param type the type of what it carries
   * @param limit how long to wait at most
   * @throws HarnessException if the child failed, ended, said something else or nothing in time
   * @throws InterruptedException if interrupted
   */
  public <T> T await(String event, Class<T> type, Duration limit)
      throws HarnessException, InterruptedException {
    Event next = next(event, limit);
    if (!next.name().equals(event)) {
      throw failure("reported '" + next.name() + "' instead of '" + event + "'");
    }
    return next.as(type);
  }

  /**
   * Waits for the next event.
   *
   * @param expected what is expected, for messages
   * @param limit how long to wait at most
   * @throws HarnessException if the child failed, ended, or said nothing in time
   * @throws InterruptedException if interrupted
   */
  public Event next(String expected, Duration limit) throws HarnessException, InterruptedException {
    String line = events.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
    if (line == null) {
      dumpThreads();
      throw failure("did not report '" + expected + "' within " + limit.toSeconds() + " s");
    }
    if (line.equals(END)) {
      throw new ChildGoneException(
          text("ended before it reported '" + expected + "'" + exitStatus()));
    }
    Event next;
    try {
      next = event(line);
    } catch (IOException e) {
      throw failure("sent a line that is no event: " + line);
    }
    if (next.name().equals(FAILED)) {
      reported = failed(next);
      throw next.payload().path("trace").asText().isEmpty()
          ? new HarnessException(next.payload().path("message").asText())
          : failure(reported);
    }
    return next;
  }

  private static Event event(String line) throws IOException {
    JsonNode node = Json.parse(line);
    return new Event(node.path("event").asText(), node.path("payload"));
  }

  private static String failed(Event event) {
    String message = event.payload().path("message").asText();
    return ("failed: " + message + "\n" + event.payload().path("trace").asText()).stripTrailing();
  }

  /**
   * Tells whether the child has ended on its own, which may be why others fail.
   *
   * @param grace how long to wait for its end: it may lose its connections a moment before it ends
   * @return how it ended; empty if it lives
   * @throws InterruptedException if interrupted
   */
  public Optional<ChildGoneException> gone(Duration grace) throws InterruptedException {
    return process.waitFor(grace.toMillis(), TimeUnit.MILLISECONDS)
        ? Optional.of(new ChildGoneException(text(lastWords() + exitStatus())))
        : Optional.empty();
  }

  /** Returns the failure that a child which has ended has reported, or that it has ended. */
  private String lastWords() throws InterruptedException {
    if (reported != null) {
      return reported;
    }
    eventPump.join(GRACE.toMillis());
    for (String line : events) { // which stay, for who has yet to read them
      try {
        Event each = event(line);
        if (each.name().equals(FAILED)) {
          return failed(each);
        }
      } catch (IOException e) {
        // No event: who reads it is told.
      }
    }
    return "ended";
  }

  /** Makes the child print its threads, which then belong to its output. */
  private void dumpThreads() throws InterruptedException {
    int before = dumps();
    try {
      new ProcessBuilder("kill", "-QUIT", Long.toString(pid())).start().waitFor();
    } catch (IOException e) {
      remember("(no dump of threads: " + e.getMessage() + ")");
      return;
    }
    long startNs = System.nanoTime();
    while (dumps() == before && process.isAlive() && System.nanoTime() - startNs < DUMP.toNanos()) {
      TimeUnit.MILLISECONDS.sleep(DUMP_LOOK_MS);
    }
  }

  private int dumps() {
    synchronized (tail) {
      return dumps;
    }
  }

  /** Says how it ended, if it has: this may take a moment. */
  private String exitStatus() {
    try {
      return process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)
          ? " (exit status " + process.exitValue() + ")"
          : "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  private HarnessException failure(String what) {
    return new HarnessException(text(what));
  }

  /** Says what it did, and what it has printed. */
  private String text(String what) {
    StringBuilder text = new StringBuilder("the ").append(name).append(' ').append(what);
    try {
      errorPump.join(process.isAlive() ? 1 : GRACE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (tail) {
      if (!tail.isEmpty()) {
        text.append("\n--- the ").append(name).append("'s output ---");
        tail.forEach(line -> text.append('\n').append(line));
      }
    }
    return text.toString();
  }

  /** Ends the child: asks by closing its standard input, then kills. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // It has gone already.
    }
    try {
      if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly().waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    ProcessesAtExit.forget(process);
  }
}
