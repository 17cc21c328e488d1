// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.collective.Choice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every collective with every algorithm, on 1 to 9 ranks, against a plain loop's answer. */
class CollectivesTest {
  private static final int[] COUNTS = {0, 1, 7, 1000};

  /** Elements of rank r are r * 1000 + i, in the type's own arithmetic. */
  private static Object data(Datatype type, int length, int rank) {
    Object a = type.layout().base().newArray(length);
    for (int i = 0; i < length; i++) {
      int value = rank * 1000 + i;
      switch (a) {
        case int[] ints -> ints[i] = value;
        case double[] doubles -> doubles[i] = value;
        case Object[] objects -> objects[i] = "" + value;
        default -> throw new AssertionError();
      }
    }
    return a;
  }

  private static Object empty(Datatype type, int length) {
    return type.layout().base().newArray(length);
  }

  private static Object slice(Object array, int from, int length) {
    Object part =
        array instanceof int[]
            ? new int[length]
            : array instanceof double[] ? new double[length] : new Object[length];
    System.arraycopy(array, from, part, 0, length);
    return part;
  }

  private static void same(Object actual, Object expected, String what) {
    assertThat(Arrays.deepEquals(new Object[] {actual}, new Object[] {expected})).as(what).isTrue();
  }

  private static void each(Intracomm w, int[] counts, Datatype[] types, String what, Case one) {
    int n = w.Size();
    for (int count : counts) {
      for (Datatype type : types) {
        for (int root : new int[] {0, n - 1}) {
          one.run(w, count, type, root, what + " of " + count + " " + type + ", root " + root);
        }
      }
    }
  }

  private interface Case {
    void run(Intracomm w, int count, Datatype type, int root, String what);
  }

  private static final Datatype[] TYPES = {MPI.INT, MPI.DOUBLE, MPI.OBJECT};

  private static void check(String collective, Intracomm w, int[] counts, String what) {
    switch (collective) {
      case "barrier" -> IntStream.range(0, 20).forEach(i -> w.Barrier());
      case "bcast" -> each(w, counts, TYPES, what, CollectivesTest::bcast);
      case "gather", "gatherv" -> {
        boolean v = collective.equals("gatherv");
        each(w, counts, TYPES, what, (c, n, t, r, s) -> gather(c, n, t, r, s, v));
      }
      case "scatter", "scatterv" -> {
        boolean v = collective.equals("scatterv");
        each(w, counts, TYPES, what, (c, n, t, r, s) -> scatter(c, n, t, r, s, v));
      }
      case "allgather", "allgatherv" -> {
        boolean v = collective.equals("allgatherv");
        each(w, counts, TYPES, what, (c, n, t, r, s) -> allgather(c, n, t, s, v));
      }
      case "alltoall", "alltoallv" -> {
        boolean v = collective.equals("alltoallv");
        each(w, counts, TYPES, what, (c, n, t, r, s) -> alltoall(c, n, t, s, v));
      }
      case "reduce", "allreduce", "reduce-scatter", "scan", "exscan" ->
          each(
              w,
              counts,
              new Datatype[] {MPI.INT, MPI.DOUBLE},
              what,
              (c, n, t, r, s) -> reductions(collective, c, n, t, r, s));
      default -> throw new AssertionError(collective);
    }
  }

  private static void bcast(Intracomm w, int count, Datatype type, int root, String what) {
    Object buffer = w.Rank() == root ? data(type, count + 2, root) : empty(type, count + 2);
    w.Bcast(buffer, 1, count, type, root);
    same(slice(buffer, 1, count), slice(data(type, count + 2, root), 1, count), what);
  }

  /** In a v-collective rank r has count + r elements, and the places are in reverse order. */
  private static int[] counts(int n, int count, boolean v) {
    return IntStream.range(0, n).map(i -> v ? count + i : count).toArray();
  }

  private static int[] places(int[] counts, boolean v) {
    int[] places = new int[counts.length];
    int at = 0;
    for (int k = 0; k < counts.length; k++) {
      int i = v ? counts.length - 1 - k : k;
      places[i] = at;
      at += counts[i];
    }
    return places;
  }

  private static Object together(Datatype type, int[] counts, int[] places) {
    Object all = empty(type, Arrays.stream(counts).sum());
    for (int i = 0; i < counts.length; i++) {
      System.arraycopy(data(type, counts[i], i), 0, all, places[i], counts[i]);
    }
    return all;
  }

