// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.bench.harness.Contender;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order in which the engine measures. */
class RoundsTest {
  private final List<String> order = new ArrayList<>();
  private final Comparison found = new Comparison(Contender.ofSockets());
  private final StringWriter progress = new StringWriter();

  /** A bout that writes down when it is measured. */
  private final class Noted implements Bout {
    private final String label;
    private final int rounds;

    Noted(String label, int rounds) {
      this.label = label;
      this.rounds = rounds;
    }

    @Override
    public String label() {
      return label;
    }

    @Override
    public double expectedMs() {
      return 1;
    }

    @Override
    public int rounds(int wanted) {
      return Math.min(wanted, rounds);
    }

    @Override
    public void measure(Round round) throws HarnessException {
      if (label.equals("bad")) {
        throw new HarnessException("it broke");
      }
      round.step(label, 1);
      order.add(label + round.number() + round.contender());
      round.found().add(label, label, Quantity.COUNT, round.contender(), round.number());
    }
  }

  private void measure(Bout... bouts) throws HarnessException, InterruptedException {
    new Rounds(2, 0, new PrintWriter(progress)).measure(List.of(bouts), found);
  }

  @Test
  void contendersTakeTurnsInEachRound() throws Exception {
    measure(new Noted("a", 9), new Noted("b", 1));

    assertThat(order)
        .containsExactly("a1JDK", "a1TALARIA", "a2JDK", "a2TALARIA", "b1JDK", "b1TALARIA");
    assertThat(found.spread("a", Contender.JDK).median()).isEqualTo(1.5);
    assertThat(progress.toString().lines()).contains("a, Talaria, round 2 of 2", "b, JDK");
  }

  @Test
  void aFailureNamesWhatFailedAndOnWhichSockets() {
    assertThatThrownBy(() -> measure(new Noted("bad", 1)))
        .isInstanceOf(HarnessException.class)
        .hasMessage("bad on JDK: it broke");
  }
}
