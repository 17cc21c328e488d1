// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.doorbell.DoorbellAddress;
import io.talaria.nio.doorbell.PeerDoorbell;
import io.talaria.nio.doorbell.PeerProcess;
import io.talaria.nio.transport.Log;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The doorbells of one peer process's ready sets and threads, as far as they could be opened here,
 * and which of our own were announced to it. Negotiation thread, except what is marked.
 *
 * <p>A sleep is rung by the doorbell that its ready set was announced with, and by no other: the
 * upper half of the sleep's number says which ready set of that index it is. Without a doorbell of
 * that ready set the control connection serves.
 */
final class ShmDoorbells {
  private final Peer session;
  private final String region;

  /** Null until it is asked for: the session does not know the peer's process at first. */
  private PeerProcess process;

  /** By ready set of the peer's. Written by the negotiation thread. */
  private final AtomicReferenceArray<ReadySetDoorbell> byReadySet =
      new AtomicReferenceArray<>(PeerLayout.READY_SETS);

  /** By number of the peer's doorbell for threads. Written by the negotiation thread. */
  private final AtomicReferenceArray<PeerDoorbell> ofThreads =
      new AtomicReferenceArray<>(PeerLayout.THREAD_DOORBELLS);

  /** Open doorbells: one may serve several ready sets, one after the other. */
  private final Map<DoorbellAddress, Shared> open = new HashMap<>();

  /** By ready set of ours, the last that was announced to the peer. Any thread. */
  private final Map<Integer, Integer> announced = new ConcurrentHashMap<>();

  /** Doorbells of our threads, by number, that were announced to the peer. Any thread. */
  private final Set<Integer> announcedOfThreads = ConcurrentHashMap.newKeySet();

  private boolean refused;
  private volatile boolean closed;

  /** What rings one ready set of the peer's. */
  private static final class ReadySetDoorbell {
    final int opened;
    final PeerDoorbell doorbell;

    ReadySetDoorbell(int opened, PeerDoorbell doorbell) {
      this.opened = opened;
      this.doorbell = doorbell;
    }
  }

  /** An open doorbell and how many ready sets and numbers name it. */
  private static final class Shared {
    final PeerDoorbell doorbell;
    int names;

    Shared(PeerDoorbell doorbell) {
      this.doorbell = doorbell;
    }
  }

  /**
   * @param region the name that the file of the region had
   */
  ShmDoorbells(Peer session, String region) {
    this.session = session;
    this.region = region;
  }

  // ---- any thread

  /**
   * Records that the doorbell of a ready set of this process is announced to the peer.
   *
   * @return whether it was not announced before
   */
  boolean markAnnounced(int readySet, int opened) {
    Integer before = announced.put(readySet, opened);
    return before == null || before != opened;
  }

  /**
   * Rings a ready set of the peer's. Does not block.
   *
   * @param sleep the number of its sleep
   * @return false if no doorbell of that ready set is known, or it cannot be rung
   */
  boolean ring(int readySet, long sleep) {
    ReadySetDoorbell known = byReadySet.getAcquire(readySet);
    return known != null && known.opened == ShmReadySet.opened(sleep) && known.doorbell.ring();
  }

  /** Whether the session has ended: no thread rings any more. */
  boolean closed() {
    return closed;
  }

  /** Records the same of a doorbell of a thread; returns whether it was not announced before. */
  boolean markThreadAnnounced(int doorbell) {
    return announcedOfThreads.add(doorbell);
  }

  /**
   * Rings a doorbell of the peer's threads. Does not block.
   *
   * @param doorbell its number, or whatever the peer has written
   * @return false if it is not known, or cannot be rung
   */
  boolean ringThread(int doorbell) {
    PeerDoorbell known =
        doorbell < PeerLayout.THREAD_DOORBELLS ? ofThreads.getAcquire(doorbell) : null;
    return known != null && known.ring();
  }

  // ---- the negotiation thread

  /** The peer has announced the doorbell of one of its ready sets. */
  void readySetAnnounced(int readySet, int opened, DoorbellAddress address)
      throws TransportException {
    if (readySet < 0 || readySet >= PeerLayout.READY_SETS || address.descriptor() < 0) {
      throw new TransportException(
          Reason.PROTOCOL,
          "the peer sent a doorbell of ready set "
              + readySet
              + ", descriptor "
              + address.descriptor());
    }
    ReadySetDoorbell before = byReadySet.get(readySet);
    PeerDoorbell doorbell = open(address);
    if (doorbell != null) {
      byReadySet.setRelease(readySet, new ReadySetDoorbell(opened, doorbell));
      if (before != null) {
        leave(before.doorbell);
      }
    }
  }

  /**
   * The peer has announced a doorbell of its threads. It is open as long as the session.
   *
   * @return whether it can be rung
   */
  boolean threadAnnounced(int doorbell, DoorbellAddress address) throws TransportException {
    if (doorbell < 0 || doorbell >= PeerLayout.THREAD_DOORBELLS || address.descriptor() < 0) {
      throw new TransportException(
          Reason.PROTOCOL,
          "the peer sent doorbell "
              + doorbell
              + " of its threads, descriptor "
              + address.descriptor());
    }
    PeerDoorbell known = ofThreads.get(doorbell);
    if (known == null) {
      known = open(address);
      ofThreads.setRelease(doorbell, known);
    } else if (!known.address().equals(address)) {
      throw new TransportException(
          Reason.PROTOCOL, "the peer sent doorbell " + doorbell + " of its threads a second time");
    }
    return known != null;
  }

  /** A doorbell that one more ready set, or number, names; null if it cannot be opened. */
  private PeerDoorbell open(DoorbellAddress address) {
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
    return shared.doorbell;
  }

  private void leave(PeerDoorbell doorbell) {
    Shared shared = open.get(doorbell.address());
    if (--shared.names == 0) {
      open.remove(doorbell.address());
      doorbell.close();
    }
  }

  /** The session has ended. */
  void close() {
    closed = true;
    for (Shared each : open.values()) {
      each.doorbell.close();
    }
    open.clear();
  }
}
