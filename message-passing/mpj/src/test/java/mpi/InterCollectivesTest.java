// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Collectives of inter-communicators, against what MPI says of each. */
@Timeout(300)
class InterCollectivesTest {
  private static final int EACH = 700;

  /** One side of an inter-communicator of the lower ranks and the others. */
  private static final class Side {
    private final InterCalls calls;
    private final boolean low;
    private final int me;
    private final int mine;
    private final int theirs;

    Side(Intercomm inter, boolean low, InterCalls.Way way) {
      calls = new InterCalls(inter, way);
      this.low = low;
      me = inter.Rank();
      mine = inter.Size();
      theirs = inter.Remote_size();
    }

    /** Element i that a rank of a side has for the one with a number. */
    private static int value(boolean low, int rank, int to, int i) {
      return (low ? 1_000_000 : 2_000_000) + rank * 10_000 + to * 1000 + i;
    }

    private int own(int to, int i) {
      return value(low, me, to, i);
    }

    private int other(int rank, int to, int i) {
      return value(!low, rank, to, i);
    }

    private int root(boolean fromLow, int root) {
      return fromLow != low ? root : me == root ? MPI.ROOT : MPI.PROC_NULL;
    }

    void rooted(boolean fromLow, int root) {
      int at = root(fromLow, root);
      boolean isRoot = at == MPI.ROOT;
      boolean there = at >= 0;
      int[] a = new int[EACH + 1];
      if (isRoot) {
        Arrays.setAll(a, i -> own(0, i));
      }
      calls.bcast(a, 1, EACH, MPI.INT, at);
      for (int i = 1; i <= EACH; i++) {
        assertThat(a[i]).isEqualTo(there ? other(root, 0, i) : isRoot ? own(0, i) : 0);
      }
      // The root is sent elements by the other side, and deals out to it.
      int[] out = new int[EACH];
      Arrays.setAll(out, i -> own(0, i));
      int[] in = isRoot ? new int[theirs * EACH] : null;
      calls.gather(there ? out : null, 0, EACH, MPI.INT, in, 0, EACH, MPI.INT, at);
      if (isRoot) {
        for (int k = 0; k < theirs * EACH; k++) {
          assertThat(in[k]).isEqualTo(other(k / EACH, 0, k % EACH));
        }
      }
      int[] counts = new int[theirs];
      int[] places = new int[theirs];
      Arrays.setAll(counts, i -> i + 1);
      Arrays.setAll(places, i -> (theirs - 1 - i) * EACH);
      if (isRoot) {
        Arrays.fill(in, -1);
      }
      calls.gatherv(out, 0, me + 1, MPI.INT, in, 0, counts, places, MPI.INT, at);
      if (isRoot) {
        for (int k = 0; k < theirs; k++) {
          for (int i = 0; i <= k; i++) {
            assertThat(in[places[k] + i]).isEqualTo(other(k, 0, i));
          }
          assertThat(in[places[k] + k + 1]).isEqualTo(-1);
        }
      }
      int[] parts = new int[theirs * EACH];
      Arrays.setAll(parts, k -> own(k / EACH, k % EACH));
      int[] part = new int[EACH];
      calls.scatter(parts, 0, EACH, MPI.INT, part, 0, EACH, MPI.INT, at);
      for (int i = 0; i < EACH; i++) {
        assertThat(part[i]).isEqualTo(there ? other(root, me, i) : 0);
      }
      Arrays.fill(part, 0);
      calls.scatterv(parts, 0, counts, places, MPI.INT, part, 0, me + 1, MPI.INT, at);
      for (int i = 0; there && i <= me; i++) {
        int k = (mine - 1 - me) * EACH + i;
        assertThat(part[i]).isEqualTo(other(root, k / EACH, k % EACH));
      }
      int[] sum = new int[EACH];
      calls.reduce(out, 0, sum, 0, EACH, MPI.INT, MPI.SUM, at);
      for (int i = 0; i < EACH; i++) {
        assertThat(sum[i]).isEqualTo(isRoot ? sum(i) : 0);
      }
    }