  private static void gather(
      Intracomm w, int count, Datatype type, int root, String what, boolean v) {
    int me = w.Rank();
    int[] counts = counts(w.Size(), count, v);
    int[] places = places(counts, v);
    Object all = together(type, counts, places);
    Object mine = data(type, counts[me], me);
    for (boolean inPlace : new boolean[] {false, true}) {
      Object got = me == root ? empty(type, Arrays.stream(counts).sum()) : null;
      Object send = mine;
      if (inPlace && me == root) {
        System.arraycopy(mine, 0, got, places[me], counts[me]);
        send = MPI.IN_PLACE;
      }
      if (v) {
        w.Gatherv(send, 0, counts[me], type, got, 0, counts, places, type, root);
      } else {
        w.Gather(send, 0, count, type, got, 0, count, type, root);
      }
      if (me == root) {
        same(got, all, what);
      }
    }
  }

  private static void scatter(
      Intracomm w, int count, Datatype type, int root, String what, boolean v) {
    int me = w.Rank();
    int[] counts = counts(w.Size(), count, v);
    int[] places = places(counts, v);
    Object all = me == root ? together(type, counts, places) : null;
    for (boolean inPlace : new boolean[] {false, true}) {
      Object got = inPlace && me == root ? MPI.IN_PLACE : empty(type, counts[me]);
      if (v) {
        w.Scatterv(all, 0, counts, places, type, got, 0, counts[me], type, root);
      } else {
        w.Scatter(all, 0, count, type, got, 0, count, type, root);
      }
      if (got != MPI.IN_PLACE) {
        same(got, data(type, counts[me], me), what);
      }
    }
  }

  private static void allgather(Intracomm w, int count, Datatype type, String what, boolean v) {
    int me = w.Rank();
    int[] counts = counts(w.Size(), count, v);
    int[] places = places(counts, v);
    Object all = together(type, counts, places);
    Object mine = data(type, counts[me], me);
    for (boolean inPlace : new boolean[] {false, true}) {
      Object got = empty(type, Arrays.stream(counts).sum());
      if (inPlace) {
        System.arraycopy(mine, 0, got, places[me], counts[me]);
      }
      Object send = inPlace ? MPI.IN_PLACE : mine;
      if (v) {
        w.Allgatherv(send, 0, counts[me], type, got, 0, counts, places, type);
      } else {
        w.Allgather(send, 0, count, type, got, 0, count, type);
      }
      same(got, all, what);
    }
  }

  /** Rank i sends rank k the elements of «rank» i * n + k. */
  private static void alltoall(Intracomm w, int count, Datatype type, String what, boolean v) {
    int n = w.Size();
    int me = w.Rank();
    int[] out = IntStream.range(0, n).map(k -> v ? count + me + k : count).toArray();
    int[] in = out.clone(); // What i sends k is as long as what k sends i.
    int[] places = places(out, v);
    Object send = empty(type, Arrays.stream(out).sum());
    Object expected = empty(type, Arrays.stream(out).sum());
    for (int k = 0; k < n; k++) {
      System.arraycopy(data(type, out[k], me * n + k), 0, send, places[k], out[k]);
      System.arraycopy(data(type, out[k], k * n + me), 0, expected, places[k], out[k]);
    }
    Object got = empty(type, Arrays.stream(out).sum());
    if (v) {
      w.Alltoallv(send, 0, out, places, type, got, 0, in, places, type);
      same(got, expected, what);
      got = send;
      w.Alltoallv(MPI.IN_PLACE, 0, null, null, null, got, 0, in, places, type);
    } else {
      w.Alltoall(send, 0, count, type, got, 0, count, type);
      same(got, expected, what);
      got = send;
      w.Alltoall(MPI.IN_PLACE, 0, 0, type, got, 0, count, type);
    }
    same(got, expected, what);
  }

  private static Object sum(Datatype type, int length, int ranks) {
    Object a = empty(type, length);
    for (int i = 0; i < length; i++) {
      int value = 0;
      for (int r = 0; r < ranks; r++) {
        value += r * 1000 + i;
      }
      if (a instanceof int[] ints) {
        ints[i] = value;
      } else {
        ((double[]) a)[i] = value;
      }
    }
    return a;
  }

