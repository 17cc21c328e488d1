// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.collective.Choice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Reductions whose operands and results are computed in the program's own buffers: what is not the
 * result stays as it was, wherever the buffers are.
 */
@Timeout(120)
class ReductionBuffersTest {
  private static final int BEFORE = 3;
  private static final int AFTER = 5;

  /** So many that an Allreduce goes around in a ring, and scratch arrays are kept. */
  private static final int MANY = 20_000;

  private static final int UNTOUCHED = -77;

  /** Which reductions, by their algorithms. */
  private static final Map<String, List<String>> ALGORITHMS =
      Map.of(
          "reduce", Choice.algorithms().get("reduce"),
          "allreduce", Choice.algorithms().get("allreduce"),
          "reduce-scatter", Choice.algorithms().get("reduce-scatter"));

  private static int operand(int rank, int i) {
    return (rank + 1) * 31 + i * 7;
  }

  private static int sum(int ranks, int i) {
    return IntStream.range(0, ranks).map(rank -> operand(rank, i)).sum();
  }

  private static void fill(int[] array, int at, int rank, int count) {
    for (int i = 0; i < count; i++) {
      array[at + i] = operand(rank, i);
    }
  }

  private static void call(
      String collective, Intracomm w, Object send, int from, Object recv, int to, int[] counts) {
    int count = Arrays.stream(counts).sum();
    switch (collective) {
      case "reduce" -> w.Reduce(send, from, recv, to, count, MPI.INT, MPI.SUM, w.Size() - 1);
      case "allreduce" -> w.Allreduce(send, from, recv, to, count, MPI.INT, MPI.SUM);
      default -> w.Reduce_scatter(send, from, recv, to, counts, MPI.INT, MPI.SUM);
    }
  }

  /** Which of the results are this rank's: the first, and how many. */
  private static int[] results(String collective, Intracomm w, int[] counts) {
    int count = Arrays.stream(counts).sum();
    return switch (collective) {
      case "reduce" -> new int[] {0, w.Rank() == w.Size() - 1 ? count : 0};
      case "allreduce" -> new int[] {0, count};
      default -> new int[] {Arrays.stream(counts, 0, w.Rank()).sum(), counts[w.Rank()]};
    };
  }

  private static int[] expected(
      String collective, Intracomm w, int[] counts, int[] before, int to) {
    int[] expected = before.clone();
    int[] results = results(collective, w, counts);
    for (int i = 0; i < results[1]; i++) {
      expected[to + i] = sum(w.Size(), results[0] + i);
    }
    return expected;
  }

  private static int[] counts(int ranks, int count) {
    return IntStream.range(0, ranks)
        .map(i -> count / ranks + (i == 0 ? count % ranks : 0))
        .toArray();
  }

  private static int[] untouched(int length) {
    int[] array = new int[length];
    Arrays.fill(array, UNTOUCHED);
    return array;
  }

  private static void apart(String collective, Intracomm w, int count) {
    int[] counts = counts(w.Size(), count);
    int[] send = untouched(BEFORE + count + AFTER);
    fill(send, BEFORE, w.Rank(), count);
    int[] sent = send.clone();
    int[] recv = untouched(AFTER + count + BEFORE);
    int[] expected = expected(collective, w, counts, recv, AFTER);
    call(collective, w, send, BEFORE, recv, AFTER, counts);
    assertThat(recv).isEqualTo(expected);
    assertThat(send).isEqualTo(sent);
  }

  private static void oneArray(String collective, Intracomm w, int count, int from, int to) {
    int[] counts = counts(w.Size(), count);
    int[] array = untouched(2 * count + AFTER);
    fill(array, from, w.Rank(), count);
    int[] expected = expected(collective, w, counts, array, to);
    call(collective, w, array, from, array, to, counts);
    assertThat(array).isEqualTo(expected);
  }

  private static void inPlace(String collective, Intracomm w, int count) {
    int[] counts = counts(w.Size(), count);
    int[] array = untouched(BEFORE + count + AFTER);
    fill(array, BEFORE, w.Rank(), count);
    int[] expected = expected(collective, w, counts, array, BEFORE);
    boolean root = !collective.equals("reduce") || w.Rank() == w.Size() - 1;
    int[] sent = array.clone();
    call(collective, w, root ? MPI.IN_PLACE : array, BEFORE, array, BEFORE, counts);
    // Of what is in place, only the results are defined: a Reduce_scatter may use all of it.
    int mine = results(collective, w, counts)[1];
    int[] got = Arrays.copyOfRange(array, 0, BEFORE + mine);
    assertThat(got).isEqualTo(Arrays.copyOf(expected, BEFORE + mine));
    if (!root) {
      assertThat(array).isEqualTo(sent);
    }
  }

