// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.transport.Home;
import io.talaria.nio.transport.TransportProvider;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * The homes of one selector, at most one in each transport, opened when the first stream needs one.
 * A transport that places its streams may have its home opened by any thread, another's is opened
 * by the selecting thread, which does everything else here.
 */
final class SelectorHomes {
  private static final int EVENTS_AT_ONCE = 256;
  private static final int HINTS_AT_ONCE = 4096;
  private static final Home[] NONE = {};

  private final List<TransportProvider> transports;
  private final Predicate<Home> wired;
  private final Runnable opened;

  /** By the order of the transports; null where there is none. Replaced under this lock. */
  private volatile Home[] byTransport;

  /** Those that are open, without gaps. Replaced under this lock. */
  private volatile Home[] open = NONE;

  // Under this lock.
  private final boolean[] refused;
  private boolean closed;

  /**
   * @param transports all that there are, in order
   * @param wired has the selector sleep on what a new home is {@linkplain Home#selectable
   *     selectable} by; false if the selector is closed
   * @param opened told of a new home, so that a sleeping selector sees it
   */
  SelectorHomes(List<TransportProvider> transports, Predicate<Home> wired, Runnable opened) {
    this.transports = transports;
    this.wired = wired;
    this.opened = opened;
    byTransport = new Home[transports.size()];
    refused = new boolean[transports.size()];
  }

  /** The home in a transport, if it is open. Any thread. */
  Home ifOpen(TransportProvider transport) {
    return byTransport[transports.indexOf(transport)];
  }

  /** The home in a transport, or null if it has no more, or the selector is closed. */
  Home in(TransportProvider transport) {
    Home there = ifOpen(transport);
    return there != null ? there : open(transport);
  }

  private Home open(TransportProvider transport) {
    int index = transports.indexOf(transport);
    Home made;
    synchronized (this) {
      made = byTransport[index];
      if (made != null || closed || refused[index]) {
        return made;
      }
      made = Privileged.get(transport::openHome);
      if (made == null) {
        refused[index] = !transport.placesStreams(); // of its streams there may be many
        return null;
      }
      if (!wired.test(made)) {
        made.close();
        return null;
      }
      Home[] next = byTransport.clone();
      next[index] = made;
      byTransport = next;
      Home[] all = Arrays.copyOf(open, open.length + 1);
      all[open.length] = made;
      open = all;
    }
    opened.run();
    return made;
  }

  /** One look at all: makes progress, and hands over what is hinted at. */
  void look(Home.ReadySink hinted) {
    for (Home each : open) {
      int unusedEvents = each.progress(EVENTS_AT_ONCE);
      int unusedHints = each.drainReady(hinted, HINTS_AT_ONCE);
    }
  }

  /** Announces a sleep; false if something is ready. Then, too, {@link #disarm} must follow. */
  boolean arm() {
    for (Home each : open) {
      if (!each.arm()) {
        return false;
      }
    }
    return true;
  }

  void disarm() {
    for (Home each : open) {
      each.disarm();
    }
  }

  /** No more are opened. */
  synchronized void refuse() {
    closed = true;
  }

  void close() {
    for (Home each : open) {
      each.close();
    }
  }
}
