// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

/**
 * What two processes share beside their connections: how to tell a selector which streams are
 * ready, and whether it sleeps. Side 0 dialled the session, side 1 was dialled.
 *
 * <pre>
 *       0  +-----------------------------------------------+
 *          | MAGIC                                         |
 *    4096  +-----------------------------------------------+
 *          | side 0: ready bits (1 per slot, set by side   |
 *          |         1, cleared by side 0)          8 KiB  |
 *          |         sleep words (1 per home, written by   |
 *          |         side 0 only; 0 = awake)        8 KiB  |
 *   20480  +-----------------------------------------------+
 *          | side 1: the same                              |
 *   36864  +-----------------------------------------------+
 * </pre>
 */
final class PeerLayout {
  static final long MAGIC = 0x5441_4c50_4545_5201L; // "TALPEER", version 1

  static final int MAGIC_OFFSET = 0;
  static final int SLOTS = 65_536;
  static final int HOMES = 1024;
  static final int READY_BYTES = SLOTS / 8;
  static final int SLEEP_BYTES = HOMES * Long.BYTES;
  static final int SIDE_BYTES = READY_BYTES + SLEEP_BYTES;
  static final int BYTES = 4096 + 2 * SIDE_BYTES;

  private PeerLayout() {}

  static int ready(int side, int word) {
    return 4096 + side * SIDE_BYTES + word * Long.BYTES;
  }

  static int sleep(int side, int home) {
    return 4096 + side * SIDE_BYTES + READY_BYTES + home * Long.BYTES;
  }
}
