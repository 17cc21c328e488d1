// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.bell.BellAddress;
import io.talaria.nio.bell.PeerBell;
import io.talaria.nio.bell.PeerProcess;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.Log;
import io.talaria.nio.fabric.Peer;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The bells of one peer process's homes and threads, as far as they could be opened here, and which
 * of our own it has been told of. Negotiation thread, except what is marked.
 *
 * <p>A sleep is rung by the bell that its home was told with, and by no other: the upper half of
 * the sleep's number says which home of that index it is. Without a bell of that home the control
 * connection serves.
 */
final class ShmBells {
  private final Peer session;
  private final String region;

  /** Null until it is asked for: the session does not know the peer's process at first. */
  private PeerProcess process;

  /** By home of the peer's. Written by the negotiation thread. */
  private final AtomicReferenceArray<HomeBell> byHome =
      new AtomicReferenceArray<>(PeerLayout.HOMES);

  /** By number of the peer's bell for threads. Written by the negotiation thread. */
  private final AtomicReferenceArray<PeerBell> ofThreads =
      new AtomicReferenceArray<>(PeerLayout.THREAD_BELLS);

  /** Open bells: one may serve several homes, one after the other. */
  private final Map<BellAddress, Shared> open = new HashMap<>();

  /** By home of ours, the last that the peer has been told of. Any thread. */
  private final Map<Integer, Integer> told = new ConcurrentHashMap<>();

  /** Bells of our threads, by number, of which the peer has been told. Any thread. */
  private final Set<Integer> toldOfThreads = ConcurrentHashMap.newKeySet();

  private boolean refused;
  private volatile boolean closed;

  /** What rings one home of the peer's. */
  private static final class HomeBell {
    final int opened;
    final PeerBell bell;

    HomeBell(int opened, PeerBell bell) {
      this.opened = opened;
      this.bell = bell;
    }
  }

  /** An open bell and how many homes and numbers name it. */
  private static final class Shared {
    final PeerBell bell;
    int names;

    Shared(PeerBell bell) {
      this.bell = bell;
    }
  }

  /**
   * @param region the name that the file of the region had
   */
  ShmBells(Peer session, String region) {
    this.session = session;
    this.region = region;
  }

  // ---- any thread

  /** Whether the peer does not know the bell of a home of ours yet; it is told then. */
  boolean toBeTold(int home, int opened) {
    Integer before = told.put(home, opened);
    return before == null || before != opened;
  }

  /**
   * Rings a home of the peer's. Does not block.
   *
   * @param sleep the number of its sleep
   * @return false if no bell of that home is known, or it cannot be rung
   */
  boolean ring(int home, long sleep) {
    HomeBell known = byHome.getAcquire(home);
    return known != null && known.opened == ShmHome.opened(sleep) && known.bell.ring();
  }

  /** Whether the session has ended: nobody rings any more. */
  boolean closed() {
    return closed;
  }

  /** Whether the peer does not know a bell of our threads yet; it is told then. */
  boolean threadToBeTold(int bell) {
    return toldOfThreads.add(bell);
  }

  /**
   * Rings a bell of the peer's threads. Does not block.
   *
   * @param bell its number, or whatever the peer has written
   * @return false if it is not known, or cannot be rung
   */
  boolean ringThread(int bell) {
    PeerBell known = bell < PeerLayout.THREAD_BELLS ? ofThreads.getAcquire(bell) : null;
    return known != null && known.ring();
  }

  // ---- the negotiation thread

  /** The peer has told the bell of one of its homes. */
  void told(int home, int opened, BellAddress address) throws FabricException {
    if (home < 0 || home >= PeerLayout.HOMES || address.descriptor() < 0) {
      throw new FabricException(
          Reason.PROTOCOL,
          "the peer sent a bell of home " + home + ", descriptor " + address.descriptor());
    }
    HomeBell before = byHome.get(home);
    PeerBell bell = open(address);
    if (bell != null) {
      byHome.setRelease(home, new HomeBell(opened, bell));
      if (before != null) {
        leave(before.bell);
      }
    }
  }

  /**
   * The peer has told a bell of its threads. It is open as long as the session.
   *
   * @return whether it can be rung
   */
  boolean toldOfThread(int bell, BellAddress address) throws FabricException {
    if (bell < 0 || bell >= PeerLayout.THREAD_BELLS || address.descriptor() < 0) {
      throw new FabricException(
          Reason.PROTOCOL,
          "the peer sent bell " + bell + " of its threads, descriptor " + address.descriptor());
    }
    PeerBell known = ofThreads.get(bell);
    if (known == null) {
      known = open(address);
      ofThreads.setRelease(bell, known);
    } else if (!known.address().equals(address)) {
      throw new FabricException(
          Reason.PROTOCOL, "the peer sent bell " + bell + " of its threads a second time");
    }
    return known != null;
  }

  /** A bell that one more home, or number, names; null if it cannot be opened. */
  private PeerBell open(BellAddress address) {
    if (closed || refused) {
      return null;
    }
    Shared shared = open.get(address);
    if (shared == null) {
      try {
        if (process == null) {
          process = new PeerProcess(session.pid(), region);
        }
        shared = new Shared(process.open(address));
      } catch (IOException e) {
        refused = true; // not tried again in this session
        Log.debug("process " + session.pid() + " is rung over TCP: " + e.getMessage());
        return null;
      }
      open.put(address, shared);
    }
    shared.names++;
    return shared.bell;
  }

  private void leave(PeerBell bell) {
    Shared shared = open.get(bell.address());
    if (--shared.names == 0) {
      open.remove(bell.address());
      bell.close();
    }
  }

  /** The session has ended. */
  void close() {
    closed = true;
    for (Shared each : open.values()) {
      each.bell.close();
    }
    open.clear();
  }
}
