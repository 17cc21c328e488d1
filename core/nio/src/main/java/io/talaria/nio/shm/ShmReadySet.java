// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.doorbell.Doorbell;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.memory.SleepWord;
import io.talaria.nio.transport.ReadySet;
import java.lang.invoke.VarHandle;
import java.nio.channels.SelectableChannel;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A selector's place in shared memory: which ready bits concern it, and its sleep words, one per
 * peer process.
 */
final class ShmReadySet implements ReadySet {
  /** What stands above is a flag: {@link PeerLayout#SUMMARIZED}. */
  private static final int MAX_OPENED = (1 << 30) - 1;

  private final ShmTransport transport;
  private final int index;
  private volatile Link[] links = {};

  /** Whether the next look must be at all ready bits: there may be some without a summary. */
  private final AtomicBoolean lookAtAll = new AtomicBoolean();

  /** Closed, but still named by a stream: its number goes when that is gone. Under this lock. */
  private boolean closed;

  /** The last sleep's number: in the lower half of its word, and never 0, which is awake. */
  private int sleeps;

  /**
   * In the upper half of each sleep's word: tells this ready set from others of its number. Peers
   * remember what they have rung, so no ready set may repeat another's.
   */
  private final int opened;

  private final DoorbellPool doorbells;

  /** Null if there is none, or none any more: then the control connections serve. */
  private volatile Doorbell doorbell;

  /**
   * @param opened how many ready sets of the transport were opened before
   * @param doorbells lend the doorbell on which the selector sleeps
   */
  ShmReadySet(ShmTransport transport, int index, long opened, DoorbellPool doorbells) {
    this.transport = transport;
    this.index = index;
    this.opened = (int) opened & MAX_OPENED;
    this.doorbells = doorbells;
    doorbell = doorbells.lease();
  }

  /** For tests. */
  void lastSleep(int last) {
    sleeps = last;
  }

  /** Of the number of the ready set of a sleep. */
  static int opened(long sleep) {
    return (int) (sleep >>> Integer.SIZE) & MAX_OPENED;
  }

  int index() {
    return index;
  }

  /** The slots of one peer that live here: replaced as a whole when it changes. */
  private static final class Link {
    final ShmPeer peer;
    final long[] mask;
    final boolean summarized;

    void setSleepWordRelease(int readySet, long sleep) {
      peer.setSleepWordRelease(readySet, sleep, summarized);
    }

    Link(ShmPeer peer, long[] mask, boolean summarized) {
      this.peer = peer;
      this.mask = mask;
      this.summarized = summarized;
    }
  }

  private Link link(ShmPeer peer, long[] mask) {
    boolean many = mask.length >= transport.summarizedFrom && index < PeerLayout.SUMMARIES;
    return new Link(peer, mask, many);
  }

  synchronized void add(ShmPeer peer, int slot) {
    Doorbell own = doorbell;
    if (own != null) {
      peer.tellDoorbell(index, opened, own.address());
    }
    int at = find(peer);
    Link[] next = links.clone();
    if (at < 0) {
      at = next.length;
      next = Arrays.copyOf(next, at + 1);
      next[at] = link(peer, new long[0]);
    }
    int word = slot >>> 6;
    long[] mask = next[at].mask;
    mask = Arrays.copyOf(mask, Math.max(mask.length, word + 1));
    mask[word] |= 1L << slot;
    next[at] = link(peer, mask);
    links = next;
  }

  /** The peer has been told of a new stream here; what it hinted before, it did elsewhere. */
  void added() {
    VarHandle.fullFence();
    lookAtAll.set(true);
  }

  void remove(ShmPeer peer, int slot) {
    if (removedLast(peer, slot)) {
      transport.closed(this);
    }
  }

  /** Whether the ready set is closed and nothing names it any more. */
  private synchronized boolean removedLast(ShmPeer peer, int slot) {
    int at = find(peer);
    if (at < 0) {
      return false;
    }
    long[] mask = links[at].mask.clone();
    mask[slot >>> 6] &= ~(1L << slot);
    Link[] next = links.clone();
    next[at] = link(peer, trimmed(mask));
    if (next[at].mask.length == 0) {
      next[at] = next[next.length - 1];
      next = Arrays.copyOf(next, next.length - 1);
    }
    links = next;
    return closed && next.length == 0;
  }

  /** A look costs as much as the mask is long, so it ends with its last bit. */
  private static long[] trimmed(long[] mask) {
    int length = mask.length;
    while (length > 0 && mask[length - 1] == 0) {
      length--;
    }
    return length == mask.length ? mask : Arrays.copyOf(mask, length);
  }

  private int find(ShmPeer peer) {
    Link[] now = links;
    for (int i = 0; i < now.length; i++) {
      if (now[i].peer == peer) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public int progress(int budget) {
    return 0;
  }

  @Override
  public int drainReady(ReadySink sink, int max) {
    boolean all = lookAtAll.get() && lookAtAll.getAndSet(false);
    if (all) {
      disarm(); // and says who wants summaries
      SleepWord.publishBeforeLook();
    }
    int drained = 0;
    for (Link link : links) {
      int most = max - drained;
      drained +=
          link.summarized && !all
              ? link.peer.drainSummarized(index, link.mask, sink, most)
              : link.peer.drainAll(link.mask, sink, most);
      if (drained >= max) {
        if (all) {
          lookAtAll.set(true);
        }
        break;
      }
    }
    return drained;
  }

  @Override
  public boolean arm() {
    Link[] now = links;
    sleeps = sleeps == -1 ? 1 : sleeps + 1;
    long word = (long) opened << Integer.SIZE | Integer.toUnsignedLong(sleeps);
    for (Link link : now) {
      link.setSleepWordRelease(index, word);
    }
    SleepWord.publishBeforeLook();
    for (Link link : now) {
      if (link.peer.anyReadyOpaque(link.mask)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void disarm() {
    for (Link link : links) {
      link.setSleepWordRelease(index, 0);
    }
  }

  @Override
  public SelectableChannel selectable() {
    Doorbell own = doorbell;
    return own == null ? null : own.selectable();
  }

  @Override
  public void selected() {
    Doorbell own = doorbell;
    if (own != null) {
      own.drain();
    }
  }

  @Override
  public void close() {
    Doorbell own = doorbell;
    if (own != null) {
      doorbell = null;
      doorbells.giveBack(own); // a peer that still rings it wakes its next owner for nothing
    }
    synchronized (this) {
      closed = true;
      if (links.length > 0) {
        return; // a hint to a new ready set of this number would wake the wrong selector
      }
    }
    transport.closed(this);
  }
}
