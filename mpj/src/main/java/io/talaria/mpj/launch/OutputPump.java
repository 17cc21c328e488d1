// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/** Passes a rank's output on, in whole lines; a rank that floods is slowed by its pipe. */
final class OutputPump extends Thread {
  private static final int LONGEST_LINE = 1 << 16;
  private static final int LINES_KEPT = 3;
  private static final int KEPT_OF_A_LINE = 300;

  private final InputStream from;
  private final OutputStream to;
  private final byte[] label;
  private final ArrayDeque<String> last = new ArrayDeque<>();

  OutputPump(InputStream from, OutputStream to, String label) {
    super("talaria-mpj-output");
    this.from = from;
    this.to = to;
    this.label = label.getBytes(StandardCharsets.UTF_8);
    setDaemon(true);
  }

  @Override
  public void run() {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    byte[] block = new byte[8192];
    try (from) {
      int n;
      while ((n = from.read(block)) >= 0) {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        int start = 0;
        for (int i = 0; i < n; i++) {
          if (block[i] == '\n') {
            line.write(block, start, i + 1 - start);
            start = i + 1;
            keep(line);
            lines.write(label);
            line.writeTo(lines);
            line.reset();
          }
        }
        line.write(block, start, n - start);
        if (line.size() > LONGEST_LINE) {
          line.writeTo(lines);
          line.reset();
        }
        pass(lines);
      }
    } catch (IOException | UncheckedIOException e) {
      // The rank is gone, or who listened.
    }
    if (line.size() > 0) {
      keep(line);
      try {
        ByteArrayOutputStream end = new ByteArrayOutputStream();
        end.write(label);
        line.writeTo(end);
        end.write('\n');
        pass(end);
      } catch (IOException | UncheckedIOException e) {
        // Nobody reads it.
      }
    }
  }

  private void keep(ByteArrayOutputStream line) {
    String text = line.toString(StandardCharsets.UTF_8).strip();
    synchronized (last) {
      last.addLast(text.substring(0, Math.min(text.length(), KEPT_OF_A_LINE)));
      if (last.size() > LINES_KEPT) {
        last.removeFirst();
      }
    }
  }

  /** The last lines, side by side; by any thread. */
  String lastLines() {
    synchronized (last) {
      return String.join(" | ", last);
    }
  }

  private void pass(ByteArrayOutputStream lines) throws IOException {
    if (lines.size() > 0) {
      synchronized (to) {
        lines.writeTo(to);
        to.flush();
      }
    }
  }
}
