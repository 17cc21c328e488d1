// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The launcher's side of a job whose ranks continue after others have ended. The launcher sees each
 * end, and what it says to a rank arrives in that order; so its word settles who has ended and what
 * the others have agreed on. The lines are in {@link RankFailures}.
 */
final class Survivors {
  /** Sends a line to a rank. */
  interface Link {
    /** Sends, or does nothing if the rank has ended. */
    void tell(int rank, String line);
  }

  /** An agreement that ranks are still missed in. */
  private static final class Round {
    private final String key;
    private final int[] members;
    private final Set<Integer> came = new HashSet<>();
    private long[] values;

    Round(String key, int[] members) {
      this.key = key;
      this.members = members;
    }
  }

  private final Link link;
  private final int ranks;

  // All guarded by this.
  private final Map<Integer, String> ended = new TreeMap<>();
  private final Map<String, Round> rounds = new HashMap<>();
  private final Set<String> revoked = new HashSet<>();

  Survivors(int ranks, Link link) {
    this.ranks = ranks;
    this.link = link;
  }

  /** Notes the end of a rank, and tells the others. */
  synchronized void ended(int rank, String why) {
    ended.put(rank, why);
    for (int i = 0; i < ranks; i++) {
      if (!ended.containsKey(i)) {
        link.tell(i, "ended " + rank + " " + why);
      }
    }
    for (Round round : List.copyOf(rounds.values())) {
      decide(round);
    }
  }

  /** Tells a rank that has just come who has ended before. */
  synchronized void came(int rank) {
    ended.forEach((gone, why) -> link.tell(rank, "ended " + gone + " " + why));
  }

  synchronized boolean hasEnded(int rank) {
    return ended.containsKey(rank);
  }

  synchronized int endedRanks() {
    return ended.size();
  }

  /** Takes a line of a rank's; whether it was for this. */
  synchronized boolean said(int rank, String line) {
    String[] words = line.split(" ");
    if (words[0].equals("revoke") && words.length == 3) {
      revoke(words[1], RankFailures.ints(words[2]));
    } else if (words[0].equals("agree") && words.length == 5) {
      int[] members = RankFailures.ints(words[3]);
      // Communicators without a common rank may have the same id.
      int lowest = Arrays.stream(members).min().orElse(rank);
      String key = words[1] + " " + words[2];
      Round round = rounds.computeIfAbsent(lowest + " " + key, k -> new Round(key, members));
      bring(round, rank, RankFailures.longs(words[4]));
    } else {
      return false;
    }
    return true;
  }

  private void revoke(String id, int[] members) {
    int lowest = Arrays.stream(members).min().orElse(0);
    if (revoked.add(lowest + " " + id)) {
      for (int member : members) {
        link.tell(member, "revoked " + id);
      }
    }
  }

  private void bring(Round round, int rank, long[] values) {
    if (!round.came.add(rank)) {
      return;
    }
    if (round.values == null) {
      round.values = values;
    } else {
      for (int i = 0; i < values.length && i < round.values.length; i++) {
        round.values[i] &= values[i];
      }
    }
    decide(round);
  }

  private void decide(Round round) {
    List<Integer> gone = new ArrayList<>();
    for (int member : round.members) {
      if (ended.containsKey(member)) {
        gone.add(member);
      } else if (!round.came.contains(member)) {
        return;
      }
    }
    rounds.values().remove(round);
    int[] list = gone.stream().mapToInt(Integer::intValue).toArray();
    String line =
        "agreed "
            + round.key
            + " "
            + RankFailures.words(list)
            + " "
            + RankFailures.words(round.values);
    for (int member : round.members) {
      link.tell(member, line);
    }
  }
}
