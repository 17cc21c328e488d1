// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Collectives of neighbours, and communicators that only their members make. */
@Timeout(300)
class NeighborsTest {
  private static final int EACH = 3;

  /** Element i of the block that a rank sends to its neighbour k. */
  private static int value(int rank, int k, int i) {
    return rank * 1000 + k * 100 + i;
  }

  private static int length(int rank, int k) {
    return (rank * 5 + k * 3) % 4;
  }

  /**
   * Every collective, in all three ways.
   *
   * @param ranks this rank's neighbours
   * @param block which block of its neighbour k comes to this rank
   */
  private static void check(Intracomm w, int[] ranks, IntUnaryOperator block) {
    int me = w.Rank();
    int n = ranks.length;
    int[] same = {value(me, 9, 0), value(me, 9, 1), value(me, 9, 2)};
    int[] blocks = new int[n * EACH];
    int[] gathered = new int[n * EACH];
    int[] exchanged = new int[n * EACH];
    int[] counts = new int[n];
    int[] places = new int[n];
    int[] out = new int[4 * n];
    int[] inCounts = new int[n];
    int[] in = new int[4 * n];
    int[] gatherCounts = new int[n];
    int[] gatheredIn = new int[4 * n];
    Arrays.fill(gathered, -1);
    Arrays.fill(exchanged, -1);
    Arrays.fill(in, -1);
    Arrays.fill(gatheredIn, -1);
    for (int k = 0; k < n; k++) {
      places[k] = 4 * (n - 1 - k);
      counts[k] = length(me, k);
      for (int i = 0; i < EACH; i++) {
        blocks[k * EACH + i] = value(me, k, i);
      }
      for (int i = 0; i < counts[k]; i++) {
        out[places[k] + i] = value(me, k, i);
      }
      if (ranks[k] >= 0) {
        int b = block.applyAsInt(k);
        inCounts[k] = length(ranks[k], b);
        gatherCounts[k] = length(ranks[k], 0);
        for (int i = 0; i < EACH; i++) {
          gathered[k * EACH + i] = value(ranks[k], 9, i);
          exchanged[k * EACH + i] = value(ranks[k], b, i);
        }
        for (int i = 0; i < inCounts[k]; i++) {
          in[places[k] + i] = value(ranks[k], b, i);
        }
        for (int i = 0; i < gatherCounts[k]; i++) {
          gatheredIn[places[k] + i] = value(ranks[k], 9, i);
        }
      }
    }
    int own = length(me, 0);
    int[] a = empty(n * EACH);
    int[] b = empty(n * EACH);
    int[] c = empty(4 * n);
    int[] d = empty(4 * n);
    w.Neighbor_allgather(same, 0, EACH, MPI.INT, a, 0, EACH, MPI.INT);
    w.Neighbor_alltoall(blocks, 0, EACH, MPI.INT, b, 0, EACH, MPI.INT);
    w.Neighbor_allgatherv(same, 0, own, MPI.INT, c, 0, gatherCounts, places, MPI.INT);
    w.Neighbor_alltoallv(out, 0, counts, places, MPI.INT, d, 0, inCounts, places, MPI.INT);
    int[] a2 = empty(n * EACH);
    int[] b2 = empty(n * EACH);
    int[] c2 = empty(4 * n);
    int[] d2 = empty(4 * n);
    Request.Waitall(
        new Request[] {
          w.Ineighbor_allgather(same, 0, EACH, MPI.INT, a2, 0, EACH, MPI.INT),
          w.Ineighbor_alltoall(blocks, 0, EACH, MPI.INT, b2, 0, EACH, MPI.INT),
          w.Ineighbor_allgatherv(same, 0, own, MPI.INT, c2, 0, gatherCounts, places, MPI.INT),
          w.Ineighbor_alltoallv(out, 0, counts, places, MPI.INT, d2, 0, inCounts, places, MPI.INT)
        });
    int[] a3 = empty(n * EACH);
    int[] b3 = empty(n * EACH);
    int[] c3 = empty(4 * n);
    int[] d3 = empty(4 * n);
    Prequest[] later = {
      w.Neighbor_allgather_init(same, 0, EACH, MPI.INT, a3, 0, EACH, MPI.INT),
      w.Neighbor_alltoall_init(blocks, 0, EACH, MPI.INT, b3, 0, EACH, MPI.INT),
      w.Neighbor_allgatherv_init(same, 0, own, MPI.INT, c3, 0, gatherCounts, places, MPI.INT),
      w.Neighbor_alltoallv_init(out, 0, counts, places, MPI.INT, d3, 0, inCounts, places, MPI.INT)
    };
    for (int round = 0; round < 2; round++) {
      for (int[] each : new int[][] {a3, b3, c3, d3}) {
        Arrays.fill(each, -1);
      }
      Prequest.Startall(later);
      Request.Waitall(later);
    }
    for (int[] each : new int[][] {a, a2, a3}) {
      assertThat(each).isEqualTo(gathered);
    }
    for (int[] each : new int[][] {b, b2, b3}) {
      assertThat(each).isEqualTo(exchanged);
    }
    for (int[] each : new int[][] {c, c2, c3}) {
      assertThat(each).isEqualTo(gatheredIn);
    }
    for (int[] each : new int[][] {d, d2, d3}) {
      assertThat(each).isEqualTo(in);
    }
  }

