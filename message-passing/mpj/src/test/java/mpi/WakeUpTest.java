// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * No wake-up is lost between ranks that always sleep: neither for a frame, nor for space in a ring.
 * A lost one costs half a second each and is counted; see {@code RingWriter} for the interleavings.
 */
class WakeUpTest {
  @BeforeAll
  static void theyAreCounted() {
    assertThat(System.getProperty("talaria.mpj.diagnose")).as("set by pom.xml").isEqualTo("true");
  }

  @Test
  @Timeout(120)
  void noWakeUpIsLostForFrames() {
    frames(Variant.threads().spinNs(0));
  }

  /** Just before it sleeps, a rank is often between two yields. */
  @Test
  @Timeout(120)
  void noWakeUpIsLostBehindYields() {
    frames(Variant.threads().yieldNs(2000));
  }

  private static void frames(Variant variant) {
    variant.run(
        2,
        w -> {
          int other = 1 - w.Rank();
          int[] a = new int[1];
          for (int i = 0; i < 20_000; i++) {
            if (w.Rank() == 0) {
              w.Send(a, 0, 1, MPI.INT, other, 0);
              w.Recv(a, 0, 1, MPI.INT, other, 0);
            } else {
              w.Recv(a, 0, 1, MPI.INT, other, 0);
              w.Send(a, 0, 1, MPI.INT, other, 0);
            }
          }
        });
    assertThat(variant.lateWakeUps()).isZero();
  }

  @Test
  @Timeout(120)
  void noWakeUpIsLostForSpace() {
    Variant variant = Variant.threads().spinNs(0).with("ring", 4096).with("credit", 1 << 30);
    variant.run(
        2,
        w -> {
          int other = 1 - w.Rank();
          byte[] a = new byte[100_000];
          for (int i = 0; i < 300; i++) {
            int size = 100 + i * 331 % a.length;
            if (w.Rank() == 0) {
              w.Send(a, 0, size, MPI.BYTE, other, 0);
              w.Send(a, 0, size % 1000, MPI.BYTE, other, 0);
            } else {
              w.Recv(a, 0, size, MPI.BYTE, other, 0);
              w.Recv(a, 0, size, MPI.BYTE, other, 0);
            }
          }
        });
    assertThat(variant.lateWakeUps()).isZero();
  }

  @Test
  @Timeout(120)
  void noWakeUpIsLostAmongManyRanksAndThreads() {
    Variant variant = Variant.sharedFiles().spinNs(0);
    variant.run(
        6,
        w -> {
          Thread[] threads = new Thread[2];
          for (int t = 0; t < threads.length; t++) {
            int tag = t;
            threads[t] =
                new Thread(
                    () -> {
                      int[] a = new int[1];
                      int n = w.Size();
                      for (int i = 0; i < 1000; i++) {
                        w.Sendrecv(
                            new int[1],
                            0,
                            1,
                            MPI.INT,
                            (w.Rank() + 1) % n,
                            tag,
                            a,
                            0,
                            1,
                            MPI.INT,
                            (w.Rank() + n - 1) % n,
                            tag);
                      }
                    });
            threads[t].start();
          }
          for (Thread thread : threads) {
            thread.join();
          }
        });
    assertThat(variant.lateWakeUps()).isZero();
  }
}
