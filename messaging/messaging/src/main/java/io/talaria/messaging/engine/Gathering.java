// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.transport.RingPair;

/**
 * Lets messages gather while they come one way at a high rate. A poller that takes each one as soon
 * as it is written reads the cache line that the sender writes next, and slows it down to a half or
 * a fifth. So once it has caught up, turn after turn, it waits a few microseconds, and then takes a
 * hundred at once.
 *
 * <p>It does not wait if this node has sent anything meanwhile, because then its peer may wait for
 * a response, nor if a turn found nothing, because then the rate is low. Poller only.
 */
final class Gathering {
  /** Twice in a row, or it was by chance. */
  private static final int TURNS = 2;

  /** A turn that takes more is not at the sender's heels. */
  private static final int FEW = 16;

  private static final long WAIT_NS = 6_000;

  private int turns;
  private long claimed;

  /** After a turn without work. */
  void idle() {
    turns = 0;
  }

  /** After a turn with work; may wait. */
  void turned(Connection[] connections) {
    int records = 0;
    for (Connection each : connections) {
      records += each.receiver().taken();
    }
    if (records == 0 || records > FEW) {
      turns = 0;
    } else if (++turns >= TURNS && !hasSent(connections)) {
      long begin = System.nanoTime();
      do {
        Thread.onSpinWait();
      } while (System.nanoTime() - begin < WAIT_NS);
    }
  }

  /** Whether this node has sent anything since this was last asked. */
  private boolean hasSent(Connection[] connections) {
    long now = 0;
    for (Connection each : connections) {
      now += each.link().out(RingPair.DATA).claimed() + each.link().out(RingPair.CONTROL).claimed();
    }
    boolean sent = now != claimed;
    claimed = now;
    return sent;
  }
}
