// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.talaria.bench.plan.SocketTransport;
import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {
  @Test
  void theDeviationIsThatOfASample() {
    Statistics statistics = Statistics.of(List.of(2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0));
    assertThat(statistics.mean()).isEqualTo(5);
    assertThat(statistics.deviation()).isCloseTo(Math.sqrt(32.0 / 7), within(1e-12));
    assertThat(statistics.count()).isEqualTo(8);
  }

  @Test
  void oneValueDoesNotDeviate() {
    assertThat(Statistics.of(List.of(3.0))).isEqualTo(new Statistics(3, 0, 1));
  }

  @Test
  void noValuesHaveNoMean() {
    assertThatIllegalArgumentException().isThrownBy(() -> Statistics.of(List.of()));
  }

  @Test
  void repetitionsOfACaseAreGrouped() {
    List<Group> groups =
        Group.of(
            List.of(
                new Results(
                    "one",
                    List.of(),
                    List.of(
                        Rows.throughput(SocketTransport.TCP, 16, 1, 1),
                        Rows.throughput(SocketTransport.SHM, 16, 1, 1),
                        Rows.throughput(SocketTransport.TCP, 16, 1, 2)),
                    List.of())));
    assertThat(groups).hasSize(2);
    assertThat(groups.getFirst().rows()).hasSize(2);
    assertThat(groups.getFirst().statistics(row -> (double) row.messages()).mean())
        .isEqualTo(1_015);
  }

  @Test
  void theTimesOfAGroupAreThoseOfAllRepetitions() {
    Row row = Rows.roundTrips(SocketTransport.TCP, 16, 1, 0);
    Group group = new Group(row.implementation().label(), row.measured(), List.of(row, row));
    assertThat(group.times().getTotalCount()).isEqualTo(2_000);
    assertThat(row.times().getTotalCount()).isEqualTo(1_000);
  }
}
