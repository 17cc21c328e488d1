// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

/**
 * Connections by the number of their queue pair. Looked up for each message, without a lock; the
 * table is replaced as a whole when one comes or goes.
 */
final class ConnectionTable {
  private static final int MULTIPLIER = 0x9e3779b9;

  /** A power of two, at most half full, open addressing. Published as a whole. */
  private volatile Connection[] slots = new Connection[4];

  private int count;

  Connection find(int number) {
    Connection[] table = slots;
    int mask = table.length - 1;
    for (int at = start(number, mask); ; at = (at + 1) & mask) {
      Connection found = table[at];
      if (found == null || found.number == number) {
        return found;
      }
    }
  }

  private static int start(int number, int mask) {
    return ((number * MULTIPLIER) >>> 7) & mask;
  }

  /**
   * Adds a connection. A device may give the number of a queue pair again before the connection
   * that had it is removed; that one receives nothing any more, so the new one replaces it.
   */
  synchronized void add(Connection connection) {
    Connection before = find(connection.number);
    rebuild(connection, before, before == null ? count + 1 : count);
  }

  synchronized void remove(Connection connection) {
    if (find(connection.number) == connection) {
      rebuild(null, connection, count - 1);
    }
  }

  private void rebuild(Connection more, Connection less, int newCount) {
    Connection[] table = new Connection[Integer.highestOneBit(2 * newCount + 2) * 2];
    for (Connection each : slots) {
      if (each != null && each != less) {
        put(table, each);
      }
    }
    if (more != null) {
      put(table, more);
    }
    slots = table;
    count = newCount;
  }

  private static void put(Connection[] table, Connection connection) {
    int mask = table.length - 1;
    int at = start(connection.number, mask);
    while (table[at] != null) {
      at = (at + 1) & mask;
    }
    table[at] = connection;
  }
}
