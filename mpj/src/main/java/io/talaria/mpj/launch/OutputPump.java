// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Passes a rank's output on, in whole lines; a rank that floods is slowed by its pipe. */
final class OutputPump extends Thread {
  private static final int LONGEST_LINE = 1 << 16;

  private final InputStream from;
  private final OutputStream to;
  private final byte[] label;

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
    } catch (IOException e) {
      // The rank is gone.
    }
    if (line.size() > 0) {
      try {
        ByteArrayOutputStream last = new ByteArrayOutputStream();
        last.write(label);
        line.writeTo(last);
        last.write('\n');
        pass(last);
      } catch (IOException e) {
        // Nobody reads it.
      }
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
