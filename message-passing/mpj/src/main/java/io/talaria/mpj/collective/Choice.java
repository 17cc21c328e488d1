// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chooses algorithms, from what all ranks know: number of ranks, bytes where the counts are the
 * same everywhere, whether the operation commutes. A property {@code talaria.mpj.coll.NAME} forces
 * one.
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
          if (known == null || !known.contains(algorithm)) {
            throw new IllegalArgumentException(
                "talaria.mpj.coll."
                    + name
                    + "="
                    + algorithm
                    + ": "
                    + (known == null
                        ? "there are " + ALGORITHMS.keySet()
                        : "allowed is one of " + known));
          }
        });
  }

  private static String forcedOr(Team team, String name, String chosen) {
    String forced = team.forced(name);
    if (forced == null) {
      return chosen;
    }
    if (!ALGORITHMS.get(name).contains(forced)) {
      throw new CommunicationException(
          Kind.ARGUMENT,
          "no algorithm " + forced + " of " + name + "; there are " + ALGORITHMS.get(name));
    }
    return forced;
  }

  static String barrier(Team team) {
    return forcedOr(team, "barrier", "dissemination");
  }

  static String bcast(Team team, long bytes) {
    String chosen = "binomial";
    if (team.size() > 2 && bytes >= 262144) {
      chosen = team.size() > 4 ? "scatter-ring" : "chain";
    }
    return forcedOr(team, "bcast", chosen);
  }

  static String gather(Team team, long bytes) {
    return forcedOr(team, "gather", team.size() > 8 && bytes < 2048 ? "binomial" : "flat");
  }

  static String scatter(Team team, long bytes) {
    return forcedOr(team, "scatter", team.size() > 8 && bytes < 2048 ? "binomial" : "flat");
  }

  static String allgather(Team team, long bytes) {
    return forcedOr(team, "allgather", bytes < 4096 ? "bruck" : "ring");
  }

  static String alltoall(Team team, long bytes) {
    return forcedOr(team, "alltoall", bytes < 32768 ? "flat" : "pairwise");
  }

  static String plain(Team team, String name) {
    return forcedOr(team, name, ALGORITHMS.get(name).get(0));
  }

  static String reduce(Team team) {
    return forcedOr(team, "reduce", "binomial");
  }

  static String allreduce(Team team, long bytes, int count, boolean commutative) {
    boolean ring = commutative && bytes >= 65536 && count >= team.size();
    String chosen = forcedOr(team, "allreduce", ring ? "ring" : "recursive-doubling");
    // A ring sums up in another order at each place: not for what does not commute.
    return chosen.equals("ring") && !commutative ? "recursive-doubling" : chosen;
  }

  static String reduceScatter(Team team, boolean commutative) {
    String chosen = forcedOr(team, "reduce-scatter", commutative ? "pairwise" : "reduce-scatterv");
    return commutative ? chosen : "reduce-scatterv";
  }
}