    /** The sum of an element of the other side. */
    private int sum(int i) {
      int sum = 0;
      for (int k = 0; k < theirs; k++) {
        sum += other(k, 0, i);
      }
      return sum;
    }

    void both() {
      int[] out = new int[EACH];
      Arrays.setAll(out, i -> own(0, i));
      int[] in = new int[theirs * EACH];
      calls.barrier();
      calls.allgather(out, 0, EACH, MPI.INT, in, 0, EACH, MPI.INT);
      for (int k = 0; k < in.length; k++) {
        assertThat(in[k]).isEqualTo(other(k / EACH, 0, k % EACH));
      }
      int[] parts = new int[theirs * EACH];
      Arrays.setAll(parts, k -> own(k / EACH, k % EACH));
      calls.alltoall(parts, 0, EACH, MPI.INT, in, 0, EACH, MPI.INT);
      for (int k = 0; k < in.length; k++) {
        assertThat(in[k]).isEqualTo(other(k / EACH, me, k % EACH));
      }
      int[] counts = new int[theirs];
      int[] places = new int[theirs];
      Arrays.setAll(counts, i -> i + 1);
      Arrays.setAll(places, i -> i * EACH);
      Arrays.fill(in, -1);
      calls.allgatherv(out, 0, me + 1, MPI.INT, in, 0, counts, places, MPI.INT);
      for (int k = 0; k < theirs; k++) {
        for (int i = 0; i < EACH; i++) {
          assertThat(in[k * EACH + i]).isEqualTo(i <= k ? other(k, 0, i) : -1);
        }
      }
      int[] sent = new int[theirs];
      Arrays.setAll(sent, i -> i + me);
      Arrays.setAll(counts, i -> i + me);
      Arrays.fill(in, -1);
      calls.alltoallv(parts, 0, sent, places, MPI.INT, in, 0, counts, places, MPI.INT);
      for (int k = 0; k < theirs; k++) {
        for (int i = 0; i < EACH; i++) {
          assertThat(in[k * EACH + i]).isEqualTo(i < k + me ? other(k, me, i) : -1);
        }
      }
      int[] sum = new int[EACH];
      calls.allreduce(out, 0, sum, 0, EACH, MPI.INT, MPI.SUM);
      for (int i = 0; i < EACH; i++) {
        assertThat(sum[i]).isEqualTo(sum(i));
      }
      // As many elements on both sides.
      int[] shares = new int[mine];
      Arrays.setAll(shares, i -> theirs);
      int[] share = new int[theirs];
      calls.reduceScatter(out, 0, share, 0, shares, MPI.INT, MPI.SUM);
      for (int i = 0; i < theirs; i++) {
        assertThat(share[i]).isEqualTo(sum(me * theirs + i));
      }
      Object[] words = new Object[theirs];
      calls.allgather(new Object[] {"" + own(0, 0)}, 0, 1, MPI.OBJECT, words, 0, 1, MPI.OBJECT);
      for (int k = 0; k < theirs; k++) {
        assertThat(words[k]).isEqualTo("" + other(k, 0, 0));
      }
    }
  }