  private static int[] empty(int length) {
    int[] a = new int[length];
    Arrays.fill(a, -1);
    return a;
  }

  private static void grid(Intracomm w, int[] dims, boolean... periods) {
    Cartcomm grid = w.Create_cart(dims, periods, false);
    if (grid == null) {
      return;
    }
    int[] ranks = new int[2 * dims.length];
    for (int i = 0; i < dims.length; i++) {
      ShiftParms shift = grid.Shift(i, 1);
      ranks[2 * i] = shift.rank_source;
      ranks[2 * i + 1] = shift.rank_dest;
    }
    // What a rank sends up comes from below.
    check(grid, ranks, k -> k ^ 1);
    grid.Free();
  }

  private static void grids(Intracomm w) {
    int n = w.Size();
    grid(w, new int[] {n}, true);
    grid(w, new int[] {n}, false);
    grid(w, new int[] {1}, true);
    grid(w, new int[] {2}, true);
    grid(w, new int[] {2, n / 2}, true, false);
    grid(w, new int[] {1, 2, n / 2}, true, true, true);
    grid(w, new int[0]);
  }

  /** Each is a neighbour of rank 0, twice; rank 0 of itself too. */
  private static void graphs(Intracomm w) {
    int n = w.Size();
    int[] index = new int[n];
    int[] edges = new int[4 * (n - 1) + 1];
    int at = 0;
    edges[at++] = 0;
    for (int i = 1; i < n; i++) {
      edges[at++] = i;
      edges[at++] = i;
    }
    index[0] = at;
    for (int i = 1; i < n; i++) {
      edges[at++] = 0;
      edges[at++] = 0;
      index[i] = at;
    }
    Graphcomm graph = w.Create_graph(index, edges, false);
    int me = graph.Rank();
    check(
        graph, graph.Neighbours(me), k -> me > 0 ? 1 + 2 * (me - 1) + k : k == 0 ? 0 : (k - 1) % 2);
    graph.Free();
    assertThatThrownBy(
            () -> w.Neighbor_allgather(new int[1], 0, 1, MPI.INT, new int[9], 0, 1, MPI.INT))
        .isInstanceOfSatisfying(
            MPIException.class,
            e -> assertThat(e.errorClass()).isEqualTo(MPIException.ERR_TOPOLOGY))
        .hasMessageContaining("no topology");
  }

  private static void all(Intracomm w) {
    grids(w);
    graphs(w);
    groups(w);
  }

  /** Halves make communicators at once, and threads of several tags. */
  private static void groups(Intracomm w) {
    int n = w.Size();
    int me = w.Rank();
    int[] mine = new int[(n + 1 - me % 2) / 2];
    Arrays.setAll(mine, i -> 2 * i + me % 2);
    Group half = w.Group().Incl(mine);
    for (int round = 0; round < 5; round++) {
      Intracomm made = w.Create_group(half, 7);
      int[] sum = new int[1];
      made.Allreduce(new int[] {me}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
      assertThat(sum[0]).isEqualTo(Arrays.stream(mine).sum());
      assertThat(Comm.Compare(made, w)).isEqualTo(MPI.UNEQUAL);
      made.Free();
    }
    Throwable[] failure = new Throwable[1];
    Thread[] threads = new Thread[3];
    for (int t = 0; t < threads.length; t++) {
      int tag = t;
      threads[t] =
          new Thread(
              () -> {
                try {
                  Group group = tag == 0 ? w.Group() : half;
                  for (int round = 0; round < 5; round++) {
                    Intracomm made = w.Create_group(group, tag);
                    int[] sum = new int[1];
                    made.Allreduce(new int[] {1}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
                    assertThat(sum[0]).isEqualTo(group.Size());
                    made.Free();
                  }
                } catch (Throwable e) {
                  failure[0] = e;
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    if (failure[0] != null) {
      throw new AssertionError(failure[0]);
    }
    assertThatThrownBy(() -> w.Create_group(w.Group().Excl(new int[] {me}), 0))
        .hasMessage("Create_group: this rank is no member of the group");
    assertThatThrownBy(() -> w.Create_group(half, -1)).hasMessageStartingWith("tag -1");
    w.Barrier();
  }

  @Test
  void smdev() {
    for (int ranks : new int[] {2, 3, 6}) {
      Variant.threads().run(ranks, NeighborsTest::all);
    }
  }

  @Test
  void smdevWithTheChecks() {
    Variant.threads().with("check", true).spinNs(0).run(4, NeighborsTest::all);
  }

  @Test
  void shmdevWithTheSmallestRings() {
    Variant.sharedFiles().with("ring", 4096).run(4, NeighborsTest::all);
  }

  @Test
  void niodev() {
    Variant.nio().run(3, NeighborsTest::all);
  }

  @Test
  void ucxdev() {
    Variant.ucx().run(2, NeighborsTest::all);
  }

  @Test
  void autoOnTwoHosts() {
    Variant.auto().run(5, NeighborsTest::all);
  }
}
