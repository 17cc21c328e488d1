// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.Implementation;
import io.talaria.bench.harness.Machine;
import io.talaria.bench.harness.Pinning;
import io.talaria.bench.harness.Quantity;
import io.talaria.cli.harness.HarnessException;
import io.talaria.cli.harness.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The order in which the engine measures, and what it makes of failures. */
class IterationsTest {
  private final List<String> order = new ArrayList<>();
  private final Comparison found = new Comparison(Implementation.ofSockets());
  private final StringWriter progress = new StringWriter();

  /** A case that writes down when it is measured. */
  private final class Noted implements BenchmarkCase {
    private final String label;
    private final int iterations;

    Noted(String label, int iterations) {
      this.label = label;
      this.iterations = iterations;
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
    public int iterations(int wanted) {
      return Math.min(wanted, iterations);
    }

    @Override
    public void measure(Iteration iteration) throws HarnessException {
      if (label.equals("bad")
          && iteration.implementation() == Implementation.JDK
          && iteration.number() == 1) {
        throw new HarnessException("it broke\n--- its output ---\na line");
      }
      if (label.equals("bug")) {
        throw new IllegalStateException("never so");
      }
      iteration.step(label, 1);
      order.add(label + iteration.number() + iteration.implementation());
      iteration
          .found()
          .add(label, label, Quantity.COUNT, iteration.implementation(), iteration.number());
    }
  }

  private void measure(BenchmarkCase... cases) throws HarnessException, InterruptedException {
    new Iterations(2, 0, false, new PrintWriter(progress)).measure(List.of(cases), found);
  }

  @Test
  void implementationsTakeTurnsInEachIteration() throws Exception {
    measure(new Noted("a", 9), new Noted("b", 1));

    assertThat(order)
        .containsExactly("a1JDK", "a1TALARIA", "a2JDK", "a2TALARIA", "b1JDK", "b1TALARIA");
    assertThat(found.spread("a", Implementation.JDK).median()).isEqualTo(1.5);
    assertThat(progress.toString().lines()).contains("a, Talaria, iteration 2 of 2", "b, JDK");
  }

  @Test
  void whatFailsIsMarkedWithItsCauseAndAllElseIsMeasured() throws Exception {
    measure(new Noted("a", 1), new Noted("bad", 2), new Noted("b", 1));

    assertThat(order)
        .containsExactly(
            "a1JDK", "a1TALARIA", "bad1TALARIA", "bad2JDK", "bad2TALARIA", "b1JDK", "b1TALARIA");
    assertThat(found.missing())
        .containsExactly(
            new Comparison.Missing(
                "bad", Implementation.JDK, 1, "it broke\n--- its output ---\na line"));
    assertThat(found.missingText(false))
        .isEqualTo(
            "\nMissing:\n  bad, JDK, iteration 1: it broke\n    --- its output ---\n    a line\n");
    assertThat(new Report(Machine.describe("7", Pinning.decide(false)), found).text())
        .containsPattern("bad +2\\.00, 1 failed +1\\.50 \\(1\\.00 – 2\\.00\\)")
        .containsPattern("b +1\\.00 +1\\.00");
  }

  @Test
  void aFigureBelongsToItsIterationThoughThoseBeforeHaveNone() throws Exception {
    measure(new Noted("bad", 2));

    Result result = found.result("f", Machine.describe("7", Pinning.decide(false)), Map.of());
    assertThat(Json.line(result)).contains("\"JDK\":[null,2.0]", "\"TALARIA\":[1.0,2.0]");
    assertThat(ResultFiles.csv(result).lines()).contains("bad,bad,,JDK,2,2.0");
    assertThat(found.ratios("bad", Implementation.JDK, Implementation.TALARIA))
        .as("of the medians, for they do not have the same iterations")
        .containsExactly(2 / 1.5);
  }

