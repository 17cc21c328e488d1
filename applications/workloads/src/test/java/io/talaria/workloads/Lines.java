// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** What a process prints, read as it comes. */
final class Lines {
  private final StringBuilder text = new StringBuilder();
  private boolean ended;

  Lines(InputStream from) {
    Thread.ofPlatform().daemon().name("talaria-test-lines").start(() -> read(from));
  }

  private void read(InputStream from) {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        append(line + "\n");
      }
    } catch (IOException e) {
      append("(lost: " + e + ")");
    }
    synchronized (this) {
      ended = true;
      notifyAll();
    }
  }

  private synchronized void append(String more) {
    text.append(more);
    notifyAll();
  }

  /** Waits for a text; returns what there is when it has come, the process has ended or at last. */
  synchronized String await(String part, long limitMs) throws InterruptedException {
    long end = System.nanoTime() + limitMs * 1_000_000;
    while (text.indexOf(part) < 0 && !ended) {
      long leftMs = (end - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        break;
      }
      wait(leftMs);
    }
    return text.toString();
  }

  /** Waits for the end and returns all. */
  synchronized String all(long limitMs) throws InterruptedException {
    long end = System.nanoTime() + limitMs * 1_000_000;
    for (long leftMs = limitMs; !ended && leftMs > 0; ) {
      wait(leftMs);
      leftMs = (end - System.nanoTime()) / 1_000_000;
    }
    return text.toString();
  }
}
