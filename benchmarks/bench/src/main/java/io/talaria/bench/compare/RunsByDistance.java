// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import io.talaria.bench.harness.Implementation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What the implementations have found in one iteration, by the distance between the cores: virtual
 * processors move while an iteration lasts, and figures can be compared only at one distance.
 */
final class RunsByDistance {
  /** Distances that differ by less are the same: between near and far there is a factor of five. */
  private static final double SAME = 2;

  /** What is measured at the distance of the first run. */
  private record Group(double ns, Map<Implementation, Comparison> runs) {}

  private final List<Implementation> implementations;
  private final List<Group> groups = new ArrayList<>();
  private final Map<Implementation, Comparison> latest = new HashMap<>();
  private Group complete;

  RunsByDistance(List<Implementation> implementations) {
    this.implementations = implementations;
  }

  /**
   * Returns the first implementation that has no run at a distance; if as many runs are left as
   * there are implementations without any run, the first of these, so that each has figures.
   *
   * @param distance the distance now
   * @param left how many runs are left, the next one included
   */
  Implementation next(OptionalDouble distance, int left) {
    List<Implementation> without =
        implementations.stream().filter(one -> !latest.containsKey(one)).toList();
    if (without.size() >= left) {
      return without.get(0);
    }
    Group group = group(distance.orElse(0));
    return implementations.stream()
        .filter(one -> !group.runs.containsKey(one))
        .findFirst()
        .orElseThrow();
  }

  /** Adds a run; it counts for the distance before it, if it is the same after it. */
  void add(
      Implementation implementation,
      Comparison found,
      OptionalDouble before,
      OptionalDouble after) {
    latest.put(implementation, found);
    if (same(before.orElse(0), after.orElse(0))) {
      Group group = group(before.orElse(0));
      group.runs.put(implementation, found);
      if (group.runs.size() == implementations.size()) {
        complete = group;
      }
    }
  }

  /** Returns whether there is a run of each implementation at one distance. */
  boolean complete() {
    return complete != null;
  }

  /** Returns the runs at the distance at which all have one; if there is none, the latest ones. */
  Collection<Comparison> chosen() {
    Map<Implementation, Comparison> runs = complete == null ? latest : complete.runs;
    return implementations.stream().filter(runs::containsKey).map(runs::get).toList();
  }

  /** Returns the distance of the chosen runs in nanoseconds; nothing if there is not one. */
  OptionalDouble distance() {
    return complete == null || complete.ns == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(complete.ns);
  }

  private Group group(double ns) {
    for (Group group : groups) {
      if (same(group.ns, ns)) {
        return group;
      }
    }
    Group group = new Group(ns, new LinkedHashMap<>());
    groups.add(group);
    return group;
  }

  private static boolean same(double one, double other) {
    return Math.max(one, other) <= SAME * Math.min(one, other);
  }
}
