// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What the user wants measured.
 *
 * @param patterns which patterns
 * @param sizes sizes of messages in bytes for ping-pong and one-way; empty for the defaults
 * @param connections how many connections the variants with several have; 1 for no such variants
 * @param idleConnections how many connections are idle
 * @param manyConnections how many connections echo in turn
 * @param scaleConnections how many connections there are beside a busy one, and itself
 */
record Plan(
    Set<Pattern> patterns,
    List<Integer> sizes,
    int connections,
    int idleConnections,
    int manyConnections,
    int scaleConnections) {
  static final int SMALL = 16;
  static final int LARGE = 65_536;

  /** Returns the scenarios, in the order they are run; none twice, though a size may be. */
  List<Scenario> scenarios() {
    List<Scenario> scenarios = new ArrayList<>();
    for (int size : sizes.isEmpty() ? List.of(SMALL) : sizes) {
      addRoundTrips(scenarios, size);
    }
    if (patterns.contains(Pattern.ONEWAY)) {
      for (int size : sizes.isEmpty() ? List.of(SMALL, LARGE) : sizes) {
        add(scenarios, Pattern.ONEWAY, WaitStrategy.BLOCKING, size, 1, Flight.TURN);
        if (connections > 1) {
          add(scenarios, Pattern.ONEWAY, WaitStrategy.BLOCKING, size, connections, Flight.TURN);
        }
      }
    }
    for (Pattern pattern : List.of(Pattern.WAKE, Pattern.COLD)) {
      for (int size : sizes.isEmpty() ? List.of(SMALL) : sizes) {
        if (patterns.contains(pattern)) {
          addOnTwoCoresAndOnOne(scenarios, pattern, size);
        }
      }
    }
    if (patterns.contains(Pattern.IDLE)) {
      add(scenarios, Pattern.IDLE, WaitStrategy.SELECT, SMALL, idleConnections, Flight.TURN);
    }
    if (patterns.contains(Pattern.MANY)) {
      add(scenarios, Pattern.MANY, WaitStrategy.SELECT, SMALL, manyConnections, Flight.TURN);
    }
    if (patterns.contains(Pattern.ALLOC)) {
      for (WaitStrategy waiting : WaitStrategy.values()) {
        add(scenarios, Pattern.ALLOC, waiting, SMALL, 1, Flight.TURN);
      }
    }
    if (patterns.contains(Pattern.SCALE)) {
      add(scenarios, Pattern.SCALE, WaitStrategy.SELECT, SMALL, scaleConnections, Flight.TURN);
    }
    return scenarios.stream().distinct().toList();
  }

  private void addRoundTrips(List<Scenario> scenarios, int size) {
    if (patterns.contains(Pattern.BLOCKING)) {
      add(scenarios, Pattern.BLOCKING, WaitStrategy.BLOCKING, size, 1, Flight.TURN);
    }
    addSelecting(scenarios, Pattern.SELECT_NOW, WaitStrategy.SELECT_NOW, size);
    addSelecting(scenarios, Pattern.SELECT, WaitStrategy.SELECT, size);
  }

  private static void addOnTwoCoresAndOnOne(List<Scenario> scenarios, Pattern pattern, int size) {
    for (boolean oneCore : List.of(false, true)) {
      for (WaitStrategy waiting : List.of(WaitStrategy.BLOCKING, WaitStrategy.SELECT)) {
        scenarios.add(new Scenario(pattern, waiting, size, 1, Flight.TURN, oneCore));
      }
    }
  }

  private void addSelecting(
      List<Scenario> scenarios, Pattern pattern, WaitStrategy waiting, int size) {
    if (!patterns.contains(pattern)) {
      return;
    }
    add(scenarios, pattern, waiting, size, 1, Flight.TURN);
    if (connections > 1) {
      add(scenarios, pattern, waiting, size, connections, Flight.TURN);
      add(scenarios, pattern, waiting, size, connections, Flight.ALL);
    }
  }

  private static void add(
      List<Scenario> scenarios,
      Pattern pattern,
      WaitStrategy waiting,
      int size,
      int connections,
      Flight flight) {
    scenarios.add(new Scenario(pattern, waiting, size, connections, flight));
  }
}