  private static void reductions(
      String collective, Intracomm w, int count, Datatype type, int root, String what) {
    int n = w.Size();
    int me = w.Rank();
    for (boolean inPlace : new boolean[] {false, true}) {
      int[] counts = counts(n, count, true);
      int total = collective.equals("reduce-scatter") ? Arrays.stream(counts).sum() : count;
      Object mine = data(type, total, me);
      Object got = inPlace ? data(type, total, me) : empty(type, total);
      Object send = inPlace ? MPI.IN_PLACE : mine;
      Object before = slice(got, 0, total);
      switch (collective) {
        case "reduce" -> {
          Object from = inPlace && me != root ? mine : send;
          w.Reduce(from, 0, got, 0, count, type, MPI.SUM, root);
          same(got, me == root ? sum(type, count, n) : before, what);
        }
        case "allreduce" -> {
          w.Allreduce(send, 0, got, 0, count, type, MPI.SUM);
          same(got, sum(type, count, n), what);
        }
        case "reduce-scatter" -> {
          w.Reduce_scatter(send, 0, got, 0, counts, type, MPI.SUM);
          int at = Arrays.stream(counts, 0, me).sum();
          same(slice(got, 0, counts[me]), slice(sum(type, total, n), at, counts[me]), what);
        }
        case "scan" -> {
          w.Scan(send, 0, got, 0, count, type, MPI.SUM);
          same(got, sum(type, count, me + 1), what);
        }
        default -> {
          w.Exscan(send, 0, got, 0, count, type, MPI.SUM);
          same(got, me == 0 ? before : sum(type, count, me), what);
        }
      }
    }
  }

  private static Stream<DynamicTest> all(int[] sizes, int[] counts) {
    return all(Variant.threads().spinNs(0), sizes, counts);
  }

  /** Every collective by every algorithm, for so many ranks and elements. */
  static Stream<DynamicTest> all(Variant variant, int[] sizes, int[] counts) {
    return Choice.algorithms().entrySet().stream()
        .flatMap(
            e ->
                e.getValue().stream()
                    .map(
                        algorithm ->
                            DynamicTest.dynamicTest(
                                e.getKey() + " by " + algorithm,
                                () -> {
                                  for (int ranks : sizes) {
                                    run(variant, e.getKey(), algorithm, ranks, counts);
                                  }
                                })));
  }

  static void run(String collective, String algorithm, int ranks, int[] counts) {
    run(Variant.threads().spinNs(0), collective, algorithm, ranks, counts);
  }

  private static void run(
      Variant variant, String collective, String algorithm, int ranks, int[] counts) {
    variant.run(
        ranks,
        w -> {
          w.force(collective, algorithm);
          check(collective, w, counts, collective + " by " + algorithm + ", " + ranks);
          notCommuting(collective, w);
          changedInPlace(collective, w);
          objectsOfOnesOwn(collective, w);
        });
  }

  /** Concatenation of strings shows the order of operands. */
  private static final class Concatenation extends User_function {
    @Override
    public void Call(Object in, int i, Object inout, int j, int count, Datatype type) {
      for (int k = 0; k < count; k++) {
        ((Object[]) inout)[j + k] = "" + ((Object[]) in)[i + k] + ((Object[]) inout)[j + k];
      }
    }
  }

  private static String letters(int from, int to) {
    return IntStream.range(from, to)
        .collect(StringBuilder::new, (b, i) -> b.append((char) ('a' + i)), StringBuilder::append)
        .toString();
  }

  private static void notCommuting(String collective, Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    Op concatenate = new Op(new Concatenation(), false);
    Object[] mine = {letters(me, me + 1), letters(me, me + 1)};
    Object[] got = new Object[2];
    for (int root = 0; root < n; root++) {
      switch (collective) {
        case "reduce" -> {
          w.Reduce(mine, 0, got, 0, 2, MPI.OBJECT, concatenate, root);
          if (me == root) {
            assertThat(got).containsOnly(letters(0, n));
          }
        }
        case "allreduce" -> {
          w.Allreduce(mine, 0, got, 0, 2, MPI.OBJECT, concatenate);
          assertThat(got).containsOnly(letters(0, n));
        }
        case "reduce-scatter" -> {
          Object[] many = new Object[n];
          Arrays.fill(many, mine[0]);
          int[] ones = new int[n];
          Arrays.fill(ones, 1);
          w.Reduce_scatter(many, 0, got, 0, ones, MPI.OBJECT, concatenate);
          assertThat(got[0]).isEqualTo(letters(0, n));
        }
        case "scan" -> {
          w.Scan(mine, 0, got, 0, 2, MPI.OBJECT, concatenate);
          assertThat(got).containsOnly(letters(0, me + 1));
        }
        case "exscan" -> {
          w.Exscan(mine, 0, got, 0, 2, MPI.OBJECT, concatenate);
          assertThat(got[0]).isEqualTo(me == 0 ? null : letters(0, me));
        }
        default -> {}
      }
    }
  }

