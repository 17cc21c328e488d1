// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.monitor.PortId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whose turn it is, by a clock of our own. */
@Timeout(60)
class QueryPlanTest {
  private static final long SECOND = 1_000_000_000L;

  private static PortId port(int number) {
    return new PortId("node", number, "0000000000000001");
  }

  private static List<PortId> ports(int count) {
    return IntStream.rangeClosed(1, count).mapToObj(QueryPlanTest::port).toList();
  }

  /** Runs a plan for some seconds, ports up to a number being silent, and counts the queries. */
  private static Map<PortId, Integer> run(QueryPlan plan, int seconds, int silent) {
    Map<PortId, Integer> queried = new HashMap<>();
    long nowNs = 0;
    while (nowNs < seconds * SECOND) {
      PortId next = plan.next(nowNs);
      if (next == null) {
        nowNs += Math.max(1, plan.waitNs(nowNs));
        continue;
      }
      queried.merge(next, 1, Integer::sum);
      if (next.number() <= silent) {
        nowNs += SECOND / 10; // it is waited for
        plan.silent(next, nowNs);
      } else {
        plan.responded(next, nowNs);
      }
    }
    return queried;
  }

  @Test
  void everyPortIsQueriedOnceInAnInterval() {
    QueryPlan plan = new QueryPlan(200, SECOND, 0);
    plan.ports(ports(10), 0);
    assertThat(run(plan, 10, 0).values()).hasSize(10).allMatch(times -> times >= 9 && times <= 11);
  }

  @Test
  void thereAreNoMoreMessagesASecondThanAllowed() {
    QueryPlan plan = new QueryPlan(200, SECOND, 0);
    plan.ports(ports(5000), 0);
    int queried = run(plan, 10, 0).values().stream().mapToInt(Integer::intValue).sum();
    assertThat(queried * 2).isBetween(1900, 2010);
  }

  @Test
  void silentPortsAreQueriedWithGrowingPausesAndTheOthersNotLess() {
    QueryPlan plan = new QueryPlan(200, SECOND, 0);
    plan.ports(ports(10), 0);
    Map<PortId, Integer> queried = run(plan, 60, 3);
    assertThat(queried.get(port(1))).isBetween(3, 8);
    assertThat(queried.get(port(9))).isGreaterThan(50);
  }

  @Test
  void aSilentPortIsNotQueriedMoreOftenThanTheOthers() {
    QueryPlan plan = new QueryPlan(200, 3600 * SECOND, 0);
    plan.ports(ports(2), 0);
    assertThat(run(plan, 3000, 1)).isEqualTo(Map.of(port(1), 1, port(2), 1));
  }

  @Test
  void aNewIntervalCountsAtOnce() {
    QueryPlan plan = new QueryPlan(200, 10 * SECOND, 0);
    plan.ports(ports(1), 0);
    plan.every(20 * SECOND);
    assertThat(plan.next(0)).isEqualTo(port(1));
    plan.responded(port(1), 0);
    plan.every(SECOND / 5);
    assertThat(plan.waitNs(0)).isEqualTo(SECOND / 5);
    plan.silent(port(1), 0);
    plan.every(10 * SECOND);
    assertThat(plan.waitNs(0)).isEqualTo(20 * SECOND);
  }

  @Test
  void whatIsShownNoMoreIsNotQueried() {
    QueryPlan plan = new QueryPlan(200, SECOND, 0);
    plan.ports(ports(3), 0);
    plan.ports(List.of(port(2)), 0);
    assertThat(run(plan, 3, 0)).containsOnlyKeys(port(2));
    plan.ports(List.of(), 0);
    assertThat(plan.waitNs(0)).isEqualTo(Long.MAX_VALUE);
    assertThat(plan.next(0)).isNull();
  }
}
