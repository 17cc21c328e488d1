// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Operation;
import java.util.Arrays;

/**
 * Brings messages and receives together by MPI's rules. Posted receives stand in a queue of their
 * source or in one for any source, numbered in the order of posting: an arrival takes, of the first
 * that fits in each, the lower number. Arrivals stand in the order of coming, linked per source
 * too.
 */
final class Matcher {
  /** {@link Operation#state} of a receive that waits here. */
  static final int POSTED = 1;

  private final int size;
  private ContextQueues[] contexts = new ContextQueues[8];
  private long posts;

  Matcher(int size) {
    this.size = size;
  }

  ContextQueues of(int context) {
    if (context >= contexts.length) {
      contexts = Arrays.copyOf(contexts, Math.max(context + 1, contexts.length * 2));
    }
    ContextQueues queues = contexts[context];
    if (queues == null) {
      queues = new ContextQueues(size);
      contexts[context] = queues;
    }
    return queues;
  }

  void post(Operation receive) {
    receive.order = posts++;
    receive.state = POSTED;
    of(receive.context).posted(receive.peer).add(receive);
  }

  /** Takes the receive that a message belongs to, or returns null. */
  Operation takePosted(int source, int context, int tag) {
    ContextQueues queues = of(context);
    OperationQueue fromSource = queues.posted[source];
    Operation a = fromSource == null ? null : fromSource.firstFor(tag);
    Operation b = queues.postedAnySource.firstFor(tag);
    if (a == null && b == null) {
      return null;
    }
    Operation taken = b == null || (a != null && a.order < b.order) ? a : b;
    (taken == a ? fromSource : queues.postedAnySource).remove(taken);
    taken.state = 0;
    return taken;
  }

  /** Takes a receive back that still waits. */
  void withdraw(Operation receive) {
    of(receive.context).posted(receive.peer).remove(receive);
    receive.state = 0;
  }

  /** Takes back one receive that waits for a rank, or for any; null if there is none. */
  Operation withdrawOneOf(int source) {
    for (ContextQueues queues : contexts) {
      if (queues == null) {
        continue;
      }
      OperationQueue named = queues.posted[source];
      Operation first = named == null ? null : named.head;
      if (first == null && queues.waitsFor(source)) {
        first = queues.postedAnySource.head;
      }
      if (first != null) {
        withdraw(first);
        return first;
      }
    }
    return null;
  }

  /** Drops the announcements of a rank that is gone: their data cannot come any more. */
  void dropAnnounced(int source) {
    for (ContextQueues queues : contexts) {
      if (queues != null) {
        queues.dropAnnounced(source);
      }
    }
  }

  /** How many messages have come that were not received. */
  int arrivals() {
    int sum = 0;
    for (ContextQueues queues : contexts) {
      sum += queues == null ? 0 : queues.arrivals;
    }
    return sum;
  }

  /** Takes back one receive that waits in a context; null if there is none. */
  Operation withdrawOneIn(int context) {
    ContextQueues queues = of(context);
    Operation first = queues.postedAnySource.head;
    for (int i = 0; i < size && first == null; i++) {
      first = queues.posted[i] == null ? null : queues.posted[i].head;
    }
    if (first != null) {
      withdraw(first);
    }
    return first;
  }

  /** Takes the early message with the sender's number, in whatever context, or returns null. */
  Arrival takeById(int source, long id) {
    for (ContextQueues queues : contexts) {
      Arrival a = queues == null ? null : queues.findById(source, id);
      if (a != null) {
        queues.remove(a);
        return a;
      }
    }
    return null;
  }

  /** Whether receives wait in a context, or senders for what becomes of their messages. */
  boolean isAwaited(int context) {
    ContextQueues queues = context < contexts.length ? contexts[context] : null;
    return queues != null && queues.isAwaited();
  }

  /** Forgets a context and returns its queues, or null if it was never used. */
  ContextQueues release(int context) {
    if (context >= contexts.length) {
      return null;
    }
    ContextQueues queues = contexts[context];
    contexts[context] = null;
    return queues;
  }
}
