// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import io.talaria.mpj.device.Device;

/** Posted receives and early arrivals of one context. */
final class ContextQueues {
  final OperationQueue[] posted;
  final OperationQueue postedAnySource = new OperationQueue();
  private final Arrival[] firstOfSource;
  private final Arrival[] lastOfSource;
  private Arrival first;
  private Arrival last;

  /** How many arrivals stand here. */
  int arrivals;

  /** The ranks that a receive from any rank waits for; null for all. */
  private int[] members;

  ContextQueues(int size) {
    posted = new OperationQueue[size];
    firstOfSource = new Arrival[size];
    lastOfSource = new Arrival[size];
  }

  void members(int[] ranks) {
    members = ranks.clone();
  }

  /** Whether a receive from any rank waits for a rank. */
  boolean waitsFor(int rank) {
    if (members == null) {
      return true;
    }
    for (int each : members) {
      if (each == rank) {
        return true;
      }
    }
    return false;
  }

  OperationQueue posted(int source) {
    if (source == Device.ANY_SOURCE) {
      return postedAnySource;
    }
    OperationQueue queue = posted[source];
    if (queue == null) {
      queue = new OperationQueue();
      posted[source] = queue;
    }
    return queue;
  }

  /** Whether receives wait here, or senders for what becomes of their messages. */
  boolean isAwaited() {
    if (!postedAnySource.isEmpty()) {
      return true;
    }
    for (OperationQueue queue : posted) {
      if (queue != null && !queue.isEmpty()) {
        return true;
      }
    }
    for (Arrival a = first; a != null; a = a.nextOfAll) {
      if (a.id >= 0 || (a.local != null && !a.local.done)) {
        return true;
      }
    }
    return false;
  }

  void add(Arrival a) {
    arrivals++;
    a.previousOfAll = last;
    if (last == null) {
      first = a;
    } else {
      last.nextOfAll = a;
    }
    last = a;
    Arrival lastThere = lastOfSource[a.source];
    a.previousOfSource = lastThere;
    if (lastThere == null) {
      firstOfSource[a.source] = a;
    } else {
      lastThere.nextOfSource = a;
    }
    lastOfSource[a.source] = a;
  }

  void remove(Arrival a) {
    arrivals--;
    if (a.previousOfAll == null) {
      first = a.nextOfAll;
    } else {
      a.previousOfAll.nextOfAll = a.nextOfAll;
    }
    if (a.nextOfAll == null) {
      last = a.previousOfAll;
    } else {
      a.nextOfAll.previousOfAll = a.previousOfAll;
    }
    if (a.previousOfSource == null) {
      firstOfSource[a.source] = a.nextOfSource;
    } else {
      a.previousOfSource.nextOfSource = a.nextOfSource;
    }
    if (a.nextOfSource == null) {
      lastOfSource[a.source] = a.previousOfSource;
    } else {
      a.nextOfSource.previousOfSource = a.previousOfSource;
    }
    a.nextOfAll = null;
    a.previousOfAll = null;
    a.nextOfSource = null;
    a.previousOfSource = null;
  }

  /** Drops the messages of another rank whose data are still there. */
  void dropAnnounced(int source) {
    Arrival next;
    for (Arrival a = firstOfSource[source]; a != null; a = next) {
      next = a.nextOfSource;
      if (a.data == null) {
        remove(a);
      }
    }
  }

  /** Whether the arrival still stands here. */
  boolean holds(Arrival wanted) {
    return first == wanted || wanted.previousOfAll != null;
  }

  Arrival first() {
    return first;
  }

  /** The earliest arrival that fits, or null. */
  Arrival find(int source, int tag) {
    if (source == Device.ANY_SOURCE) {
      for (Arrival a = first; a != null; a = a.nextOfAll) {
        if (tag == a.tag || tag < 0) {
          return a;
        }
      }
      return null;
    }
    for (Arrival a = firstOfSource[source]; a != null; a = a.nextOfSource) {
      if (tag == a.tag || tag < 0) {
        return a;
      }
    }
    return null;
  }

  Arrival findById(int source, long id) {
    for (Arrival a = firstOfSource[source]; a != null; a = a.nextOfSource) {
      if (a.id == id) {
        return a;
      }
    }
    return null;
  }
}