  /** Adds to the objects that are there; to zero it adds by taking over the one on the left. */
  private static final class Adding extends User_function {
    @Override
    public void Call(Object in, int i, Object inout, int j, int count, Datatype type) {
      for (int k = 0; k < count; k++) {
        int[] left = (int[]) ((Object[]) in)[i + k];
        int[] right = (int[]) ((Object[]) inout)[j + k];
        if (right[0] == 0) {
          ((Object[]) inout)[j + k] = left;
        } else {
          right[0] += left[0];
        }
      }
    }
  }

  /** What a rank adds: at two of three it is zero, if wanted. */
  private static int value(int rank, boolean zeros) {
    return zeros && rank % 3 != 0 ? 0 : rank + 1;
  }

  private static int sum(int ranks, boolean zeros) {
    return IntStream.range(0, ranks).map(i -> value(i, zeros)).sum();
  }

  private static int sum(Object[] array, int at) {
    return ((int[]) array[at])[0];
  }

  private static void changedInPlace(String collective, Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    for (boolean zeros : new boolean[] {false, true}) {
      int all = sum(n, zeros);
      Op add = new Op(new Adding(), false);
      int[] once = {value(me, zeros)};
      // The same object twice is two elements.
      Object[] mine = {once, once};
      Object[] got = new Object[2];
      switch (collective) {
        case "reduce" -> {
          for (int root = 0; root < n; root++) {
            w.Reduce(mine, 0, got, 0, 2, MPI.OBJECT, add, root);
            if (me == root) {
              assertThat(sum(got, 0)).isEqualTo(all);
              assertThat(sum(got, 1)).isEqualTo(all);
            }
          }
        }
        case "allreduce" -> {
          w.Allreduce(mine, 0, got, 0, 2, MPI.OBJECT, add);
          assertThat(sum(got, 0)).isEqualTo(all);
          assertThat(sum(got, 1)).isEqualTo(all);
        }
        case "reduce-scatter" -> {
          Object[] many = new Object[n];
          Arrays.fill(many, once);
          int[] ones = new int[n];
          Arrays.fill(ones, 1);
          w.Reduce_scatter(many, 0, got, 0, ones, MPI.OBJECT, add);
          assertThat(sum(got, 0)).isEqualTo(all);
        }
        case "scan" -> {
          w.Scan(mine, 0, got, 0, 2, MPI.OBJECT, add);
          assertThat(sum(got, 0)).isEqualTo(sum(me + 1, zeros));
          assertThat(sum(got, 1)).isEqualTo(sum(me + 1, zeros));
        }
        case "exscan" -> {
          w.Exscan(mine, 0, got, 0, 2, MPI.OBJECT, add);
          if (me > 0) {
            assertThat(sum(got, 0)).isEqualTo(sum(me, zeros));
            assertThat(sum(got, 1)).isEqualTo(sum(me, zeros));
          }
        }
        default -> {}
      }
      assertThat(once[0]).as("send buffer after " + collective).isEqualTo(value(me, zeros));
    }
  }

  private static void isCopy(Object[] got, int at, int[] mine) {
    assertThat(got[at]).isEqualTo(mine).isNotSameAs(mine);
  }

