// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.bell;

import java.io.IOException;
import java.util.ArrayDeque;

/**
 * The bells of this process. Those that are given back are leased again; none is ever closed. Any
 * thread.
 */
public final class BellPool {
  private static final int MOST = 1280;

  /** Of the descriptors that the process may have, bells are one in so many at most, twice. */
  private static final int SHARE = 16;

  private static final BellPool OF_PROCESS =
      new BellPool((int) Math.min(MOST, OpenDescriptors.limit() / SHARE));

  private final int most;

  // Guarded by this.
  private final ArrayDeque<Bell> free = new ArrayDeque<>();
  private int made;

  BellPool(int most) {
    this.most = most;
  }

  /** The one pool of this process. */
  public static BellPool ofProcess() {
    return OF_PROCESS;
  }

  /** A bell, or null if there are too many, or the system gives none. */
  public synchronized Bell lease() {
    Bell bell = free.poll();
    if (bell == null && made < most) {
      try {
        bell = Bell.make();
        made++;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        return null; // no descriptors, or no /proc: bells come over TCP
      }
    }
    return bell;
  }

  /** How many descriptors of this process the pool holds, for those who count them. */
  public synchronized int descriptors() {
    return 2 * made;
  }

  /** Takes a bell back from its lessee, who does not touch it any more. */
  public synchronized void giveBack(Bell bell) {
    free.push(bell);
  }
}
