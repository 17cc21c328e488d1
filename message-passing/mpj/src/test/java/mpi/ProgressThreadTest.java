// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages to ranks that compute, with a thread that makes progress for them. */
@Timeout(120)
class ProgressThreadTest {
  private static final int LENGTH = 300_000;

  /** The receivers call nothing of MPI between Irecv and the end of the sends. */
  private static void receiversThatCompute(Variant variant, int ranks) {
    CountDownLatch posted = new CountDownLatch(ranks - 1);
    CountDownLatch sent = new CountDownLatch(1);
    variant
        .with("progress", 50)
        .run(
            ranks,
            w -> {
              if (w.Rank() == 0) {
                assertThat(posted.await(60, TimeUnit.SECONDS)).isTrue();
                int[] numbers = new int[LENGTH];
                Arrays.setAll(numbers, i -> i);
                for (int to = 1; to < ranks; to++) {
                  w.Ssend(numbers, 0, LENGTH, MPI.INT, to, 5);
                  w.Ssend(numbers, 7, 1, MPI.INT, to, 6);
                }
                sent.countDown();
                return;
              }
              int[] got = new int[LENGTH];
              int[] one = new int[1];
              Request large = w.Irecv(got, 0, LENGTH, MPI.INT, 0, 5);
              Request small = w.Irecv(one, 0, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
              posted.countDown();
              assertThat(sent.await(60, TimeUnit.SECONDS)).as("sent while this computes").isTrue();
              assertThat(Request.Waitall(new Request[] {large, small})[1].tag).isEqualTo(6);
              for (int i = 0; i < LENGTH; i++) {
                assertThat(got[i]).isEqualTo(i);
              }
              assertThat(one[0]).isEqualTo(7);
            });
  }

  @Test
  void smdev() {
    receiversThatCompute(Variant.threads(), 3);
  }

  @Test
  void shmdev() {
    receiversThatCompute(Variant.sharedFiles().spinNs(0), 4);
  }

  @Test
  void niodev() {
    receiversThatCompute(Variant.nio(), 3);
  }

  @Test
  void collectivesAndMessagesGoOnAsWithoutIt() {
    Variant.sharedFiles()
        .with("progress", 1)
        .spinNs(0)
        .run(
            3,
            w -> {
              for (int i = 0; i < 300; i++) {
                int[] sum = new int[1];
                w.Allreduce(new int[] {w.Rank() + i}, 0, sum, 0, 1, MPI.INT, MPI.SUM);
                assertThat(sum[0]).isEqualTo(3 + 3 * i);
              }
            });
  }
}
