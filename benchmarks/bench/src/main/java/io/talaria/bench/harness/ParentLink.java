// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The child's end of the talk with its parent. One per process; {@link #report} may be called by
 * any thread, the rest by the main thread.
 *
 * <p>It takes standard input and output for itself: what the program prints goes to standard error.
 * When standard input ends, because the parent closed it or died, the process exits at once.
 */
public final class ParentLink {
  /** Starts every line that is an event; anything else on standard output is noise. */
  static final String EVENT = "@talaria ";

  private static final int EXIT_DEADLINE_MS = 3_000;

  private final PrintStream events;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

  private ParentLink(PrintStream events) {
    this.events = events;
  }

  /** What a child's main method does once the link stands. */
  @FunctionalInterface
  public interface Body {
    /**
     * Does the work.
     *
     * @param link the link to the parent
     * @throws Exception if it failed; the parent is told
     */
    void run(ParentLink link) throws Exception;
  }

  /**
   * Opens the link, says hello, runs the body and exits; a failure is reported to the parent and
   * makes the exit status 1.
   *
   * @param body what the child does
   */
  public static void serve(Body body) {
    ParentLink link =
        new ParentLink(
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8));
    System.setOut(System.err);
    Thread listener = new Thread(link::listen, "talaria-parent-link");
    listener.setDaemon(true);
    listener.start();
    int status = 0;
    try {
      link.report("hello", Map.of("provider", TransportProbe.provider()));
      body.run(link);
    } catch (Throwable e) {
      status = 1;
      link.report("failed", failure(e));
    }
    System.exit(status);
  }

  /** What a {@link HarnessException} says is meant for the user, who wants no trace. */
  private static Map<String, String> failure(Throwable e) {
    return e instanceof HarnessException
        ? Map.of("message", String.valueOf(e.getMessage()), "trace", "")
        : Map.of("message", String.valueOf(e), "trace", trace(e));
  }

  private static String trace(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }

  /**
   * Tells the parent something.
   *
   * @param event its name
   * @param payload a record, map or simple value
   */
  public void report(String event, Object payload) {
    String line = EVENT + Json.line(Map.of("event", event, "payload", payload));
    synchronized (events) {
      events.print(line + "\n");
      events.flush();
    }
  }

  /**
   * Waits for the parent's next order.
   *
   * @param <T> the order's type
   * @param type the order's type
   * @throws IOException if the line does not fit the type
   * @throws InterruptedException if interrupted
   */
  public <T> T receive(Class<T> type) throws IOException, InterruptedException {
    JsonNode node = Json.parse(lines.take());
    return Json.as(node, type);
  }

  /**
   * Waits a while for the parent's next order.
   *
   * @param <T> the order's type
   * @param type the order's type
   * @param atMost how long
   * @return empty if none has come
   * @throws IOException if the line does not fit the type
   * @throws InterruptedException if interrupted
   */
  public <T> Optional<T> poll(Class<T> type, Duration atMost)
      throws IOException, InterruptedException {
    String line = lines.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
    return line == null ? Optional.empty() : Optional.of(Json.as(Json.parse(line), type));
  }

  private void listen() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      System.err.println("lost the parent: " + e);
    }
    Thread watchdog = new Thread(ParentLink::haltLate, "talaria-exit-watchdog");
    watchdog.setDaemon(true);
    watchdog.start();
    System.exit(0);
  }

  private static void haltLate() {
    try {
      Thread.sleep(EXIT_DEADLINE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(0);
  }
}
