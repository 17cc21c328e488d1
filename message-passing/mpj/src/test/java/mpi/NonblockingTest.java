// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** Collectives that are started and waited for later do what the others do. */
@Timeout(300)
class NonblockingTest {
  private static final int COUNT = 1000;

  private static int[] mine(Intracomm w, int length) {
    int[] a = new int[length];
    for (int i = 0; i < length; i++) {
      a[i] = w.Rank() * 7919 + i;
    }
    return a;
  }

  /** What both ways of calling bring, at one rank. */
  private static final class Outcome {
    final int[] blocking;
    final Request request;
    final int[] other;

    Outcome(int[] blocking, Request request, int[] other) {
      this.blocking = blocking;
      this.request = request;
      this.other = other;
    }
  }

  private interface Both {
    Outcome call(Intracomm w, int root);
  }

  private static int[] counts(Intracomm w) {
    int[] counts = new int[w.Size()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = 10 * i + 1;
    }
    return counts;
  }

  private static int[] places(int[] counts) {
    int[] places = new int[counts.length];
    for (int i = 1; i < counts.length; i++) {
      places[i] = places[i - 1] + counts[i - 1];
    }
    return places;
  }

  private static int sum(int[] counts) {
    int sum = 0;
    for (int count : counts) {
      sum += count;
    }
    return sum;
  }

  private static Map<String, Both> all() {
    Map<String, Both> all = new LinkedHashMap<>();
    all.put(
        "Ibcast",
        (w, root) -> {
          int[] a = mine(w, COUNT);
          int[] b = mine(w, COUNT);
          w.Bcast(a, 0, COUNT, MPI.INT, root);
          return new Outcome(a, w.Ibcast(b, 0, COUNT, MPI.INT, root), b);
        });
    all.put(
        "Igather",
        (w, root) -> {
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          int[] send = mine(w, COUNT);
          w.Gather(send, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT, root);
          return new Outcome(a, w.Igather(send, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT, root), b);
        });
    all.put(
        "Igatherv",
        (w, root) -> {
          int[] counts = counts(w);
          int[] places = places(counts);
          int[] a = new int[sum(counts)];
          int[] b = new int[sum(counts)];
          int own = counts[w.Rank()];
          int[] send = mine(w, own);
          w.Gatherv(send, 0, own, MPI.INT, a, 0, counts, places, MPI.INT, root);
          return new Outcome(
              a, w.Igatherv(send, 0, own, MPI.INT, b, 0, counts, places, MPI.INT, root), b);
        });
    all.put(
        "Iscatter",
        (w, root) -> {
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          int[] send = mine(w, COUNT * w.Size());
          w.Scatter(send, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT, root);
          return new Outcome(a, w.Iscatter(send, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT, root), b);
        });
    all.put(
        "Iscatterv",
        (w, root) -> {
          int[] counts = counts(w);
          int[] places = places(counts);
          int own = counts[w.Rank()];
          int[] a = new int[own];
          int[] b = new int[own];
          int[] send = mine(w, sum(counts));
          w.Scatterv(send, 0, counts, places, MPI.INT, a, 0, own, MPI.INT, root);
          return new Outcome(
              a, w.Iscatterv(send, 0, counts, places, MPI.INT, b, 0, own, MPI.INT, root), b);
        });
    all.put(
        "Iallgather",
        (w, root) -> {
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          int[] send = mine(w, COUNT);
          w.Allgather(send, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT);
          return new Outcome(a, w.Iallgather(send, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT), b);
        });
    all.put(
        "Iallgatherv",
        (w, root) -> {
          int[] counts = counts(w);
          int[] places = places(counts);
          int own = counts[w.Rank()];
          int[] a = new int[sum(counts)];
          int[] b = new int[sum(counts)];
          int[] send = mine(w, own);
          w.Allgatherv(send, 0, own, MPI.INT, a, 0, counts, places, MPI.INT);
          return new Outcome(
              a, w.Iallgatherv(send, 0, own, MPI.INT, b, 0, counts, places, MPI.INT), b);
        });
    all.put(
        "Ialltoall",
        (w, root) -> {
          int[] a = new int[COUNT * w.Size()];
          int[] b = new int[COUNT * w.Size()];
          int[] send = mine(w, COUNT * w.Size());
          w.Alltoall(send, 0, COUNT, MPI.INT, a, 0, COUNT, MPI.INT);
          return new Outcome(a, w.Ialltoall(send, 0, COUNT, MPI.INT, b, 0, COUNT, MPI.INT), b);
        });
    all.put(
        "Ialltoallv",
        (w, root) -> {
          int n = w.Size();
          int[] out = new int[n];
          int[] in = new int[n];
          for (int i = 0; i < n; i++) {
            out[i] = w.Rank() + i;
            in[i] = i + w.Rank();
          }
          int[] send = mine(w, sum(out));
          int[] a = new int[sum(in)];
          int[] b = new int[sum(in)];
          w.Alltoallv(send, 0, out, places(out), MPI.INT, a, 0, in, places(in), MPI.INT);
          return new Outcome(
              a,
              w.Ialltoallv(send, 0, out, places(out), MPI.INT, b, 0, in, places(in), MPI.INT),
              b);
        });
    all.put(
        "Ireduce",
        (w, root) -> {
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          int[] send = mine(w, COUNT);
          w.Reduce(send, 0, a, 0, COUNT, MPI.INT, MPI.SUM, root);
          return new Outcome(a, w.Ireduce(send, 0, b, 0, COUNT, MPI.INT, MPI.SUM, root), b);
        });
    all.put(
        "Iallreduce",
        (w, root) -> {
          int[] a = mine(w, COUNT);
          int[] b = mine(w, COUNT);
          w.Allreduce(MPI.IN_PLACE, 0, a, 0, COUNT, MPI.INT, MPI.BXOR);
          return new Outcome(a, w.Iallreduce(MPI.IN_PLACE, 0, b, 0, COUNT, MPI.INT, MPI.BXOR), b);
        });
    all.put(
        "Ireduce_scatter",
        (w, root) -> {
          int[] counts = counts(w);
          int own = counts[w.Rank()];
          int[] a = new int[own];
          int[] b = new int[own];
          int[] send = mine(w, sum(counts));
          w.Reduce_scatter(send, 0, a, 0, counts, MPI.INT, MPI.MAX);
          return new Outcome(a, w.Ireduce_scatter(send, 0, b, 0, counts, MPI.INT, MPI.MAX), b);
        });
    all.put(
        "Iscan",
        (w, root) -> {
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          int[] send = mine(w, COUNT);
          w.Scan(send, 0, a, 0, COUNT, MPI.INT, MPI.SUM);
          return new Outcome(a, w.Iscan(send, 0, b, 0, COUNT, MPI.INT, MPI.SUM), b);
        });
    all.put(
        "Iexscan",
        (w, root) -> {
          int[] a = new int[COUNT];
          int[] b = new int[COUNT];
          int[] send = mine(w, COUNT);
          w.Exscan(send, 0, a, 0, COUNT, MPI.INT, MPI.SUM);
          return new Outcome(a, w.Iexscan(send, 0, b, 0, COUNT, MPI.INT, MPI.SUM), b);
        });
    return all;
  }

