// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A blocking Send or Recv of an array allocates nothing but its Status once it is warm, whether it
 * spins or sleeps; a message under way takes a Request and a Status.
 */
@Timeout(300)
class AllocationTest {
  private static final int WARM = 12_000;
  private static final int MEASURED = 2_000;
  private static final int TRIES = 3;

  /** For three segments. */
  private static final int PIECE_BYTES = 160;

  /** What the measuring itself, or a late compilation, may cost in all. */
  private static final long SLACK_BYTES = 4_000;

  /** Room for a Request, beside the Status. */
  private static final long REQUEST_BYTES = 40;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static Status status;

  /** Messages of one rank, again and again. */
  private interface Rounds {
    void run(int rounds);
  }

  /** Bytes that a Status takes in this JVM. */
  private static long statusBytes() {
    for (int i = 0; i < WARM; i++) {
      status = new Status();
    }
    return least(
            rounds -> {
              for (int i = 0; i < rounds; i++) {
                status = new Status();
              }
            })
        / MEASURED;
  }

  /** What the quietest of some measurements allocates. */
  private static long least(Rounds rounds) {
    long least = Long.MAX_VALUE;
    for (int k = 0; k < 4; k++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      rounds.run(MEASURED);
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  private static void pingPong(Intracomm w, Object buffer, int count, Datatype type, int rounds) {
    for (int i = 0; i < rounds; i++) {
      if (w.Rank() == 0) {
        w.Send(buffer, 0, count, type, 1, 1);
        status = w.Recv(buffer, 0, count, type, 1, 1);
      } else {
        status = w.Recv(buffer, 0, count, type, 0, 1);
        w.Send(buffer, 0, count, type, 0, 1);
      }
    }
  }

  private static void oneStatusARound(Variant variant, Object buffer, int count, Datatype type) {
    oneStatusARound(variant, buffer, count, type, 0);
  }

  private static void oneStatusARound(
      Variant variant, Object buffer, int count, Datatype type, int more) {
    assumeTrue(THREADS.isThreadAllocatedMemorySupported(), "the JVM counts no allocation");
    long each = statusBytes();
    assertThat(each).isBetween(16L, 100L);
    variant.run(
        2,
        w -> {
          long most = (each + more) * MEASURED + SLACK_BYTES;
          long bytes;
          int[] good = new int[1];
          int[] all = new int[1];
          int tries = 0;
          do { // beside other tests the compilers may be late
            pingPong(w, buffer, count, type, WARM);
            bytes = least(rounds -> pingPong(w, buffer, count, type, rounds));
            good[0] = bytes <= most ? 1 : 0;
            w.Allreduce(good, 0, all, 0, 1, MPI.INT, MPI.MIN);
          } while (all[0] == 0 && ++tries < TRIES);
          assertThat(bytes).isBetween(each * MEASURED, most);
        });
  }

  @Test
  void bytesOnSmdev() {
    oneStatusARound(Variant.threads(), new byte[100], 100, MPI.BYTE);
  }

  @Test
  void doublesOnShmdevBetweenRanksThatAlwaysSleep() {
    oneStatusARound(Variant.sharedFiles().spinNs(0), new double[500], 500, MPI.DOUBLE);
  }

  /** A native copy of a piece may make the objects that name its memory, whose kinds vary here. */
  @Test
  void arraysInPieces() {
    int pieces = 4;
    oneStatusARound(Variant.sharedFiles(), new int[20_000], 20_000, MPI.INT, pieces * PIECE_BYTES);
  }

  @Test
  void bytesOnNiodev() {
    oneStatusARound(Variant.nio(), new byte[8], 8, MPI.BYTE);
  }

  /** Sixty-four at a time, and an answer. */
  private static void windows(Intracomm w, byte[] buffer, Request[] requests, int messages) {
    for (int i = 0; i < messages; i += requests.length) {
      for (int k = 0; k < requests.length; k++) {
        requests[k] =
            w.Rank() == 0
                ? w.Isend(buffer, 0, 8, MPI.BYTE, 1, 2)
                : w.Irecv(buffer, 0, 8, MPI.BYTE, 0, 2);
      }
      for (Request request : requests) {
        status = request.Wait();
      }
      if (w.Rank() == 0) {
        status = w.Recv(buffer, 0, 0, MPI.BYTE, 1, 3);
      } else {
        w.Send(buffer, 0, 0, MPI.BYTE, 0, 3);
      }
    }
  }

  @Test
  void requestsTakeThemselvesAndAStatus() {
    assumeTrue(THREADS.isThreadAllocatedMemorySupported(), "the JVM counts no allocation");
    long each = statusBytes() + REQUEST_BYTES;
    Variant.threads()
        .run(
            2,
            w -> {
              byte[] buffer = new byte[8];
              Request[] requests = new Request[64];
              // Both in step, so that a receive is there before its message: what comes early is
              // kept, and takes more.
              long most = each * MEASURED * 65 / 64 + SLACK_BYTES;
              long bytes;
              int[] good = new int[1];
              int[] all = new int[1];
              int tries = 0;
              do { // beside other tests the compilers may be late
                windows(w, buffer, requests, WARM);
                bytes = least(rounds -> windows(w, buffer, requests, rounds));
                good[0] = w.Rank() != 0 || bytes < most ? 1 : 0;
                w.Allreduce(good, 0, all, 0, 1, MPI.INT, MPI.MIN);
              } while (all[0] == 0 && ++tries < TRIES);
              if (w.Rank() == 0) {
                assertThat(bytes).isLessThan(most);
              }
            });
  }
}
