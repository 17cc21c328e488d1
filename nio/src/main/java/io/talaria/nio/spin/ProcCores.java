// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import java.io.IOException;
import java.io.RandomAccessFile;

/**
 * What Linux tells in /proc. Reading takes some microseconds and is not ended by an interrupt, so a
 * program's thread may do it now and then.
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
    try (RandomAccessFile file = new RandomAccessFile(LOAD, "r")) {
      int length = file.read(text);
      int at = 0;
      for (int fields = 0; at < length && fields < AVERAGES; at++) {
        if (text[at] == ' ') {
          fields++;
        }
      }
      long running = number(text, at, length);
      return running <= 0 ? UNKNOWN : (int) running;
    } catch (IOException | RuntimeException e) {
      return UNKNOWN;
    }
  }

  @Override
  public RunTimes runTimes() {
    try {
      FileRunTimes times = new FileRunTimes(new RandomAccessFile(RUN_TIMES, "r"));
      return times.read() ? times : null;
    } catch (IOException | RuntimeException e) {
      return null; // no descriptor left, or a kernel that does not count
    }
  }

  /** A file that is kept open; the JDK closes it when this is collected. */
  private static final class FileRunTimes implements RunTimes {
    private final RandomAccessFile file;
    private final byte[] text = new byte[MOST_BYTES];
    private long ranNs;
    private long waitedNs;

    FileRunTimes(RandomAccessFile file) {
      this.file = file;
    }

    @Override
    public boolean read() {
      try {
        file.seek(0);
        int length = file.read(text);
        int second = 0;
        while (second < length && text[second] != ' ') {
          second++;
        }
        ranNs = number(text, 0, length);
        waitedNs = number(text, second + 1, length);
        return ranNs > 0 && waitedNs >= 0; // a kernel that does not count says 0
      } catch (IOException e) {
        return false;
      }
    }

    @Override
    public long ranNs() {
      return ranNs;
    }

    @Override
    public long waitedNs() {
      return waitedNs;
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
