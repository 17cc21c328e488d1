// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.nio.IntBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntConsumer;

/**
 * How the poller, threads that lead, and the other side's producers share the ring receiver of
 * responses in memory: step by step what {@link Poller}, {@link Connection} and the ring do. Each
 * step is one access to a word that others read, and takes effect at once, as full fences see to
 * it.
 */
final class RingReceiverModel {
  private static final int LEADERS = 2;
  private static final int PRODUCERS = 2;

  // The words, in the order of a state.
  private static final int POLLER = 0; // at which step
  private static final int SLEEP = 1; // the poller's, odd: it sleeps
  private static final int LOCK = 2; // the ring receiver
  private static final int ARMED = 3; // the ring's sleep word
  private static final int RUNG = 4;
  private static final int DOORBELLS = 5; // not read yet
  private static final int MARKED = 6;
  private static final int TAKEN = 7;
  private static final int WOKEN = 8; // the selector
  private static final int FIRST_LEADER = 9;
  private static final int AT = 0;
  private static final int BEFORE = 1; // the poller's sleep that it has seen
  private static final int LOOK = 2; // it has found something
  private static final int ROUNDS = 3; // left
  private static final int OF_LEADER = 4;
  private static final int FIRST_PRODUCER = FIRST_LEADER + LEADERS * OF_LEADER;
  private static final int SEEN = 1; // the sleep word
  private static final int RECORDS = 2; // left
  private static final int OF_PRODUCER = 3;
  private static final int WORDS = FIRST_PRODUCER + PRODUCERS * OF_PRODUCER;

  private static final int SELECTS = 5;

  /** Whether who leaves looks whether the poller has woken while it had the ring receiver. */
  private final boolean looksAgain;

  private final Set<IntBuffer> known = new HashSet<>();
  private final Deque<int[]> open = new ArrayDeque<>();

  /** The one that a step changes. */
  private int[] state;

  private boolean lost;

  RingReceiverModel(boolean looksAgain) {
    this.looksAgain = looksAgain;
  }

  /** How many states there are. */
  int states() {
    return known.size();
  }

  /** Goes through all orders; says whether a response can lie in the ring when all of them rest. */
  boolean loses(int leaders, int rounds, int producers, int records) {
    explore(leaders, rounds, producers, records);
    return lost;
  }

  private void explore(int leaders, int rounds, int producers, int records) {
    int[] first = new int[WORDS];
    for (int i = 0; i < leaders; i++) {
      first[FIRST_LEADER + i * OF_LEADER + ROUNDS] = rounds;
    }
    for (int i = 0; i < producers; i++) {
      first[FIRST_PRODUCER + i * OF_PRODUCER + RECORDS] = records;
    }
    add(first);
    while (!open.isEmpty() && !lost) {
      int[] now = open.removeLast();
      boolean rest = now[POLLER] == SELECTS && now[DOORBELLS] == 0 && now[WOKEN] == 0;
      if (!rest) {
        step(now, 0, to -> poller(state));
      }
      for (int i = 0; i < leaders; i++) {
        int base = FIRST_LEADER + i * OF_LEADER;
        if (now[base + AT] != 0 || now[base + ROUNDS] != 0) {
          rest = false;
          step(now, base, to -> leader(state, to));
        }
      }
      for (int i = 0; i < producers; i++) {
        int base = FIRST_PRODUCER + i * OF_PRODUCER;
        if (now[base + AT] != 0 || now[base + RECORDS] != 0) {
          rest = false;
          step(now, base, to -> producer(state, to));
        }
      }
      lost = rest && now[MARKED] != now[TAKEN];
    }
  }

  private void step(int[] from, int base, IntConsumer how) {
    state = from.clone();
    how.accept(base);
    add(state);
  }

  private void add(int[] next) {
    compareOnly(next);
    if (known.add(IntBuffer.wrap(next))) {
      open.addLast(next);
    }
  }

