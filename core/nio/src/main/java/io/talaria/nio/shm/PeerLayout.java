// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

/**
 * What two processes share beside their connections: how to tell a selector which streams are
 * ready, and whether it sleeps. Side 0 dialled the session, side 1 was dialled.
 *
 * <pre>
 *       0  +-----------------------------------------------+
 *          | MAGIC                                         |
 *    3072  +-----------------------------------------------+
 *          | doorbells of threads of side 0 that side 1 can    |
 *          |         ring (1 bit per doorbell, set by side 1)  |
 *          | REFUSED (1 = it opens no more)                |
 *    3584  +-----------------------------------------------+
 *          | doorbells of side 1: the same, by side 0          |
 *    4096  +-----------------------------------------------+
 *          | side 0: ready bits (1 per slot, set by side   |
 *          |         1, cleared by side 0)          8 KiB  |
 *          |         sleep words (1 per ready set, written by   |
 *          |         side 0 only; 0 = awake)        8 KiB  |
 *          |         summaries (of 32 ready sets)        4 KiB  |
 *   24576  +-----------------------------------------------+
 *          | side 1: the same                              |
 *   45056  +-----------------------------------------------+
 * </pre>
 *
 * <p>A summary has a bit for each word of ready bits, for one ready set: the thread that sets a
 * ready bit sets the bit of its word, too, if the ready set's sleep word has {@link #SUMMARIZED}.
 */
final class PeerLayout {
  static final long MAGIC = 0x5441_4c50_4545_5203L; // "TALPEER", version 3

  static final int MAGIC_OFFSET = 0;
  static final int SLOTS = 65_536;
  static final int READY_SETS = 1024;

  /** In a sleep word: set the bits of my summary. */
  static final long SUMMARIZED = 1L << 62;

  static final int READY_BYTES = SLOTS / 8;
  static final int SLEEP_BYTES = READY_SETS * Long.BYTES;
  static final int SUMMARIES = 32;
  static final int SUMMARY_BYTES = SLOTS / 64 / 8;
  static final int SIDE_BYTES = READY_BYTES + SLEEP_BYTES + SUMMARIES * SUMMARY_BYTES;
  static final int BYTES = 4096 + 2 * SIDE_BYTES;

  /** Doorbells of threads that a process can tell another of. */
  static final int THREAD_DOORBELLS = 256;

  static final int OPENED_OFFSET = 3072;
  static final int OPENED_BYTES = 512;

  private PeerLayout() {}

  /**
   * The word with the bit of a doorbell of a side's, which the other side sets: doorbell modulo 64.
   */
  static int opened(int side, int doorbell) {
    return OPENED_OFFSET + side * OPENED_BYTES + (doorbell >>> 6) * Long.BYTES;
  }

  /** Whether the other side opens no more doorbells of a side's. */
  static int refused(int side) {
    return opened(side, THREAD_DOORBELLS);
  }

  static int ready(int side, int word) {
    return 4096 + side * SIDE_BYTES + word * Long.BYTES;
  }

  static int sleep(int side, int readySet) {
    return 4096 + side * SIDE_BYTES + READY_BYTES + readySet * Long.BYTES;
  }

  /** The summary's word for 64 words of ready bits. */
  static int summary(int side, int readySet, int word) {
    return sleep(side, READY_SETS) + readySet * SUMMARY_BYTES + (word >>> 6) * Long.BYTES;
  }
}
