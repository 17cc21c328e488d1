// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The receives of one rank in one communicator in the order in which they were posted, and what
 * each of them took: is there an order of arrivals by which MPI's rules give just that?
 *
 * <p>A message that arrives is taken by the earliest receive that wants it and has none; a receive
 * takes the earliest message that it wants and nobody has. So whatever an earlier receive took that
 * would have done for a message, too, arrived before that message; and messages of one source
 * arrive as they were sent. If these demands go round in a circle, no order meets them; if they do
 * not, any order that meets them gives this outcome when all receives are there before it begins.
 */
final class Receives {
  private final List<Receive> posted = new ArrayList<>();

  /** A message: its sender, and its number among those of that sender to this rank. */
  record Sent(int source, int number) {}

  /** A receive. */
  static final class Receive {
    private final int source;
    private final int tag;
    private Sent took;
    private int tookTag;

    private Receive(int source, int tag) {
      this.source = source;
      this.tag = tag;
    }

    void took(Sent message, int messageTag) {
      took = message;
      tookTag = messageTag;
    }

    private boolean wants(Sent message, int messageTag) {
      return (source == MPI.ANY_SOURCE || source == message.source)
          && (tag == MPI.ANY_TAG || tag == messageTag);
    }

    @Override
    public String toString() {
      String what = "(" + source + ", " + tag + ")";
      return took == null ? what : what + " took " + took + " with tag " + tookTag;
    }
  }

  /** Adds one that comes behind all others. */
  Receive post(int source, int tag) {
    Receive receive = new Receive(source, tag);
    posted.add(receive);
    return receive;
  }

  /** Forgets one that was cancelled while messages were still to come: it demands nothing. */
  void forget(Receive receive) {
    posted.remove(receive);
  }

  /**
   * Judges.
   *
   * @param sent how many messages each source has sent; all of them were received
   * @return why the outcome cannot be; null if it can
   */
  String objection(int[] sent) {
    Set<Sent> all = new HashSet<>();
    for (Receive receive : posted) {
      if (receive.took != null && !all.add(receive.took)) {
        return receive.took + " was received twice: " + posted;
      }
      if (receive.took != null && !receive.wants(receive.took, receive.tookTag)) {
        return "a receive has taken what it did not want: " + receive;
      }
    }
    Map<Sent, Set<Sent>> after = new HashMap<>();
    for (int source = 0; source < sent.length; source++) {
      for (int number = 0; number < sent[source]; number++) {
        if (!all.remove(new Sent(source, number))) {
          return new Sent(source, number) + " was not received: " + posted;
        }
        if (number > 0) {
          demand(after, new Sent(source, number - 1), new Sent(source, number));
        }
      }
    }
    if (!all.isEmpty()) {
      return "nobody has sent " + all + ": " + posted;
    }
    for (int later = 0; later < posted.size(); later++) {
      Receive receive = posted.get(later);
      for (int i = 0; i < later && receive.took != null; i++) {
        Receive earlier = posted.get(i);
        if (earlier.wants(receive.took, receive.tookTag)) {
          if (earlier.took == null) {
            return earlier + " was posted first, but " + receive;
          }
          demand(after, earlier.took, receive.took);
        }
      }
    }
    return circular(after) ? "no order of arrivals gives this: " + posted : null;
  }

  private static void demand(Map<Sent, Set<Sent>> after, Sent first, Sent second) {
    after.computeIfAbsent(first, key -> new HashSet<>()).add(second);
  }

  /** Takes away what nothing must come before, again and again. */
  private static boolean circular(Map<Sent, Set<Sent>> after) {
    Map<Sent, Integer> before = new HashMap<>();
    Set<Sent> all = new HashSet<>(after.keySet());
    after.values().forEach(all::addAll);
    after.values().forEach(set -> set.forEach(one -> before.merge(one, 1, Integer::sum)));
    ArrayDeque<Sent> free = new ArrayDeque<>();
    all.stream().filter(one -> !before.containsKey(one)).forEach(free::add);
    int taken = 0;
    for (Sent one = free.poll(); one != null; one = free.poll()) {
      taken++;
      for (Sent next : after.getOrDefault(one, Set.of())) {
        if (before.merge(next, -1, Integer::sum) == 0) {
          free.add(next);
        }
      }
    }
    return taken < all.size();
  }
}