  @TestFactory
  Stream<DynamicTest> eachBringsWhatItsBlockingOneBrings() {
    return all().entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.getKey(),
                    () -> {
                      for (int ranks : new int[] {1, 2, 5}) {
                        Variant.threads()
                            .run(
                                ranks,
                                w -> {
                                  for (int root : new int[] {0, w.Size() - 1}) {
                                    Outcome outcome = each.getValue().call(w, root);
                                    outcome.request.Wait();
                                    assertThat(outcome.other).isEqualTo(outcome.blocking);
                                  }
                                });
                      }
                    }));
  }

  /** All are under way at once, while blocking ones and messages go on. */
  private static void manyAtOnce(Intracomm w) {
    List<Outcome> under = new ArrayList<>();
    int root = w.Size() - 1;
    for (int i = 0; i < 3; i++) {
      all().values().forEach(each -> under.add(each.call(w, root)));
    }
    Request[] requests = under.stream().map(outcome -> outcome.request).toArray(Request[]::new);
    Request.Waitall(requests);
    for (Outcome outcome : under) {
      assertThat(outcome.other).isEqualTo(outcome.blocking);
      assertThat(outcome.request.Is_null()).isTrue();
    }
  }

  @Test
  void manyAreUnderWayOnSmdev() {
    Variant.threads().run(3, NonblockingTest::manyAtOnce);
  }

  @Test
  void manyAreUnderWayOnShmdevWithTheSmallestRings() {
    Variant.sharedFiles().with("ring", 4096).spinNs(0).run(4, NonblockingTest::manyAtOnce);
  }

  @Test
  void manyAreUnderWayOverConnections() {
    Variant.nio().run(3, NonblockingTest::manyAtOnce);
  }

  @Test
  void manyAreUnderWayOverUcx() {
    Variant.ucx().run(3, NonblockingTest::manyAtOnce);
  }

  @Test
  void barriersEndWhenAllHaveStartedThem() {
    Variant.threads()
        .run(
            3,
            w -> {
              if (w.Rank() == 2) {
                w.Recv(new int[1], 0, 1, MPI.INT, 0, 1);
              }
              Request barrier = w.Ibarrier();
              if (w.Rank() == 0) {
                for (int i = 0; i < 100; i++) {
                  assertThat(barrier.Test()).isNull();
                }
                w.Send(new int[1], 0, 1, MPI.INT, 2, 1);
              }
              Request[] requests = {MPI.REQUEST_NULL, barrier};
              assertThat(Request.Waitany(requests).index).isEqualTo(1);
              w.Barrier();
            });
  }

  @Test
  void theyEndWhileTheProgramComputes() {
    Variant.threads()
        .run(
            2,
            w -> {
              int[] big = mine(w, 500_000);
              Request all = w.Iallreduce(MPI.IN_PLACE, 0, big, 0, big.length, MPI.INT, MPI.SUM);
              long until = System.nanoTime() + 60_000_000_000L;
              // Nothing is called that makes progress.
              while (!Request.isOver(all)) {
                Thread.sleep(1);
                assertThat(System.nanoTime()).isLessThan(until);
              }
              all.Wait();
              assertThat(big[1]).isEqualTo(7919 + 2);
            });
  }

  @Test
  void communicatorsDoNotMix() {
    Variant.threads()
        .run(
            3,
            w -> {
              Intracomm copy = w.Dup();
              int[] a = {w.Rank()};
              int[] b = {w.Rank() + 10};
              Request first = w.Iallreduce(MPI.IN_PLACE, 0, a, 0, 1, MPI.INT, MPI.SUM);
              Request second = copy.Iallreduce(MPI.IN_PLACE, 0, b, 0, 1, MPI.INT, MPI.SUM);
              second.Wait();
              first.Wait();
              assertThat(a[0]).isEqualTo(3);
              assertThat(b[0]).isEqualTo(33);
              copy.Free();
            });
  }

  @Test
  void startedCollectivesCompleteAlthoughTheirCommunicatorIsFreed() {
    Variant.threads()
        .run(
            3,
            w -> {
              Intracomm copy = w.Dup();
              int[][] sums = new int[20][];
              Request[] all = new Request[sums.length];
              for (int i = 0; i < sums.length; i++) {
                sums[i] = mine(w, 50_000);
                all[i] = copy.Iallreduce(MPI.IN_PLACE, 0, sums[i], 0, 50_000, MPI.INT, MPI.SUM);
              }
              copy.Free();
              for (int i = 0; i < sums.length; i++) {
                all[i].Wait();
                assertThat(sums[i][1]).isEqualTo(3 * 7919 + 3);
              }
            });
  }

  /** Arguments are checked once, by the call that starts it. */
  @Test
  void operationAndDatatypeMayBeFreedWhenACollectiveIsStarted() {
    Variant.threads()
        .run(
            2,
            w -> {
              int[] sum = {w.Rank() + 1, w.Rank() + 2};
              Request barrier = w.Rank() == 0 ? w.Ibarrier() : null;
              Datatype pair = Datatype.Contiguous(2, MPI.INT);
              pair.Commit();
              Op add =
                  new Op(
                      new User_function() {
                        @Override
                        public void Call(
                            Object in, int i, Object inout, int j, int count, Datatype type) {
                          for (int k = 0; k < 2; k++) {
                            ((int[]) inout)[j + k] += ((int[]) in)[i + k];
                          }
                        }
                      },
                      true);
              if (w.Rank() == 1) {
                // Rank 0 has freed both before the barrier lets its reduction begin.
                w.Recv(new byte[0], 0, 0, MPI.BYTE, 0, 0);
                barrier = w.Ibarrier();
              }
              Request request = w.Iallreduce(MPI.IN_PLACE, 0, sum, 0, 1, pair, add);
              add.Free();
              pair.Free();
              if (w.Rank() == 0) {
                w.Send(new byte[0], 0, 0, MPI.BYTE, 1, 0);
              }
              barrier.Wait();
              request.Wait();
              assertThat(sum).containsExactly(3, 5);
            });
  }

  @Test
  void badArgumentsThrowAtOnceAndFailuresWhenWaitedFor() {
    Variant.threads()
        .run(
            2,
            w -> {
              int[] a = new int[4];
              assertThatThrownBy(() -> w.Ibcast(a, 0, 4, MPI.INT, 2))
                  .hasMessageContaining("root 2: 0 to 1 is allowed");
              assertThatThrownBy(() -> w.Iscan(a, 0, a, 2, 4, MPI.INT, MPI.SUM))
                  .hasMessageContaining("the buffer has 4");
              assertThatThrownBy(() -> w.Iallreduce(a, 0, new int[4], 0, 4, MPI.INT, null))
                  .hasMessageContaining("operation is null");
              Op bad =
                  new Op(
                      new User_function() {
                        @Override
                        public void Call(
                            Object in, int i, Object inout, int j, int count, Datatype type) {
                          throw new IllegalArgumentException("thrown on purpose");
                        }
                      },
                      true);
              Request request = w.Iallreduce(a, 0, new int[4], 0, 4, MPI.INT, bad);
              assertThatThrownBy(request::Wait)
                  .isInstanceOf(MPIException.class)
                  .hasMessageContaining("thrown on purpose");
            });
  }
}
