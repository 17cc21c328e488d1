// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** {@code mpirun -check}: ranks that disagree about a collective get an exception, all of them. */
@Timeout(120)
class CheckTest {
  private static Variant checked() {
    return Variant.threads().with("check", true);
  }

  /** What ranks call, by their number. */
  private static Map<String, Variant.Body> disagreements() {
    int[] a = new int[12];
    int[] b = new int[12];
    Map<String, Variant.Body> all = new LinkedHashMap<>();
    all.put(
        "rank 0 calls Bcast of 4 INT, root 0, rank 1 calls Reduce of 4 INT by SUM, root 0",
        w -> {
          if (w.Rank() == 1) {
            w.Reduce(a, 0, b, 0, 4, MPI.INT, MPI.SUM, 0);
          } else {
            w.Bcast(b, 0, 4, MPI.INT, 0);
          }
        });
    all.put(
        "rank 0 calls Bcast of 4 INT, root 0, rank 2 calls Bcast of 4 INT, root 2",
        w -> w.Bcast(b, 0, 4, MPI.INT, w.Rank() == 2 ? 2 : 0));
    all.put(
        "rank 0 calls Allreduce of 3 INT by MAX, rank 1 calls Allreduce of 4 INT by MAX",
        w -> w.Allreduce(a, 0, new int[12], 0, w.Rank() == 0 ? 3 : 4, MPI.INT, MPI.MAX));
    all.put(
        "rank 0 calls Scan of 2 INT by SUM, rank 1 calls Scan of 2 INT by PROD",
        w -> w.Scan(a, 0, new int[12], 0, 2, MPI.INT, w.Rank() == 0 ? MPI.SUM : MPI.PROD));
    all.put(
        "rank 0 calls Allgather of 2 INT, rank 2 calls Allgather of 2 FLOAT",
        w -> {
          if (w.Rank() == 2) {
            w.Allgather(new float[2], 0, 2, MPI.FLOAT, new float[6], 0, 2, MPI.FLOAT);
          } else {
            w.Allgather(a, 0, 2, MPI.INT, new int[6], 0, 2, MPI.INT);
          }
        });
    all.put(
        "rank 0 calls Barrier, rank 1 calls Gather of 1 INT, root 1",
        w -> {
          if (w.Rank() == 0) {
            w.Barrier();
          } else {
            w.Gather(a, 0, 1, MPI.INT, new int[3], 0, 1, MPI.INT, 1);
          }
        });
    all.put(
        "rank 0 calls Alltoall of 1 INT, rank 1 calls Reduce_scatter of 3 INT by SUM",
        w -> {
          if (w.Rank() == 0) {
            w.Alltoall(a, 0, 1, MPI.INT, new int[3], 0, 1, MPI.INT);
          } else {
            w.Reduce_scatter(a, 0, new int[1], 0, new int[] {1, 1, 1}, MPI.INT, MPI.SUM);
          }
        });
    all.put(
        "rank 0 calls Scatter of 2 INT, root 0, rank 1 calls Scatter of 3 INT, root 0",
        w -> w.Scatter(a, 0, 2, MPI.INT, new int[3], 0, w.Rank() == 0 ? 2 : 3, MPI.INT, 0));
    all.put(
        "rank 0 calls what makes a communicator, rank 1 calls Barrier",
        w -> {
          if (w.Rank() == 0) {
            w.Dup();
          } else {
            w.Barrier();
          }
        });
    return all;
  }

  @TestFactory
  Stream<DynamicTest> everyDisagreementIsNamedAtEveryRank() {
    return disagreements().entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.getKey(),
                    () ->
                        checked()
                            .run(
                                3,
                                w -> {
                                  for (int i = 0; i < 3; i++) {
                                    assertThatThrownBy(() -> each.getValue().run(w))
                                        .isInstanceOf(MPIException.class)
                                        .hasMessage("ranks disagree: " + each.getKey());
                                  }
                                  // The communicator can be used as before.
                                  w.Barrier();
                                })));
  }

  @Test
  void ranksThatAgreeAreLeftAlone() {
    checked()
        .run(
            4,
            w -> {
              int n = w.Size();
              int me = w.Rank();
              int[] a = new int[40];
              Datatype pair = Datatype.Contiguous(2, MPI.INT);
              pair.Commit();
              for (int i = 0; i < 20; i++) {
                w.Barrier();
                // One gives pairs, the others single elements: the same data.
                if (me == 0) {
                  w.Bcast(a, 0, 2, pair, 0);
                } else {
                  w.Bcast(a, 0, 4, MPI.INT, 0);
                }
                w.Gather(
                    me == 1 ? MPI.IN_PLACE : a, 0, 3, MPI.INT, new int[3 * n], 0, 3, MPI.INT, 1);
                w.Scatter(new int[n], 0, 1, MPI.INT, me == 2 ? MPI.IN_PLACE : a, 0, 1, MPI.INT, 2);
                w.Allgather(
                    me == 0 ? MPI.IN_PLACE : a, 0, 2, MPI.INT, new int[2 * n], 0, 2, MPI.INT);
                int[] counts = {1, 2, 3, 4};
                int[] places = {0, 1, 3, 6};
                w.Allgatherv(a, 0, counts[me], MPI.INT, new int[10], 0, counts, places, MPI.INT);
                w.Gatherv(a, 0, counts[me], MPI.INT, new int[10], 0, counts, places, MPI.INT, 0);
                w.Scatterv(new int[10], 0, counts, places, MPI.INT, a, 0, counts[me], MPI.INT, 3);
                w.Allreduce(MPI.IN_PLACE, 0, a, 0, 5, MPI.INT, MPI.BOR);
                w.Reduce(a, 0, new int[5], 0, 5, MPI.INT, MPI.SUM, i % n);
                w.Exscan(a, 0, new int[5], 0, 5, MPI.INT, MPI.SUM);
                Intracomm half = w.Split(me % 2, me);
                half.Barrier();
                half.Free();
              }
            });
  }
}
