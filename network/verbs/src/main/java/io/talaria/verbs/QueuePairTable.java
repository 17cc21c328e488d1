// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

/**
 * Queue pairs by their number. Looked up for each completion, by any thread and without a lock: the
 * table is replaced as a whole when one comes or goes.
 */
final class QueuePairTable {
  private static final int MULTIPLIER = 0x9e3779b9;

  /** A power of two, at most half full, open addressing. Published as a whole. */
  private volatile QueuePair[] slots = new QueuePair[4];

  private int count;

  /** The queue pair of a number, or null. */
  QueuePair find(int number) {
    QueuePair[] table = slots;
    int mask = table.length - 1;
    for (int at = start(number, mask); ; at = (at + 1) & mask) {
      QueuePair found = table[at];
      if (found == null || found.number() == number) {
        return found;
      }
    }
  }

  private static int start(int number, int mask) {
    return ((number * MULTIPLIER) >>> 7) & mask;
  }

  synchronized void add(QueuePair queuePair) {
    count++;
    rebuild(queuePair, null);
  }

  synchronized void remove(QueuePair queuePair) {
    if (find(queuePair.number()) == queuePair) {
      count--;
      rebuild(null, queuePair);
    }
  }

  private void rebuild(QueuePair more, QueuePair less) {
    int size = 4;
    while (size < 2 * count + 2) {
      size *= 2;
    }
    QueuePair[] table = new QueuePair[size];
    for (QueuePair each : slots) {
      if (each != null && each != less && (more == null || each.number() != more.number())) {
        put(table, each);
      } else if (each != null && each != less) {
        count--;
      }
    }
    if (more != null) {
      put(table, more);
    }
    slots = table;
  }

  private static void put(QueuePair[] table, QueuePair queuePair) {
    int mask = table.length - 1;
    int at = start(queuePair.number(), mask);
    while (table[at] != null) {
      at = (at + 1) & mask;
    }
    table[at] = queuePair;
  }
}
