// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;

/** Lines of which none takes more memory than it may. Used by one thread. */
public final class BoundedLines {
  private final BufferedReader in;
  private final int most;
  private boolean inLongLine;

  /**
   * Reads lines.
   *
   * @param in where from
   * @param most how many characters of a line count
   */
  public BoundedLines(Reader in, int most) {
    this.in = new BufferedReader(in);
    this.most = most;
  }

  /**
   * Returns the next line without its end.
   *
   * @return a line that is too long is cut after one character too many; null at the end
   * @throws IOException if it cannot be read
   */
  public String next() throws IOException {
    // Skips the rest of a long line only now: it may have no end, and the caller must get its
    // beginning before.
    while (inLongLine) {
      int c = in.read();
      inLongLine = c >= 0 && !ends(c);
    }
    StringBuilder line = new StringBuilder();
    int c = in.read();
    if (c < 0) {
      return null;
    }
    while (c >= 0 && !ends(c)) {
      line.append((char) c);
      if (line.length() > most) {
        inLongLine = true;
        break;
      }
      c = in.read();
    }
    return line.toString();
  }

  /** Takes both characters of an end that has two. */
  private boolean ends(int c) throws IOException {
    if (c == '\r') {
      in.mark(1);
      if (in.read() != '\n') {
        in.reset();
      }
    }
    return c == '\n' || c == '\r';
  }
}
