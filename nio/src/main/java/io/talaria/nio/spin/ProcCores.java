// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.io.FileInputStream;
import java.io.IOException;

/**
 * What Linux tells in /proc. Reading takes some microseconds and is not ended by an interrupt, so a
 * program's thread may do it now and then. No file is kept open.
 */
final class ProcCores implements Cores {
  private static final String LOAD = "/proc/loadavg";
  private static final String RUN_TIMES = "/proc/thread-self/schedstat";

  /** Both are shorter. */
  private static final int MOST_BYTES = 128;

  /** Fields of loadavg before the one with the threads that run. */
  private static final int AVERAGES = 3;

  @Override
  public int available() {
    return Runtime.getRuntime().availableProcessors();
  }

  @Override
  public int running() {
    byte[] text = new byte[MOST_BYTES];
    int length = read(LOAD, text);
    int at = 0;
    for (int fields = 0; at < length && fields < AVERAGES; at++) {
      if (text[at] == ' ') {
        fields++;
      }
    }
    long running = number(text, at, length);
    return running <= 0 ? UNKNOWN : (int) running;
  }

  @Override
  public boolean runTimes(long[] times) {
    byte[] text = new byte[MOST_BYTES];
    int length = read(RUN_TIMES, text);
    int second = 0;
    while (second < length && text[second] != ' ') {
      second++;
    }
    long ranNs = number(text, 0, length);
    long waitedNs = number(text, second + 1, length);
    if (ranNs <= 0 || waitedNs < 0) { // a kernel that does not count says 0
      return false;
    }
    times[0] = ranNs;
    times[1] = waitedNs;
    return true;
  }

  /** Reads a short file; gives its length, or 0 if that cannot be, as without a descriptor left. */
  private static int read(String file, byte[] text) {
    try (FileInputStream in = new FileInputStream(file)) {
      return Math.max(0, in.read(text));
    } catch (IOException e) {
      return 0;
    }
  }

  /** The decimal number that begins at a place, or -1 if there is none. */
  static long number(byte[] text, int from, int length) {
    long number = -1;
    for (int i = from; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
      number = Math.max(0, number) * 10 + (text[i] - '0');
    }
    return number;
  }
}
