// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import io.talaria.nio.privileged.Privileged;
import java.io.FileInputStream;
import java.io.IOException;

/**
 * What Linux tells in /proc and /sys. Reading takes some microseconds and is not ended by an
 * interrupt, so a program's thread may do it now and then. No file is kept open.
 */
final class ProcCores implements Cores {
  private static final String ONLINE = "/sys/devices/system/cpu/online";
  private static final String LOAD = "/proc/loadavg";
  private static final String RUN_TIMES = "/proc/thread-self/schedstat";

  /** The others are shorter; the list of a host with gaps among its cores may be cut. */
  private static final int MAX_BYTES = 128;

  /** Fields of loadavg before the one with the threads that run. */
  private static final int AVERAGES = 3;

  @Override
  public int available() {
    return Runtime.getRuntime().availableProcessors();
  }

  @Override
  public int online() {
    byte[] text = new byte[MAX_BYTES];
    return counted(text, read(ONLINE, text));
  }

  /** How many numbers a list such as {@code 0-3,8} has; {@link #UNKNOWN} if it is none. */
  static int counted(byte[] list, int length) {
    long counted = 0;
    for (int at = 0; at < length; at++) {
      long first = number(list, at, length);
      at = digitsEnd(list, at, length);
      long last = first;
      if (at < length && list[at] == '-') {
        last = number(list, at + 1, length);
        at = digitsEnd(list, at + 1, length);
      }
      if (first < 0 || last < first) {
        return UNKNOWN;
      }
      counted += last - first + 1;
    }
    return counted == 0 ? UNKNOWN : (int) counted;
  }

  @Override
  public int running() {
    byte[] text = new byte[MAX_BYTES];
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
    byte[] text = new byte[MAX_BYTES];
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
    try {
      return Privileged.call(() -> readOnce(file, text));
    } catch (IOException | SecurityException e) {
      return 0;
    }
  }

  private static int readOnce(String file, byte[] text) throws IOException {
    try (FileInputStream in = new FileInputStream(file)) {
      return Math.max(0, in.read(text));
    }
  }

  /** The decimal number that begins at a place, or -1 if there is none. */
  static long number(byte[] text, int from, int length) {
    long number = -1;
    int end = digitsEnd(text, from, length);
    for (int i = from; i < end; i++) {
      number = Math.max(0, number) * 10 + (text[i] - '0');
    }
    return number;
  }

  private static int digitsEnd(byte[] text, int from, int length) {
    int end = from;
    while (end < length && text[end] >= '0' && text[end] <= '9') {
      end++;
    }
    return end;
  }
}
