// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.transport;

import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.Peers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The links of a transport that have ended and whose ranks still count as there, because the
 * launcher may end the whole job meanwhile. Guarded by the engine's lock.
 *
 * @param <L> a link
 */
public final class EndedLinks<L extends EndedLinks.Ended> {
  /** A link that has ended. */
  public interface Ended {
    /** The rank at its other end. */
    int peer();

    /** Why it has ended, or null. */
    String ended();
  }

  private record Entry<L>(L link, long goneNs) {}

  private final long graceNs;
  private final List<Entry<L>> entries = new ArrayList<>();

  /**
   * Creates it without links.
   *
   * @param graceNs how long after the end of a link operations with its rank fail, nanoseconds
   */
  public EndedLinks(long graceNs) {
    this.graceNs = graceNs;
  }

  /**
   * Adds a link.
   *
   * @param link that has just ended
   */
  public void add(L link) {
    entries.add(new Entry<>(link, System.nanoTime() + graceNs));
  }

  /**
   * Reports the ranks whose grace is over as gone.
   *
   * @param peers who is told
   * @param release releases a link, before its rank is reported
   */
  public void report(Peers peers, Consumer<L> release) {
    if (entries.isEmpty()) {
      return;
    }
    long now = System.nanoTime();
    for (int i = entries.size() - 1; i >= 0; i--) {
      L link = entries.get(i).link();
      if (now - entries.get(i).goneNs() >= 0) {
        entries.remove(i);
        release.accept(link);
        int peer = link.peer();
        peers.gone(peer, new RankGoneException(peer, "rank " + peer + " is gone: " + link.ended()));
      }
    }
  }
}
