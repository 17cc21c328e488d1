// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.device.ring.RingDevice;
import io.talaria.mpj.device.ring.ThreadHub;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What of an algorithm's property is allowed, and which algorithm it selects. */
class ChoiceTest {
  private static Team team(String name, String forced) {
    return team(false, 3, Map.of(name, forced));
  }

  private static Team team(boolean sharedCores, int ranks, Map<String, String> forced) {
    ThreadHub hub = new ThreadHub(ranks);
    RingDevice device = new RingDevice(hub.area(), 0, ranks, 65536, 16384, 1 << 20);
    Engine engine = new Engine(device, Waiting.ASLEEP, sharedCores);
    return new Team(engine, 0, IntStream.range(0, ranks).toArray(), 0, forced);
  }

  @Test
  void ranksThatShareCoresDoNotWaitInChainsForLongBroadcasts() {
    for (int ranks : new int[] {3, 4, 5, 16}) {
      Team shared = team(true, ranks, Map.of());
      Team own = team(false, ranks, Map.of());
      assertThat(Choice.bcast(shared, 262144)).isEqualTo("flat");
      assertThat(Choice.bcast(shared, 262143)).isEqualTo("binomial");
      assertThat(Choice.bcast(own, 262144)).isEqualTo(ranks > 4 ? "scatter-ring" : "chain");
    }
    assertThat(Choice.bcast(team(true, 4, Map.of("bcast", "chain")), 1 << 20)).isEqualTo("chain");
  }

  @Test
  void anAlgorithmIsSelectedFromItsBytesOn() {
    Team bcast = team("bcast", "flat,1000:binomial,65536:chain");
    assertThat(Choice.bcast(bcast, 0)).isEqualTo("flat");
    assertThat(Choice.bcast(bcast, 999)).isEqualTo("flat");
    assertThat(Choice.bcast(bcast, 1000)).isEqualTo("binomial");
    assertThat(Choice.bcast(bcast, 65535)).isEqualTo("binomial");
    assertThat(Choice.bcast(bcast, 1L << 40)).isEqualTo("chain");
    assertThat(Choice.allgather(bcast, 8)).as("the table's").isEqualTo("bruck");
    Team allreduce = team("allreduce", "reduce-bcast,4096:ring");
    assertThat(Choice.allreduce(allreduce, 8, 1, true)).isEqualTo("reduce-bcast");
    assertThat(Choice.allreduce(allreduce, 4096, 1000, true)).isEqualTo("ring");
    assertThat(Choice.allreduce(allreduce, 4096, 1000, false)).isEqualTo("recursive-doubling");
    assertThat(Choice.barrier(team("barrier", "binomial"))).isEqualTo("binomial");
  }

  @Test
  void whatSelectsNothingIsRefused() {
    assertThatCode(() -> Choice.check(Map.of("bcast", "flat", "gather", "flat,5:binomial")))
        .doesNotThrowAnyException();
    for (String bad :
        new String[] {
          "",
          "magic",
          "flat,chain",
          "5:flat",
          "flat,0:chain",
          "flat,9:chain,9:flat",
          "flat,x:chain",
          "flat,-5:chain",
          "flat,10:magic",
          "flat,"
        }) {
      assertThatThrownBy(() -> Choice.check(Map.of("bcast", bad)))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "talaria.mpj.coll.bcast="
                  + bad
                  + ": allowed is one of [binomial, flat, chain, scatter-ring], or several, as in"
                  + " binomial,65536:flat");
      assertThatThrownBy(() -> Choice.bcast(team("bcast", bad), 0))
          .hasMessageStartingWith("no algorithm " + bad + " of bcast; there are [binomial");
    }
    // Ranks need not have the same bytes in these.
    assertThatThrownBy(() -> Choice.check(Map.of("gatherv", "flat,5:ordered")))
        .hasMessage("talaria.mpj.coll.gatherv=flat,5:ordered: allowed is one of [flat, ordered]");
    assertThatThrownBy(() -> Choice.check(Map.of("bcat", "flat")))
        .hasMessageStartingWith("talaria.mpj.coll.bcat=flat: there are [");
  }
}