  @Test
  void aFaultOfABenchmarkIsNoReasonToLoseTheOthersEither() throws Exception {
    measure(new Noted("bug", 1), new Noted("a", 1));

    assertThat(found.missing()).hasSize(2);
    assertThat(found.missing().getFirst().cause())
        .startsWith("java.lang.IllegalStateException: never so\n")
        .contains("IterationsTest");
    assertThat(found.missingText(false)).doesNotContain("\tat ");
    assertThat(found.missingText(true)).contains("\tat ");
    assertThat(found.spread("a", Implementation.JDK)).isNotNull();
    assertThat(new Report(Machine.describe("7", Pinning.decide(false)), found).text())
        .containsPattern("bug +failed +failed");
  }

  /** Measures one iteration of a case, with these distances in turn and then the last for ever. */
  private void measureAtOneDistance(double... ns) throws HarnessException, InterruptedException {
    Iterator<Double> distances = Arrays.stream(ns).iterator();
    AtomicReference<Double> last = new AtomicReference<>(0.0);
    new Iterations(1, 0, true, new PrintWriter(progress))
        .measure(
            List.of(new Noted("a", 1)),
            found,
            () -> {
              if (distances.hasNext()) {
                last.set(distances.next());
              }
              return last.get() == 0 ? OptionalDouble.empty() : OptionalDouble.of(last.get());
            });
  }

  @Test
  void atOneDistanceEachIsMeasuredOnce() throws Exception {
    measureAtOneDistance(26, 30, 25);

    assertThat(order).containsExactly("a1JDK", "a1TALARIA");
    assertThat(found.values("a", Implementation.TALARIA)).containsExactly(1.0);
    assertThat(found.notes()).containsExactly("a, ns from core to core before each iteration: 26");
  }

  @Test
  void whatWasMeasuredAtAnotherDistanceIsMeasuredAgain() throws Exception {
    measureAtOneDistance(26, 27, 150, 151);

    assertThat(order)
        .as("Talaria's run began near and ended far, and the JDK's was near")
        .containsExactly("a1JDK", "a1TALARIA", "a1JDK", "a1TALARIA");
    assertThat(found.values("a", Implementation.JDK)).hasSize(1);
    assertThat(found.values("a", Implementation.TALARIA)).hasSize(1);
    assertThat(found.notes()).containsExactly("a, ns from core to core before each iteration: 150");
  }

  @Test
  void aRunCountsThoughTheDistanceWasAnotherMeanwhile() throws Exception {
    measureAtOneDistance(26, 27, 150, 26, 25);

    assertThat(order).containsExactly("a1JDK", "a1TALARIA", "a1JDK", "a1TALARIA");
    assertThat(found.notes()).containsExactly("a, ns from core to core before each iteration: 26");
  }

  @Test
  void aDistanceThatNeverRestsEndsAfterThreeRunsOfEach() throws Exception {
    measureAtOneDistance(26, 150, 26, 150, 26, 150, 26, 150);

    assertThat(order).hasSize(6);
    assertThat(found.values("a", Implementation.JDK)).hasSize(1);
    assertThat(found.notes())
        .containsExactly(
            "a, iteration 1: the distance between the cores changed too often,"
                + " the figures are of several");
  }

  @Test
  void eachHasAFigureThoughTheDistanceNeverRests() throws Exception {
    measureAtOneDistance(26, 150, 800, 26, 150, 800, 26, 150, 800);

    assertThat(order)
        .as("the JDK's first run ended at another distance each time; the last run is Talaria's")
        .containsExactly("a1JDK", "a1JDK", "a1JDK", "a1JDK", "a1JDK", "a1TALARIA");
    assertThat(found.values("a", Implementation.JDK)).hasSize(1);
    assertThat(found.values("a", Implementation.TALARIA)).hasSize(1);
  }

  @Test
  void withoutADistanceEachIsMeasuredOnceAndANoteSaysSoOnce() throws Exception {
    measureAtOneDistance(0);

    assertThat(order).containsExactly("a1JDK", "a1TALARIA");
    measureAtOneDistance(0);
    assertThat(found.notes())
        .singleElement()
        .asString()
        .startsWith("--same-distance: the distance between the cores could not be measured");
  }
}
