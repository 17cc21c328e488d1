// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Passes a rank's output on, in whole lines; a rank that floods is slowed by its pipe. Of lines
 * above 16 MiB parts are passed on: where another rank has something to say between two of them,
 * each becomes a line of its own.
 */
final class OutputPump extends Thread {
  private static final int MAX_LINE_BYTES = 1 << 24;
  private static final int LINES_KEPT = 3;
  private static final int KEPT_OF_A_LINE = 300;

  /** Whose line has begun and not ended, by stream; guarded by the stream. */
  private static final Map<OutputStream, OutputPump> BEGUN =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private final InputStream from;
  private final OutputStream to;
  private final byte[] label;
  private final ArrayDeque<String> last = new ArrayDeque<>();
  private volatile boolean passing;

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
    boolean inside = false;
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
            if (inside) {
              part(line, true);
              inside = false;
            } else {
              lines.write(label);
              line.writeTo(lines);
            }
            line.reset();
          }
        }
        line.write(block, start, n - start);
        pass(lines);
        if (line.size() > MAX_LINE_BYTES) {
          part(line, false);
          inside = true;
          line.reset();
        }
      }
    } catch (IOException | UncheckedIOException e) {
      // The rank is gone, or the reader of the output is.
    }
    if (line.size() > 0 || inside) {
      keep(line);
      line.write('\n');
      try {
        if (inside) {
          part(line, true);
        } else {
          ByteArrayOutputStream end = new ByteArrayOutputStream();
          end.write(label);
          line.writeTo(end);
          pass(end);
        }
      } catch (IOException | UncheckedIOException e) {
        // The reader of the output is gone.
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
      passing = true;
      synchronized (to) {
        if (BEGUN.remove(to) != null) {
          to.write('\n');
        }
        lines.writeTo(to);
        to.flush();
      }
      passing = false;
    }
  }

  /** Whether it waits for the reader of the output, not for the rank; by any thread. */
  boolean isPassing() {
    return passing;
  }

  /** Passes on a part of a line that is too long to be kept. */
  private void part(ByteArrayOutputStream part, boolean last) throws IOException {
    passing = true;
    synchronized (to) {
      OutputPump begun = BEGUN.remove(to);
      if (begun != this) {
        if (begun != null) {
          to.write('\n');
        }
        to.write(label);
      }
      part.writeTo(to);
      to.flush();
      if (!last) {
        BEGUN.put(to, this);
      }
    }
    passing = false;
  }
}
