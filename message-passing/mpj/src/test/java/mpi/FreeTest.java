// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is under way on a communicator completes after it was freed. */
@Timeout(300)
class FreeTest {
  private static final int TAG = 7;

  private static void completes(Request request) {
    long until = System.nanoTime() + 60_000_000_000L;
    while (request.Test() == null) {
      assertThat(System.nanoTime()).as("a request was forgotten").isLessThan(until);
    }
  }

  @Test
  void receivesComplete() {
    Variant.threads()
        .run(
            4,
            w -> {
              Intracomm copy = w.Dup();
              int[][] got = new int[500][1];
              Request[] requests = new Request[got.length];
              if (w.Rank() == 3) {
                // Most often the others are in Free by now. Its barrier has no message from rank 0
                // to this one, so it is over before all messages of rank 0 are read.
                Thread.sleep(300);
              }
              for (int i = 0; i < requests.length; i++) {
                if (w.Rank() == 0) {
                  requests[i] = copy.Isend(new int[] {i}, 0, 1, MPI.INT, 3, TAG);
                } else if (w.Rank() == 3) {
                  requests[i] = copy.Irecv(got[i], 0, 1, MPI.INT, 0, TAG);
                }
              }
              copy.Free();
              for (int i = 0; i < requests.length && requests[i] != null; i++) {
                completes(requests[i]);
                assertThat(got[i][0]).isEqualTo(w.Rank() == 3 ? i : 0);
              }
              w.Barrier();
            });
  }

  @Test
  void aMessageThatAProbeTookCanBeReceived() {
    Variant.threads()
        .run(
            2,
            w -> {
              int[] a = new int[100_000]; // Announced, so that its send waits for the receive.
              Intracomm copy = w.Dup();
              if (w.Rank() == 0) {
                a[a.length - 1] = 5;
                Request send = copy.Isend(a, 0, a.length, MPI.INT, 1, TAG);
                copy.Free();
                completes(send);
              } else {
                Message message = copy.Mprobe(0, TAG);
                copy.Free();
                Status status = message.Recv(a, 0, a.length, MPI.INT);
                assertThat(status.Get_count(MPI.INT)).isEqualTo(a.length);
                assertThat(a[a.length - 1]).isEqualTo(5);
              }
              w.Barrier();
            });
  }

  @Test
  void anyAndSomeAndAllCanBeWaitedForAndTested() {
    Variant.threads()
        .run(
            2,
            w -> {
              int other = 1 - w.Rank();
              int[] got = new int[5];
              Intracomm copy = w.Dup();
              Request[][] each = new Request[5][];
              for (int i = 0; i < each.length; i++) {
                each[i] = new Request[] {copy.Irecv(got, i, 1, MPI.INT, other, i)};
              }
              for (int i = 0; i < each.length; i++) {
                copy.Send(new int[] {i + 1}, 0, 1, MPI.INT, other, i);
              }
              copy.Free(); // What the other rank sent before its barrier has come.
              assertThat(Request.Waitany(each[0]).tag).isZero();
              assertThat(Request.Testany(each[1]).tag).isEqualTo(1);
              assertThat(Request.Waitsome(each[2])).hasSize(1);
              assertThat(Request.Testsome(each[3])).hasSize(1);
              assertThat(Request.Testall(each[4])).hasSize(1);
              assertThat(got).containsExactly(1, 2, 3, 4, 5);
            });
  }

  @Test
  void sendsThatNobodyReceivesCanBeCancelled() {
    Variant.threads()
        .run(
            2,
            w -> {
              int other = 1 - w.Rank();
              Intracomm copy = w.Dup();
              Request[] sends = {
                copy.Issend(new int[1], 0, 1, MPI.INT, other, TAG),
                copy.Isend(new int[100_000], 0, 100_000, MPI.INT, other, TAG),
                copy.Issend(new int[1], 0, 1, MPI.INT, w.Rank(), TAG),
                copy.Issend(new int[1], 0, 1, MPI.INT, w.Rank(), TAG)
              };
              copy.Free();
              for (Request send : sends) {
                send.Cancel();
              }
              assertThat(Request.Waitall(sends)).allMatch(Status::Test_cancelled);
              w.Barrier();
            });
  }

  @Test
  void aReceiveThatIsCancelledLateDisturbsNoOtherCommunicator() {
    Variant.threads()
        .run(
            1,
            w -> {
              Intracomm first = w.Dup();
              Request early = first.Irecv(new int[1], 0, 1, MPI.INT, 0, TAG);
              first.Free();
              Intracomm second = w.Dup();
              assertThat(second.id()).isNotEqualTo(first.id());
              int[] got = new int[1];
              Request receive = second.Irecv(got, 0, 1, MPI.INT, 0, TAG);
              early.Cancel();
              assertThat(early.Wait().Test_cancelled()).isTrue();
              second.Send(new int[] {5}, 0, 1, MPI.INT, 0, TAG);
              completes(receive);
              assertThat(got[0]).isEqualTo(5);
              second.Free();
              // No receive is posted there any more.
              Intracomm third = w.Dup();
              assertThat(third.id()).isEqualTo(first.id());
              third.Free();
            });
  }
}