  private static void segments(String collective, Intracomm w, int count) {
    int[] counts = counts(w.Size(), count);
    try (Arena arena = Arena.ofConfined()) {
      int[] operands = new int[count];
      fill(operands, 0, w.Rank(), count);
      MemorySegment send = arena.allocateFrom(ValueLayout.JAVA_INT, operands);
      int[] recv = untouched(count + AFTER);
      int[] expected = expected(collective, w, counts, recv, 0);
      // Some ranks have segments, others arrays.
      if (w.Rank() % 2 == 0) {
        MemorySegment got = arena.allocateFrom(ValueLayout.JAVA_INT, recv);
        call(collective, w, send, 0, got, 0, counts);
        recv = got.toArray(ValueLayout.JAVA_INT);
      } else {
        call(collective, w, operands, 0, recv, 0, counts);
      }
      assertThat(recv).isEqualTo(expected);
      assertThat(send.toArray(ValueLayout.JAVA_INT)).isEqualTo(operands);
    }
  }

  @TestFactory
  Stream<DynamicTest> everyAlgorithm() {
    return ALGORITHMS.entrySet().stream()
        .flatMap(e -> e.getValue().stream().map(algorithm -> test(e.getKey(), algorithm)));
  }

  private static DynamicTest test(String collective, String algorithm) {
    return DynamicTest.dynamicTest(
        collective + " by " + algorithm,
        () -> {
          for (int ranks : new int[] {1, 2, 3, 4, 6}) {
            Variant.threads()
                .spinNs(0)
                .run(
                    ranks,
                    w -> {
                      w.force(collective, algorithm);
                      buffers(collective, w);
                    });
          }
        });
  }

  private static void buffers(String collective, Intracomm w) {
    for (int count : new int[] {0, 1, 13, MANY}) {
      apart(collective, w, count);
      oneArray(collective, w, count, 0, count + AFTER);
      oneArray(collective, w, count, count + AFTER, 0);
      inPlace(collective, w, count);
      segments(collective, w, count);
    }
  }

  @Test
  void theOrderOfOperandsIsKeptWhereItMatters() {
    // NaN and zeros of both signs: these two operations do not give the same in another order.
    Variant.threads()
        .run(
            4,
            w -> {
              double[][] values = {{0.0, 3}, {-0.0, 2}, {Double.NaN, 1}, {-0.0, 0}};
              for (Op op : new Op[] {MPI.MINLOC, MPI.MAXLOC}) {
                double[] got = new double[2];
                w.Allreduce(values[w.Rank()], 0, got, 0, 1, MPI.DOUBLE2, op);
                double[] all = new double[8];
                w.Allgather(got, 0, 2, MPI.DOUBLE, all, 0, 2, MPI.DOUBLE);
                for (int i = 0; i < 4; i++) {
                  assertThat(Arrays.copyOfRange(all, 2 * i, 2 * i + 2)).isEqualTo(got);
                }
              }
            });
  }

  @Test
  void twoAtOnceDoNotShareScratchArrays() {
    Variant.threads()
        .run(
            2,
            w -> {
              Intracomm other = (Intracomm) w.clone();
              int[][] sums = new int[2][MANY];
              for (int i = 0; i < 20; i++) {
                fill(sums[0], 0, w.Rank(), MANY);
                fill(sums[1], 0, w.Rank(), MANY);
                Request background =
                    other.Iallreduce(MPI.IN_PLACE, 0, sums[1], 0, MANY, MPI.INT, MPI.SUM);
                w.Allreduce(MPI.IN_PLACE, 0, sums[0], 0, MANY, MPI.INT, MPI.SUM);
                Status ignored = background.Wait();
                assertThat(sums[0]).isEqualTo(sums[1]);
                assertThat(sums[0][MANY - 1]).isEqualTo(sum(2, MANY - 1));
              }
              other.Free();
            });
  }
}
