// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/** What a child wrote to one of its outputs: its events, and the last lines for a dump. */
final class Output {
  private static final int MAX_LINES = 400;

  private final Deque<String> lines = new ArrayDeque<>();
  private final List<Event> events = new ArrayList<>();
  private boolean ended;

  Output(InputStream stream, String name) {
    Thread thread = new Thread(() -> read(stream), name);
    thread.setDaemon(true);
    thread.start();
  }

  private void read(InputStream stream) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        add(line);
      }
    } catch (IOException e) {
      add("(output lost: " + e + ")");
    } finally {
      synchronized (this) {
        ended = true;
        notifyAll();
      }
    }
  }

  private synchronized void add(String line) {
    lines.add(line);
    if (lines.size() > MAX_LINES) {
      lines.remove();
    }
    if (line.startsWith("@")) {
      events.add(Event.parse(line));
    }
    notifyAll();
  }

  /**
   * Waits for the next event of a name and takes it; null if time is up, nothing can follow or the
   * child failed.
   */
  synchronized Event take(String name, Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (true) {
      Iterator<Event> waiting = events.iterator();
      while (waiting.hasNext()) {
        Event event = waiting.next();
        if (event.name().equals(name)) {
          waiting.remove();
          return event;
        }
      }
      long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
      if (ended || leftMs <= 0 || failed()) {
        return null;
      }
      wait(leftMs);
    }
  }

  private boolean failed() {
    return events.stream().anyMatch(event -> event.name().equals("failed"));
  }

  /**
   * Waits until a text has appeared in the last lines; false if time is up or nothing can follow.
   */
  synchronized boolean awaitText(String text, Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (!tail().contains(text)) {
      long leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
      if (ended || leftMs <= 0) {
        return false;
      }
      wait(leftMs);
    }
    return true;
  }

  /** Waits until nothing can follow. */
  synchronized void awaitEnd(Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    for (long leftMs = limit.toMillis(); !ended && leftMs > 0; ) {
      wait(leftMs);
      leftMs = (deadlineNs - System.nanoTime()) / 1_000_000;
    }
  }

  /** The last lines. */
  synchronized String tail() {
    return String.join("\n", lines);
  }
}
