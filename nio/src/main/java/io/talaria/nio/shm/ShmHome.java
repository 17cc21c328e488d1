// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.fabric.Home;
import java.lang.invoke.VarHandle;
import java.nio.channels.SelectableChannel;
import java.util.Arrays;

/**
 * A selector's place in shared memory: which ready bits concern it, and its sleep words, one per
 * peer process.
 */
final class ShmHome implements Home {
  private final ShmFabric fabric;
  private final int index;
  private volatile Link[] links = {};

  /** The last sleep's word. Peers remember what they have rung, so no home may repeat another's. */
  private long sleeps;

  ShmHome(ShmFabric fabric, int index, long opened) {
    this.fabric = fabric;
    this.index = index;
    sleeps = opened << 32;
  }

  int index() {
    return index;
  }

  /** The slots of one peer that live here: replaced as a whole when it changes. */
  private static final class Link {
    final ShmPeer peer;
    final long[] mask;

    Link(ShmPeer peer, long[] mask) {
      this.peer = peer;
      this.mask = mask;
    }

    boolean empty() {
      for (long word : mask) {
        if (word != 0) {
          return false;
        }
      }
      return true;
    }
  }

  synchronized void add(ShmPeer peer, int slot) {
    int at = find(peer);
    Link[] next = links.clone();
    if (at < 0) {
      at = next.length;
      next = Arrays.copyOf(next, at + 1);
      next[at] = new Link(peer, new long[0]);
    }
    int word = slot >>> 6;
    long[] mask = next[at].mask;
    mask = Arrays.copyOf(mask, Math.max(mask.length, word + 1));
    mask[word] |= 1L << slot;
    next[at] = new Link(peer, mask);
    links = next;
  }

  synchronized void remove(ShmPeer peer, int slot) {
    int at = find(peer);
    if (at < 0) {
      return;
    }
    long[] mask = links[at].mask.clone();
    mask[slot >>> 6] &= ~(1L << slot);
    Link[] next = links.clone();
    next[at] = new Link(peer, mask);
    if (next[at].empty()) {
      next[at] = next[next.length - 1];
      next = Arrays.copyOf(next, next.length - 1);
    }
    links = next;
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
    int drained = 0;
    for (Link link : links) {
      drained += link.peer.drainReady(link.mask, sink, max - drained);
      if (drained >= max) {
        break;
      }
    }
    return drained;
  }

  @Override
  public boolean arm() {
    Link[] now = links;
    sleeps++;
    for (Link link : now) {
      link.peer.sleepWord(index, sleeps);
    }
    VarHandle.fullFence();
    for (Link link : now) {
      if (link.peer.anyReady(link.mask)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void disarm() {
    for (Link link : links) {
      link.peer.sleepWord(index, 0);
    }
  }

  @Override
  public SelectableChannel selectable() {
    return null;
  }

  @Override
  public void wake() {
    // The selector sleeps on nothing of ours.
  }

  @Override
  public void close() {
    fabric.closed(this);
  }
}
