// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Chooses algorithms, from what all ranks know: number of ranks, bytes where the counts are the
 * same everywhere, whether the operation commutes. A property {@code talaria.mpj.coll.NAME} forces
 * one, or several, each from a number of bytes on: {@code binomial,65536:chain}.
 */
public final class Choice {
  private static final Map<String, List<String>> ALGORITHMS = new TreeMap<>();

  static {
    ALGORITHMS.put("barrier", List.of("dissemination", "binomial"));
    ALGORITHMS.put("bcast", List.of("binomial", "flat", "chain", "scatter-ring"));
    ALGORITHMS.put("gather", List.of("flat", "binomial"));
    ALGORITHMS.put("gatherv", List.of("flat", "ordered"));
    ALGORITHMS.put("scatter", List.of("flat", "binomial"));
    ALGORITHMS.put("scatterv", List.of("flat", "ordered"));
    ALGORITHMS.put("allgather", List.of("ring", "bruck", "gather-bcast"));
    ALGORITHMS.put("allgatherv", List.of("ring", "gather-bcast"));
    ALGORITHMS.put("alltoall", List.of("flat", "pairwise"));
    ALGORITHMS.put("alltoallv", List.of("flat", "pairwise"));
    ALGORITHMS.put("reduce", List.of("binomial", "flat"));
    ALGORITHMS.put("allreduce", List.of("recursive-doubling", "reduce-bcast", "ring"));
    ALGORITHMS.put("reduce-scatter", List.of("reduce-scatterv", "pairwise"));
    ALGORITHMS.put("scan", List.of("linear", "recursive-doubling"));
    ALGORITHMS.put("exscan", List.of("linear", "recursive-doubling"));
  }

  /** Those whose bytes all ranks know. */
  private static final Set<String> BY_BYTES =
      Set.of("bcast", "gather", "scatter", "allgather", "alltoall", "allreduce");

  /**
   * An algorithm.
   *
   * @param bytes from how many on
   * @param algorithm its name
   */
  private record Step(long bytes, String algorithm) {}

  /** What was forced for a collective of a team. */
  static final class Forced {
    private final String text;

    /** Null if the text says nothing that there is. */
    private final List<Step> steps;

    private Forced(String text, List<Step> steps) {
      this.text = text;
      this.steps = steps;
    }

    /** Reads it; what is wrong is said when the collective is called. */
    static Forced of(String name, String text) {
      boolean right = ALGORITHMS.containsKey(name) && isAllowed(name, text);
      return new Forced(text, right ? steps(text) : null);
    }
  }

  private Choice() {}

  /** The names of all collectives and their algorithms. */
  public static Map<String, List<String>> algorithms() {
    return ALGORITHMS;
  }

  /**
   * Checks what was forced.
   *
   * @param forced algorithms by collective
   * @throws IllegalArgumentException naming what is unknown, and what there is
   */
  public static void check(Map<String, String> forced) {
    forced.forEach(
        (name, algorithm) -> {
          List<String> known = ALGORITHMS.get(name);
          if (known == null || !isAllowed(name, algorithm)) {
            throw new IllegalArgumentException(
                "talaria.mpj.coll."
                    + name
                    + "="
                    + algorithm
                    + ": "
                    + (known == null
                        ? "there are " + ALGORITHMS.keySet()
                        : "allowed is one of "
                            + known
                            + (BY_BYTES.contains(name)
                                ? ", or several, as in " + known.get(0) + ",65536:" + known.get(1)
                                : "")));
          }
        });
  }

  /** Whether what was forced names algorithms, each from more bytes on than the one before. */
  private static boolean isAllowed(String name, String forced) {
    long least = -1;
    try {
      for (Step step : steps(forced)) {
        if (step.bytes <= least || !ALGORITHMS.get(name).contains(step.algorithm)) {
          return false;
        }
        least = step.bytes;
      }
    } catch (NumberFormatException e) {
      return false;
    }
    return least == 0 || BY_BYTES.contains(name);
  }

  private static List<Step> steps(String forced) {
    List<Step> steps = new ArrayList<>();
    for (String part : forced.split(",", -1)) {
      int colon = part.indexOf(':');
      // Only the first one has no number.
      long bytes = steps.isEmpty() == colon < 0 ? 0 : -1;
      if (bytes == 0 && colon >= 0) {
        bytes = Long.parseLong(part.substring(0, colon));
      }
      steps.add(new Step(bytes, part.substring(colon + 1)));
    }
    return steps;
  }

  private static String forcedOr(Team team, String name, String chosen) {
    return forcedOr(team, name, 0, chosen);
  }

  private static String forcedOr(Team team, String name, long bytes, String chosen) {
    Forced forced = team.forced(name);
    if (forced == null) {
      return chosen;
    }
    List<Step> steps = forced.steps;
    if (steps == null) {
      throw new CommunicationException(
          Kind.ARGUMENT,
          "no algorithm " + forced.text + " of " + name + "; there are " + ALGORITHMS.get(name));
    }
    int last = steps.size() - 1;
    while (last > 0 && bytes < steps.get(last).bytes) {
      last--;
    }
    return steps.get(last).algorithm;
  }

  static String barrier(Team team) {
    return forcedOr(team, "barrier", "dissemination");
  }

  static String bcast(Team team, long bytes) {
    String chosen = "binomial";
    if (team.size() > 2 && bytes >= 262144) {
      // A rank that waits for its core stops a chain or ring, and of a flat one nobody else.
      chosen = team.sharesCores() ? "flat" : team.size() > 4 ? "scatter-ring" : "chain";
    }
    return forcedOr(team, "bcast", bytes, chosen);
  }

  static String gather(Team team, long bytes) {
    return forcedOr(team, "gather", bytes, team.size() > 8 && bytes < 2048 ? "binomial" : "flat");
  }

  static String scatter(Team team, long bytes) {
    return forcedOr(team, "scatter", bytes, team.size() > 8 && bytes < 2048 ? "binomial" : "flat");
  }

  static String allgather(Team team, long bytes) {
    // Of two ranks each sends one message by both, and a ring copies less.
    boolean ring = bytes >= 4096 || team.size() == 2;
    return forcedOr(team, "allgather", bytes, ring ? "ring" : "bruck");
  }

  static String alltoall(Team team, long bytes) {
    return forcedOr(team, "alltoall", bytes, bytes < 32768 ? "flat" : "pairwise");
  }

  static String plain(Team team, String name) {
    return forcedOr(team, name, ALGORITHMS.get(name).get(0));
  }

  static String reduce(Team team) {
    return forcedOr(team, "reduce", "binomial");
  }

  static String allreduce(Team team, long bytes, int count, boolean commutative) {
    boolean ring = commutative && bytes >= 65536 && count >= team.size();
    String chosen = forcedOr(team, "allreduce", bytes, ring ? "ring" : "recursive-doubling");
    // A ring sums up in another order at each place: not for what does not commute.
    return chosen.equals("ring") && !commutative ? "recursive-doubling" : chosen;
  }

  static String reduceScatter(Team team, boolean commutative) {
    String chosen = forcedOr(team, "reduce-scatter", commutative ? "pairwise" : "reduce-scatterv");
    return commutative ? chosen : "reduce-scatterv";
  }
}
