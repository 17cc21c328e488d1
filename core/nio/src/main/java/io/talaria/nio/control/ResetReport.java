// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

/**
 * Which call was told first of the reset of a connection, wherever it was met. TCP tells it once:
 * after a read, writes find a broken pipe and reads the reset again, as the JDK's channels do;
 * after a write, writes find a broken pipe and reads the end of the stream. Any thread.
 */
public final class ResetReport {
  private static final int NOBODY = 0;
  private static final int READER = 1;
  private static final int WRITER = 2;

  /** Leaves {@link #NOBODY} once. Changed under the monitor. */
  private volatile int reportedTo = NOBODY;

  /** A read has met it: whether it says so, else it finds the end. */
  public synchronized boolean toReader() {
    if (reportedTo == NOBODY) {
      reportedTo = READER;
    }
    return reportedTo == READER;
  }

  /** A write has met it: whether it says so, else the pipe is broken. */
  public synchronized boolean toWriter() {
    boolean first = reportedTo == NOBODY;
    if (first) {
      reportedTo = WRITER;
    }
    return first;
  }

  /** Whether a read has said so. */
  public boolean reportedToReader() {
    return reportedTo == READER;
  }
}
