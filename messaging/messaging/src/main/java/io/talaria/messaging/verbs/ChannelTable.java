// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The channels of a node. A channel has a place, and a serial number that no other channel had in
 * that place for long. Finding one neither locks nor allocates. Any thread.
 */
final class ChannelTable {
  private static final int PLACE_BITS = 16;
  private static final int MAX_PLACES = 1 << PLACE_BITS;
  private static final int PLACE_MASK = MAX_PLACES - 1;

  private final AtomicReferenceArray<VerbsChannel> places;

  /** By the numbers of their queue pairs; a copy is made for each change. */
  private volatile VerbsChannel[] byNumber = new VerbsChannel[2];

  private int generation;
  private int count;

  /**
   * Creates an empty table.
   *
   * @param most channels
   */
  ChannelTable(int most) {
    places = new AtomicReferenceArray<>(Math.min(most, MAX_PLACES));
  }

  /** How many places there are. */
  int places() {
    return places.length();
  }

  /** Chooses the serial number of a channel that will be {@link #put}. */
  synchronized int nextSerial() throws IOException {
    generation++;
    for (int i = 0; i < places.length(); i++) {
      int place = Math.floorMod(generation + i, places.length());
      if (places.get(place) == null) {
        return (generation << PLACE_BITS) | place;
      }
    }
    throw new IOException("there are " + count + " connections by verbs");
  }

  static int place(int serial) {
    return serial & PLACE_MASK;
  }

  synchronized void put(VerbsChannel channel) {
    places.set(place(channel.serial()), channel);
    count++;
    rebuild();
  }

  synchronized void remove(VerbsChannel channel) {
    if (places.compareAndSet(place(channel.serial()), channel, null)) {
      count--;
      rebuild();
    }
  }

  private void rebuild() {
    VerbsChannel[] table = new VerbsChannel[Integer.highestOneBit(4 * count + 2)];
    for (int i = 0; i < places.length(); i++) {
      VerbsChannel each = places.get(i);
      if (each != null) {
        int at = each.number() & table.length - 1;
        while (table[at] != null) {
          at = at + 1 & table.length - 1;
        }
        table[at] = each;
      }
    }
    byNumber = table;
  }

  /** The channel of a queue pair, or null. */
  VerbsChannel ofNumber(int number) {
    VerbsChannel[] table = byNumber;
    int at = number & table.length - 1;
    while (table[at] != null && table[at].number() != number) {
      at = at + 1 & table.length - 1;
    }
    return table[at];
  }

  /** The channel of a serial number, or null. */
  VerbsChannel ofSerial(int serial) {
    VerbsChannel channel = atPlace(place(serial));
    return channel != null && channel.serial() == serial ? channel : null;
  }

  /** The channel at a place, or null. */
  VerbsChannel atPlace(int place) {
    return place < places.length() ? places.get(place) : null;
  }
}
