// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** Persistent collectives do, each time that they are started, what the blocking ones do. */
@Timeout(300)
class PersistentTest {
  private static final int COUNT = 500;
  private static final int ROUNDS = 5;

  /** A blocking collective and a persistent one, from the same buffer. */
  private static final class Pair {
    private final int[] send;
    private final Runnable blocking;
    private final int[] expected;
    private final Prequest later;
    private final int[] got;

    Pair(int[] send, Runnable blocking, int[] expected, Prequest later, int[] got) {
      this.send = send;
      this.blocking = blocking;
      this.expected = expected;
      this.later = later;
      this.got = got;
    }

    /** Gives it new elements, and does the blocking one. */
    void refill(int rank, int round) {
      for (int i = 0; i < send.length; i++) {
        send[i] = rank * 7919 + round * 104_729 + i;
      }
      Arrays.fill(expected, -1);
      Arrays.fill(got, -1);
      blocking.run();
    }
  }

  private interface Case {
    Pair of(Intracomm w, int root);
  }

  private static int[] counts(int n) {
    int[] counts = new int[n];
    Arrays.setAll(counts, i -> 10 * i + 1);
    return counts;
  }

  private static int[] places(int[] counts) {
    int[] places = new int[counts.length];
    for (int i = 1; i < counts.length; i++) {
      places[i] = places[i - 1] + counts[i - 1];
    }
    return places;
  }