  /** What a rank sends itself are copies, as what it sends others. */
  private static void objectsOfOnesOwn(String collective, Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] one = {me};
    Object[] mine = {one};
    Object[] many = new Object[n];
    Arrays.fill(many, one);
    Object[] got = new Object[n];
    int[] ones = new int[n];
    Arrays.fill(ones, 1);
    int[] places = IntStream.range(0, n).toArray();
    for (int root = 0; root < n; root++) {
      switch (collective) {
        case "gather" -> w.Gather(mine, 0, 1, MPI.OBJECT, got, 0, 1, MPI.OBJECT, root);
        case "gatherv" -> w.Gatherv(mine, 0, 1, MPI.OBJECT, got, 0, ones, places, MPI.OBJECT, root);
        case "scatter" -> w.Scatter(many, 0, 1, MPI.OBJECT, got, 0, 1, MPI.OBJECT, root);
        case "scatterv" ->
            w.Scatterv(many, 0, ones, places, MPI.OBJECT, got, 0, 1, MPI.OBJECT, root);
        case "allgather" -> w.Allgather(mine, 0, 1, MPI.OBJECT, got, 0, 1, MPI.OBJECT);
        case "allgatherv" -> w.Allgatherv(mine, 0, 1, MPI.OBJECT, got, 0, ones, places, MPI.OBJECT);
        case "alltoall" -> w.Alltoall(many, 0, 1, MPI.OBJECT, got, 0, 1, MPI.OBJECT);
        case "alltoallv" ->
            w.Alltoallv(many, 0, ones, places, MPI.OBJECT, got, 0, ones, places, MPI.OBJECT);
        default -> {
          return;
        }
      }
      boolean scatters = collective.startsWith("scatter");
      boolean toRoot = collective.startsWith("gather") || scatters;
      if (!toRoot || me == root) {
        isCopy(got, scatters ? 0 : me, one);
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> everyCollectiveByEveryAlgorithm() {
    return all(new int[] {1, 2, 3, 4, 5, 6, 7, 8, 9}, COUNTS);
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> everyCollectiveByEveryAlgorithmOfLargeCounts() {
    return all(new int[] {2, 3, 5, 8}, new int[] {100_000});
  }

  @Test
  void everyOperationOnEveryType() {
    Variant.threads()
        .run(
            3,
            w -> {
              int me = w.Rank();
              long[] got = new long[1];
              for (Op op :
                  List.of(MPI.MAX, MPI.MIN, MPI.SUM, MPI.PROD, MPI.BAND, MPI.BOR, MPI.BXOR)) {
                w.Allreduce(new long[] {me + 5}, 0, got, 0, 1, MPI.LONG, op);
                long expected =
                    op == MPI.MAX
                        ? 7
                        : op == MPI.MIN
                            ? 5
                            : op == MPI.SUM
                                ? 18
                                : op == MPI.PROD
                                    ? 210
                                    : op == MPI.BAND ? (5 & 6 & 7) : op == MPI.BOR ? 7 : 5 ^ 6 ^ 7;
                assertThat(got[0]).isEqualTo(expected);
                short[] shorts = new short[1];
                w.Allreduce(new short[] {(short) (me + 5)}, 0, shorts, 0, 1, MPI.SHORT, op);
                assertThat(shorts[0]).isEqualTo((short) expected);
                byte[] bytes = new byte[1];
                w.Allreduce(new byte[] {(byte) (me + 5)}, 0, bytes, 0, 1, MPI.BYTE, op);
                assertThat(bytes[0]).isEqualTo((byte) expected);
              }
              boolean[] flag = new boolean[1];
              w.Allreduce(new boolean[] {me == 1}, 0, flag, 0, 1, MPI.BOOLEAN, MPI.LOR);
              assertThat(flag[0]).isTrue();
              w.Allreduce(new boolean[] {me == 1}, 0, flag, 0, 1, MPI.BOOLEAN, MPI.LAND);
              assertThat(flag[0]).isFalse();
              w.Allreduce(new boolean[] {true}, 0, flag, 0, 1, MPI.BOOLEAN, MPI.LXOR);
              assertThat(flag[0]).isTrue();
              double[] pair = new double[2];
              w.Allreduce(new double[] {-me, me}, 0, pair, 0, 1, MPI.DOUBLE2, MPI.MINLOC);
              assertThat(pair).containsExactly(-2, 2);
              w.Allreduce(new double[] {4, me}, 0, pair, 0, 1, MPI.DOUBLE2, MPI.MAXLOC);
              assertThat(pair).containsExactly(4, 0);
              assertThatThrownBy(
                      () -> w.Allreduce(new float[1], 0, new float[1], 0, 1, MPI.FLOAT, MPI.BAND))
                  .hasMessageContaining("BAND is not defined for FLOAT");
            });
  }

  @Test
  void stridedTypesInCollectives() {
    Variant.threads()
        .run(
            4,
            w -> {
              int n = w.Size();
              Datatype column = Datatype.Vector(5, 1, n, MPI.INT);
              Datatype resized =
                  Datatype.Struct(
                      new int[] {1, 1}, new int[] {0, 1}, new Datatype[] {column, MPI.UB});
              resized.Commit();
              int[] mine = new int[5];
              Arrays.fill(mine, w.Rank());
              for (String algorithm : List.of("ring", "bruck", "gather-bcast")) {
                w.force("allgather", algorithm);
                int[] matrix = new int[5 * n];
                w.Allgather(mine, 0, 5, MPI.INT, matrix, 0, 1, resized);
                for (int i = 0; i < matrix.length; i++) {
                  assertThat(matrix[i]).as(algorithm).isEqualTo(i % n);
                }
              }
            });
  }

  @Test
  void ranksMayDescribeWhatIsBroadcastByDifferentTypes() {
    int n = 20_000;
    for (String algorithm : Choice.algorithms().get("bcast")) {
      Variant.threads()
          .run(
              3,
              w -> {
                w.force("bcast", algorithm);
                Datatype[] types = {
                  MPI.INT, Datatype.Contiguous(n, MPI.INT), Datatype.Vector(n, 1, 2, MPI.INT)
                };
                Datatype type = types[w.Rank()];
                type.Commit();
                int count = w.Rank() == 0 ? n : 1;
                int stride = w.Rank() == 2 ? 2 : 1;
                for (int root = 0; root < 3; root++) {
                  int[] a = new int[stride * n];
                  for (int i = 0; i < n && w.Rank() == root; i++) {
                    a[i * stride] = root + i;
                  }
                  w.Bcast(a, 0, count, type, root);
                  for (int i = 0; i < n; i++) {
                    assertThat(a[i * stride]).as(algorithm).isEqualTo(root + i);
                  }
                }
              });
    }
  }

  @Test
  void theRootOfABroadcastOnlyReadsItsBuffer() {
    int[] data = IntStream.range(0, 20_000).toArray();
    for (String algorithm : Choice.algorithms().get("bcast")) {
      Variant.threads()
          .run(
              3,
              w -> {
                w.force("bcast", algorithm);
                if (w.Rank() == 1) {
                  MemorySegment all = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_INT, data);
                  w.Bcast(all.asReadOnly(), 0, data.length, MPI.INT, 1);
                } else {
                  int[] got = new int[data.length];
                  w.Bcast(got, 0, got.length, MPI.INT, 1);
                  assertThat(got).as(algorithm).isEqualTo(data);
                }
              });
    }
  }

  @Test
  void ranksThatDisagreeAreNamed() {
    assertThatThrownBy(
            () ->
                Variant.threads()
                    .run(
                        2,
                        w -> {
                          if (w.Rank() == 0) {
                            w.Bcast(new int[4], 0, 4, MPI.INT, 1);
                          } else {
                            w.Reduce(new int[4], 0, new int[4], 0, 4, MPI.INT, MPI.SUM, 0);
                          }
                        }))
        .hasRootCauseMessage(
            "ranks disagree: rank 0 is in Bcast (collective call 1), rank 1 in Reduce"
                + " (collective call 1)");
  }

  @Test
  void theSameReductionGivesTheSameBits() {
    Variant.threads()
        .run(
            5,
            w -> {
              double[] mine = new double[1001];
              for (int i = 0; i < mine.length; i++) {
                mine[i] = Math.sin(w.Rank() * 7919 + i) * Math.pow(10, i % 30);
              }
              double[] first = new double[1001];
              w.Allreduce(mine, 0, first, 0, 1001, MPI.DOUBLE, MPI.SUM);
              double[] again = new double[1001];
              for (int i = 0; i < 20; i++) {
                w.Allreduce(mine, 0, again, 0, 1001, MPI.DOUBLE, MPI.SUM);
                assertThat(again).isEqualTo(first);
              }
              double[] theirs = new double[1001];
              w.Sendrecv(
                  first,
                  0,
                  1001,
                  MPI.DOUBLE,
                  (w.Rank() + 1) % 5,
                  0,
                  theirs,
                  0,
                  1001,
                  MPI.DOUBLE,
                  (w.Rank() + 4) % 5,
                  0);
              assertThat(theirs).isEqualTo(first);
            });
  }
}
