// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.transport;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.privileged.Privileged;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * The ready sets of one selector, at most one in each transport, opened when the first stream needs
 * one. A transport that places its streams may have its ready set opened by any thread, another's
 * is opened by the selecting thread, which does everything else here.
 */
public final class SelectorReadySets {
  private static final int EVENTS_AT_ONCE = 256;
  private static final int HINTS_AT_ONCE = 4096;
  private static final ReadySet[] NONE = {};

  private final List<TransportProvider> transports;
  private final Predicate<ReadySet> wired;
  private final Runnable opened;

  /** By the order of the transports; null where there is none. Replaced under this lock. */
  private volatile ReadySet[] byTransport;

  /** Those that are open, without gaps. Replaced under this lock. */
  private volatile ReadySet[] open = NONE;

  // Under this lock.
  private final boolean[] refused;
  private boolean closed;

  /**
   * @param transports all that there are, in order
   * @param wired has the selector sleep on what a new ready set is {@linkplain ReadySet#selectable
   *     selectable} by; false if the selector is closed
   * @param opened told of a new ready set, so that a sleeping selector sees it
   */
  public SelectorReadySets(
      List<TransportProvider> transports, Predicate<ReadySet> wired, Runnable opened) {
    this.transports = transports;
    this.wired = wired;
    this.opened = opened;
    byTransport = new ReadySet[transports.size()];
    refused = new boolean[transports.size()];
  }

  /** The ready set in a transport, if it is open. Any thread. */
  public ReadySet ifOpen(TransportProvider transport) {
    return byTransport[transports.indexOf(transport)];
  }

  /** The ready set in a transport, or null if it has no more, or the selector is closed. */
  public ReadySet in(TransportProvider transport) {
    ReadySet there = ifOpen(transport);
    return there != null ? there : open(transport);
  }

  private ReadySet open(TransportProvider transport) {
    int index = transports.indexOf(transport);
    ReadySet made;
    synchronized (this) {
      made = byTransport[index];
      if (made != null || closed || refused[index]) {
        return made;
      }
      made = Privileged.get(transport::openReadySet);
      if (made == null) {
        refused[index] = !transport.placesStreams(); // of its streams there may be many
        return null;
      }
      if (!wired.test(made)) {
        made.close();
        return null;
      }
      ReadySet[] next = byTransport.clone();
      next[index] = made;
      byTransport = next;
      ReadySet[] all = Arrays.copyOf(open, open.length + 1);
      all[open.length] = made;
      open = all;
    }
    opened.run();
    return made;
  }

  /** One look at all: makes progress, and hands over what is hinted at. */
  @NotInlined
  public void look(ReadySet.ReadySink hinted) {
    for (ReadySet each : open) {
      each.progress(EVENTS_AT_ONCE);
      each.drainReady(hinted, HINTS_AT_ONCE);
    }
  }

  /** Announces a sleep; false if something is ready. Then, too, {@link #disarm} must follow. */
  public boolean arm() {
    for (ReadySet each : open) {
      if (!each.arm()) {
        return false;
      }
    }
    return true;
  }

  /** Disarms all, after {@link #arm}. */
  public void disarm() {
    for (ReadySet each : open) {
      each.disarm();
    }
  }

  /** No more are opened. */
  public synchronized void refuse() {
    closed = true;
  }

  /** Closes all that are open. */
  public void close() {
    for (ReadySet each : open) {
      each.close();
    }
  }
}