  private static Map<String, Case> all() {
    Map<String, Case> all = new LinkedHashMap<>();
    all.put(
        "Bcast_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          Prequest later = w.Bcast_init(b, 0, COUNT, MPI.INT, root);
          Runnable blocking =
              () -> {
                if (w.Rank() == root) {
                  System.arraycopy(s, 0, a, 0, COUNT);
                  System.arraycopy(s, 0, b, 0, COUNT);
                }
                w.Bcast(a, 0, COUNT, MPI.INT, root);
              };
          return new Pair(s, blocking, a, later, b);
        });
    all.put(
        "Gather_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          return new Pair(
              s,
              () -> w.Gather(s, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT, root),
              a,
              w.Gather_init(s, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT, root),
              b);
        });
    all.put(
        "Gatherv_init",
        (w, root) -> {
          int[] c = counts(w.Size());
          int[] at = places(c);
          int own = c[w.Rank()];
          int[] s = new int[own];
          int[] a = new int[Arrays.stream(c).sum()];
          int[] b = a.clone();
          return new Pair(
              s,
              () -> w.Gatherv(s, 0, own, MPI.INT, a, 0, c, at, MPI.INT, root),
              a,
              w.Gatherv_init(s, 0, own, MPI.INT, b, 0, c, at, MPI.INT, root),
              b);
        });
    all.put(
        "Scatter_init",
        (w, root) -> {
          int[] s = new int[COUNT * w.Size()];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          return new Pair(
              s,
              () -> w.Scatter(s, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT, root),
              a,
              w.Scatter_init(s, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT, root),
              b);
        });
    all.put(
        "Scatterv_init",
        (w, root) -> {
          int[] c = counts(w.Size());
          int[] at = places(c);
          int own = c[w.Rank()];
          int[] s = new int[Arrays.stream(c).sum()];
          int[] a = new int[own];
          int[] b = new int[own];
          return new Pair(
              s,
              () -> w.Scatterv(s, 0, c, at, MPI.INT, a, 0, own, MPI.INT, root),
              a,
              w.Scatterv_init(s, 0, c, at, MPI.INT, b, 0, own, MPI.INT, root),
              b);
        });
    all.put(
        "Allgather_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          return new Pair(
              s,
              () -> w.Allgather(s, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT),
              a,
              w.Allgather_init(s, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT),
              b);
        });
    all.put(
        "Allgatherv_init",
        (w, root) -> {
          int[] c = counts(w.Size());
          int[] at = places(c);
          int own = c[w.Rank()];
          int[] s = new int[own];
          int[] a = new int[Arrays.stream(c).sum()];
          int[] b = a.clone();
          return new Pair(
              s,
              () -> w.Allgatherv(s, 0, own, MPI.INT, a, 0, c, at, MPI.INT),
              a,
              w.Allgatherv_init(s, 0, own, MPI.INT, b, 0, c, at, MPI.INT),
              b);
        });
    all.put(
        "Alltoall_init",
        (w, root) -> {
          int[] s = new int[COUNT * w.Size()];
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          return new Pair(
              s,
              () -> w.Alltoall(s, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT),
              a,
              w.Alltoall_init(s, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT),
              b);
        });
    all.put(
        "Alltoallv_init",
        (w, root) -> {
          int[] c = new int[w.Size()];
          Arrays.setAll(c, i -> i + w.Rank());
          int[] at = places(c);
          int[] s = new int[Arrays.stream(c).sum()];
          int[] a = s.clone();
          int[] b = s.clone();
          return new Pair(
              s,
              () -> w.Alltoallv(s, 0, c, at, MPI.INT, a, 0, c, at, MPI.INT),
              a,
              w.Alltoallv_init(s, 0, c, at, MPI.INT, b, 0, c, at, MPI.INT),
              b);
        });
    all.put(
        "Reduce_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          return new Pair(
              s,
              () -> w.Reduce(s, 0, a, 0, COUNT, MPI.INT, MPI.SUM, root),
              a,
              w.Reduce_init(s, 0, b, 0, COUNT, MPI.INT, MPI.SUM, root),
              b);
        });
    all.put(
        "Allreduce_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          return new Pair(
              s,
              () -> w.Allreduce(s, 0, a, 0, COUNT, MPI.INT, MPI.BXOR),
              a,
              w.Allreduce_init(s, 0, b, 0, COUNT, MPI.INT, MPI.BXOR),
              b);
        });
    all.put(
        "Reduce_scatter_init",
        (w, root) -> {
          int[] c = counts(w.Size());
          int[] s = new int[Arrays.stream(c).sum()];
          int[] a = new int[c[w.Rank()]];
          int[] b = a.clone();
          return new Pair(
              s,
              () -> w.Reduce_scatter(s, 0, a, 0, c, MPI.INT, MPI.MAX),
              a,
              w.Reduce_scatter_init(s, 0, b, 0, c, MPI.INT, MPI.MAX),
              b);
        });
    all.put(
        "Scan_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          return new Pair(
              s,
              () -> w.Scan(s, 0, a, 0, COUNT, MPI.INT, MPI.SUM),
              a,
              w.Scan_init(s, 0, b, 0, COUNT, MPI.INT, MPI.SUM),
              b);
        });
    all.put(
        "Exscan_init",
        (w, root) -> {
          int[] s = new int[COUNT];
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          return new Pair(
              s,
              () -> w.Exscan(s, 0, a, 0, COUNT, MPI.INT, MPI.SUM),
              a,
              w.Exscan_init(s, 0, b, 0, COUNT, MPI.INT, MPI.SUM),
              b);
        });
    return all;
  }

  @TestFactory
  Stream<DynamicTest> eachDoesWhatItsBlockingOneDoes() {
    return all().entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.getKey(),
                    () -> {
                      for (int ranks : new int[] {1, 2, 5}) {
                        Variant.threads().run(ranks, w -> again(w, each.getValue()));
                      }
                    }));
  }

  private static void again(Intracomm w, Case each) {
    for (int root : new int[] {0, w.Size() - 1}) {
      Pair pair = each.of(w, root);
      assertThat(pair.later.Is_null()).isFalse();
      for (int round = 0; round < ROUNDS; round++) {
        pair.refill(w.Rank(), round);
        pair.later.Start();
        if (round % 2 == 0) {
          pair.later.Wait();
        } else {
          while (pair.later.Test() == null) {
            Thread.onSpinWait();
          }
        }
        assertThat(pair.got).isEqualTo(pair.expected);
      }
      pair.later.Free();
      assertThat(pair.later.Is_null()).isTrue();
    }
  }

  /** All are started at once, and again, while blocking ones go on. */
  private static void manyAtOnce(Intracomm w) {
    Pair[] pairs =
        all().values().stream().map(each -> each.of(w, w.Size() - 1)).toArray(Pair[]::new);
    Prequest[] requests = new Prequest[pairs.length + 1];
    for (int i = 0; i < pairs.length; i++) {
      requests[i] = pairs[i].later;
    }
    requests[pairs.length] = w.Barrier_init();
    for (int round = 0; round < ROUNDS; round++) {
      for (Pair pair : pairs) {
        pair.refill(w.Rank(), round);
      }
      Prequest.Startall(requests);
      w.Barrier();
      Request.Waitall(requests);
      for (Pair pair : pairs) {
        assertThat(pair.got).isEqualTo(pair.expected);
      }
    }
    for (Prequest request : requests) {
      request.Free();
    }
  }

  @Test
  void allAreStartedAtOnceOnSmdev() {
    Variant.threads().run(3, PersistentTest::manyAtOnce);
  }

  @Test
  void allAreStartedAtOnceOnShmdevWithTheSmallestRings() {
    Variant.sharedFiles().with("ring", 4096).spinNs(0).run(4, PersistentTest::manyAtOnce);
  }

  @Test
  void allAreStartedAtOnceOverConnections() {
    Variant.nio().run(3, PersistentTest::manyAtOnce);
  }

  @Test
  void allAreStartedAtOnceOverUcx() {
    Variant.ucx().run(2, PersistentTest::manyAtOnce);
  }

  @Test
  void allAreStartedAtOnceOnTwoHosts() {
    Variant.auto().run(4, PersistentTest::manyAtOnce);
  }

  @Test
  void whatIsUnderWayIsNeitherStartedNorFreedNorCancelled() {
    Variant.threads()
        .run(
            2,
            w -> {
              Prequest barrier = w.Barrier_init();
              barrier.Cancel();
              barrier.Start();
              String wait = " of a collective that was started: wait for it";
              assertThatThrownBy(barrier::Start)
                  .hasMessage("this request was started and not waited for since");
              assertThatThrownBy(barrier::Free).hasMessage("Free" + wait);
              assertThatThrownBy(barrier::Cancel).hasMessage("Cancel" + wait);
              barrier.Wait();
              barrier.Free();
              assertThatThrownBy(barrier::Start).hasMessage("Start of a request that was freed");
              assertThatThrownBy(() -> w.Bcast_init(new int[1], 0, 2, MPI.INT, 0))
                  .isInstanceOf(MPIException.class);
              assertThatThrownBy(() -> w.Bcast_init(new int[1], 0, 1, MPI.INT, 2))
                  .isInstanceOf(MPIException.class);
            });
  }
}
