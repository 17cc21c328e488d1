// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * A rank's link to a launcher that speaks a version of PMI. All ranks put texts under names, meet
 * at a barrier, and then get what others have put. Used by one thread at a time.
 *
 * <p>Values have a longest length and no spaces or semicolons: ours travel as hexadecimal digits,
 * in pieces.
 */
abstract class Pmi implements AutoCloseable {
  /** Longest value, characters. */
  abstract int valueLength();

  abstract void putValue(String key, String value) throws IOException;

  abstract String getValue(String key) throws IOException;

  /** Makes what all ranks have put before it visible behind it; it need not wait for them. */
  abstract void barrier() throws IOException;

  /**
   * Waits until all ranks are here, once in a job.
   *
   * @param rank this one
   * @param size how many there are
   */
  void meet(int rank, int size) throws IOException {
    barrier();
  }

  /** Says that this rank is done. */
  abstract void end() throws IOException;

  /** Asks for the end of the job; there is no answer. */
  abstract void abort(int status) throws IOException;

  @Override
  public abstract void close() throws IOException;

  /** Puts a text under a name, for all ranks to see after the next barrier. */
  void put(String name, String text) throws IOException {
    String digits = HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    int piece = valueLength() - 2;
    int pieces = Math.max(1, (digits.length() + piece - 1) / piece);
    for (int i = 0; i < pieces; i++) {
      // What follows the last piece is nothing: so its reader knows that it is the last.
      String part = digits.substring(i * piece, Math.min(digits.length(), (i + 1) * piece));
      String mark = i + 1 < pieces ? "m" : "e";
      putValue(name + "-" + i, mark + part);
    }
  }

  /** Gets what a rank has put under a name. */
  String get(String name) throws IOException {
    StringBuilder digits = new StringBuilder();
    String value;
    int i = 0;
    do {
      value = getValue(name + "-" + i++);
      if (!value.matches("[me][0-9a-f]*")) {
        throw new IOException("the launcher says " + value + " for " + name);
      }
      digits.append(value, 1, value.length());
    } while (value.charAt(0) == 'm');
    return new String(HexFormat.of().parseHex(digits), StandardCharsets.UTF_8);
  }
}
