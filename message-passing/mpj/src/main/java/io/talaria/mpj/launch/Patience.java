// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

/**
 * How long to wait for the end of a job whose output somebody reads: time in which that reader is
 * slow counts apart, since a pager may be left open for hours.
 */
final class Patience {
  /** How long to wait between two looks. */
  static final long LOOK_MS = 10;

  private long leftNs;
  private long leftForReaderNs;
  private long last = System.nanoTime();

  /**
   * Begins.
   *
   * @param ns for all but the reader of the output
   * @param forReaderNs for that reader; {@link Long#MAX_VALUE} is no limit
   */
  Patience(long ns, long forReaderNs) {
    leftNs = ns;
    leftForReaderNs = forReaderNs;
  }

  /**
   * Whether to wait on; called at each look.
   *
   * @param passing whether output was being passed on since the last look
   */
  boolean lasts(boolean passing) {
    long now = System.nanoTime();
    if (passing) {
      leftForReaderNs -= now - last;
    } else {
      leftNs -= now - last;
    }
    last = now;
    return passing ? leftForReaderNs > 0 : leftNs > 0;
  }
}