  /** Numbers that grow are compared, no more: their order and parity is kept, and who is old. */
  private static void compareOnly(int[] s) {
    for (int i = 0; i < LEADERS; i++) {
      int base = FIRST_LEADER + i * OF_LEADER;
      boolean matters = s[base + AT] >= 5 && s[base + BEFORE] == s[SLEEP];
      s[base + BEFORE] = matters ? 2 | (s[SLEEP] & 1) : 0;
    }
    s[SLEEP] = 2 | (s[SLEEP] & 1);
    NavigableSet<Integer> older = new TreeSet<>();
    older.add(s[RUNG]);
    for (int i = 0; i < PRODUCERS; i++) {
      int base = FIRST_PRODUCER + i * OF_PRODUCER;
      if (s[base + AT] < 2) {
        s[base + SEEN] = -1;
      }
      older.add(s[base + SEEN]);
    }
    int armed = s[ARMED];
    s[ARMED] = 2 * older.headSet(armed, false).size() + (armed & 1);
    s[RUNG] = shown(older, s[RUNG], armed, s[ARMED]);
    for (int i = 0; i < PRODUCERS; i++) {
      int seen = FIRST_PRODUCER + i * OF_PRODUCER + SEEN;
      s[seen] = s[seen] < 0 ? -1 : shown(older, s[seen], armed, s[ARMED]);
    }
  }

  private static int shown(NavigableSet<Integer> older, int value, int armed, int armedShown) {
    return value == armed ? armedShown : 2 * older.headSet(value, false).size() + (value & 1);
  }

  private static boolean lock(int[] s) {
    boolean free = s[LOCK] == 0;
    s[LOCK] = 1;
    return free;
  }

  private static void arm(int[] s) {
    s[ARMED] = s[ARMED] + 1 | 1;
  }

  private static void disarm(int[] s) {
    s[ARMED] += s[ARMED] & 1;
  }

  private static void poller(int[] s) {
    int next = s[POLLER] + 1;
    switch (s[POLLER]) {
      case 0, 6 -> s[SLEEP]++;
      case 1 -> next = lock(s) ? 2 : SELECTS;
      case 2 -> arm(s);
      case 3 -> next = s[MARKED] != s[TAKEN] ? 15 : 4;
      case 4, 9 -> s[LOCK] = 0;
      case SELECTS -> s[WOKEN] = 0;
      case 7 -> next = lock(s) ? 8 : 10;
      case 8 -> disarm(s);
      case 10 -> s[DOORBELLS] = 0;
      case 11 -> next = s[MARKED] != s[TAKEN] ? 12 : 0;
      case 12 -> next = lock(s) ? 13 : 0;
      case 13 -> s[TAKEN] = s[MARKED];
      case 14 -> {
        s[LOCK] = 0;
        next = 0;
      }
      default -> { // 15: there is something, no sleep
        s[LOCK] = 0;
        next = 6;
      }
    }
    s[POLLER] = next;
  }

  private void leader(int[] s, int base) {
    int next = s[base + AT] + 1;
    switch (s[base + AT]) {
      case 0 -> {
        s[base + ROUNDS]--;
        s[base + LOOK] = 0;
        next = lock(s) ? 1 : 0; // it waits for its response, which is another's to take
      }
      case 1 -> disarm(s);
      case 2 -> s[TAKEN] = s[MARKED];
      case 3, 8 -> s[LOCK] = 0;
      case 4 -> {
        s[base + BEFORE] = s[SLEEP];
        next = Poller.sleeps(s[SLEEP]) ? 5 : 0;
      }
      case 5 -> next = lock(s) ? 6 : 10;
      case 6 -> arm(s);
      case 7 -> s[base + LOOK] |= s[MARKED] != s[TAKEN] ? 1 : 0;
      case 9 -> {
        if (looksAgain && s[SLEEP] != s[base + BEFORE]) {
          s[base + BEFORE] = s[SLEEP];
          next = Poller.sleeps(s[SLEEP]) ? 5 : 0;
        }
      }
      default -> {
        s[WOKEN] |= s[base + LOOK];
        next = 0;
      }
    }
    s[base + AT] = next;
  }

  private static void producer(int[] s, int base) {
    int next = s[base + AT] + 1;
    switch (s[base + AT]) {
      case 0 -> {
        s[base + RECORDS]--;
        s[MARKED]++;
      }
      case 1 -> {
        s[base + SEEN] = s[ARMED];
        next = (s[ARMED] & 1) != 0 ? 2 : 0;
      }
      case 2 -> {
        next = s[RUNG] != s[base + SEEN] ? 3 : 0;
        s[RUNG] = s[base + SEEN];
      }
      default -> {
        s[DOORBELLS] = 1; // one is as good as many
        next = 0;
      }
    }
    s[base + AT] = next;
  }
}