  private static void all(Intracomm w) {
    int n = w.Size();
    for (int lows = 1; lows < n; lows++) {
      boolean low = w.Rank() < lows;
      Intracomm half = w.Split(low ? 0 : 1, 0);
      int lowLeader = (lows - 1) / 2;
      int highLeader = (n - lows) / 2;
      Intercomm inter =
          w.Create_intercomm(
              half, low ? lowLeader : highLeader, low ? lows + highLeader : lowLeader, 3);
      for (InterCalls.Way way : InterCalls.Way.values()) {
        Side side = new Side(inter, low, way);
        for (int root = 0; root < lows; root++) {
          side.rooted(true, root);
        }
        side.both();
        for (int root = 0; root < n - lows; root++) {
          side.rooted(false, root);
        }
      }
      assertThatThrownBy(() -> inter.Bcast(new int[1], 0, 1, MPI.INT, 99))
          .isInstanceOfSatisfying(
              MPIException.class, e -> assertThat(e.errorClass()).isEqualTo(MPIException.ERR_ROOT));
      // Messages of the program in between meet none of a collective.
      if (inter.Rank() == 0) {
        int[] got = new int[1];
        Request receive = inter.Irecv(got, 0, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
        inter.Barrier();
        inter.Send(new int[] {5}, 0, 1, MPI.INT, 0, 9);
        receive.Wait();
        assertThat(got[0]).isEqualTo(5);
      } else {
        inter.Barrier();
      }
      severalUnderWay(inter, low);
      inter.Free();
      half.Free();
    }
  }

  /** Collectives that are started together are done in that order, whatever else goes on. */
  private static void severalUnderWay(Intercomm inter, boolean low) {
    int root = low ? (inter.Rank() == 0 ? MPI.ROOT : MPI.PROC_NULL) : 0;
    int[] sent = {inter.Rank() == 0 && low ? 17 : 0};
    int[] mine = {inter.Rank() + 1};
    int[] sum = new int[1];
    int[] all = new int[inter.Remote_size()];
    Prequest again = inter.Allreduce_init(mine, 0, sum, 0, 1, MPI.INT, MPI.SUM);
    Request[] requests = {
      inter.Ibcast(sent, 0, 1, MPI.INT, root),
      inter.Iallgather(mine, 0, 1, MPI.INT, all, 0, 1, MPI.INT),
      again,
      inter.Ibarrier()
    };
    again.Start();
    int[] blocking = new int[inter.Remote_size()];
    inter.Allgather(mine, 0, 1, MPI.INT, blocking, 0, 1, MPI.INT);
    assertThatThrownBy(requests[1]::Cancel)
        .hasMessage("Cancel of a collective that was started: wait for it");
    for (int i = requests.length - 1; i >= 0; i--) {
      requests[i].Wait();
    }
    int n = inter.Remote_size();
    int[] expected = new int[n];
    Arrays.setAll(expected, i -> i + 1);
    assertThat(all).isEqualTo(expected);
    assertThat(blocking).isEqualTo(expected);
    assertThat(sum[0]).isEqualTo(n * (n + 1) / 2);
    assertThat(sent[0]).isEqualTo(low && inter.Rank() > 0 ? 0 : 17);
  }

  @Test
  void smdev() {
    for (int ranks : new int[] {2, 3, 5}) {
      Variant.threads().run(ranks, InterCollectivesTest::all);
    }
  }

  @Test
  void shmdevWithTheSmallestRings() {
    Variant.sharedFiles().with("ring", 4096).spinNs(0).run(4, InterCollectivesTest::all);
  }

  @Test
  void niodev() {
    Variant.nio().run(3, InterCollectivesTest::all);
  }

  @Test
  void ucxdev() {
    Variant.ucx().run(3, InterCollectivesTest::all);
  }

  @Test
  void autoOnTwoHosts() {
    Variant.auto().run(4, InterCollectivesTest::all);
  }

  @Test
  void ranksThatDisagreeAreNamed() {
    Variant.threads()
        .run(
            2,
            w -> {
              Intracomm self = w.Split(w.Rank(), 0);
              Intercomm inter = w.Create_intercomm(self, 0, 1 - w.Rank(), 3);
              int[] a = new int[1];
              assertThatThrownBy(
                      () -> {
                        if (w.Rank() == 0) {
                          inter.Allgather(a, 0, 1, MPI.INT, new int[1], 0, 1, MPI.INT);
                        } else {
                          inter.Alltoall(a, 0, 1, MPI.INT, new int[1], 0, 1, MPI.INT);
                        }
                      })
                  .hasMessageStartingWith("ranks disagree: rank 0 is in ")
                  .hasMessageContaining(", rank 0 of the other group in ");
            });
  }
}
