// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What must not grow, and what must be bounded, where much is asked for. */
@Timeout(600)
class EnduranceTest {
  private static long entries(String directory) throws IOException {
    try (var files = Files.list(Path.of(directory))) {
      return files.count();
    }
  }

  private static long mappings() throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.count();
    }
  }

  private static void job(Variant variant) {
    variant.run(
        2,
        w -> {
          int other = 1 - w.Rank();
          int[] got = new int[20_000];
          w.Sendrecv(
              new int[20_000], 0, 20_000, MPI.INT, other, 1, got, 0, 20_000, MPI.INT, other, 1);
          w.Dup().Free();
        });
  }

  /** The mappings of a heap and of threads come and go; what a job leaves would be hundreds. */
  private static void leavesNothing(Variant variant, int jobs) throws IOException {
    for (int i = 0; i < 20; i++) {
      job(variant);
    }
    long descriptors = entries("/proc/self/fd");
    long mappings = mappings();
    for (int i = 0; i < jobs; i++) {
      job(variant);
    }
    assertThat(entries("/proc/self/fd")).isLessThan(descriptors + 20);
    assertThat(mappings()).isLessThan(mappings + 100);
  }

  @Test
  void jobsOfThreadsLeaveNothing() throws Exception {
    leavesNothing(Variant.threads(), 300);
  }

  @Test
  void jobsWithSharedFilesLeaveNothing() throws Exception {
    leavesNothing(Variant.sharedFiles(), 200);
  }

  @Test
  void jobsWithConnectionsLeaveNothing() throws Exception {
    leavesNothing(Variant.nio(), 100);
  }

  /**
   * What the receiver of a flood holds, when it has received the last message first; bytes of heap.
   * The sender's own are there before.
   */
  private static long heldByTheReceiver(int messages, int words) {
    long[] taken = new long[1];
    CountDownLatch sent = new CountDownLatch(1);
    Variant.threads()
        .run(
            2,
            w -> {
              if (w.Rank() == 1) {
                Request[] requests = new Request[messages];
                int[] data = new int[words];
                for (int i = 0; i < messages; i++) {
                  requests[i] = w.Isend(data, 0, words, MPI.INT, 0, i);
                }
                sent.countDown();
                Request.Waitall(requests);
              } else {
                sent.await();
                long before = used();
                int[] got = new int[words];
                w.Recv(got, 0, words, MPI.INT, 1, messages - 1);
                taken[0] = used() - before;
                for (int i = 0; i < messages - 1; i++) {
                  w.Recv(got, 0, words, MPI.INT, 1, i);
                }
              }
            });
    return taken[0];
  }

  private static long used() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** Payload within the credit, which is 1 MiB; less than 100 bytes for each message beside. */
  @Tag("long")
  @Test
  void aMillionMessagesThatNobodyReceivesAreBounded() {
    int messages = 1_000_000;
    // The sender numbers what it has announced, in a table that doubles: 16 bytes a place.
    long numbers = 16L << 20;
    long early = 4L << 20;
    assertThat(heldByTheReceiver(messages, 4)).isLessThan(messages * 100L + numbers + early);
  }

  @Tag("long")
  @Test
  void communicatorsAreMadeAndFreedAHundredThousandTimesByThreads() {
    int threads = 4;
    int each = 25_000;
    Variant.threads()
        .run(
            2,
            w -> {
              Intracomm[] parents = new Intracomm[threads];
              for (int i = 0; i < threads; i++) {
                parents[i] = w.Dup();
              }
              Thread[] running = new Thread[threads];
              AtomicInteger made = new AtomicInteger();
              for (int t = 0; t < threads; t++) {
                Intracomm parent = parents[t];
                running[t] =
                    new Thread(
                        () -> {
                          for (int i = 0; i < each; i++) {
                            parent.Dup().Free();
                            made.incrementAndGet();
                          }
                        });
                running[t].start();
              }
              for (Thread thread : running) {
                thread.join();
              }
              assertThat(made.get()).isEqualTo(threads * each);
              for (Intracomm parent : parents) {
                parent.Free();
              }
            });
  }

  @Test
  void sixtyFourMebibytesCrossInBothDirections() {
    int size = 16 << 20;
    Variant.threads()
        .run(
            2,
            w -> {
              int other = 1 - w.Rank();
              int[] out = new int[size];
              Arrays.fill(out, w.Rank() + 1);
              int[] in = new int[size];
              Request receive = w.Irecv(in, 0, size, MPI.INT, other, 1);
              w.Send(out, 0, size, MPI.INT, other, 1);
              receive.Wait();
              assertThat(in[0]).isEqualTo(other + 1);
              assertThat(in[size - 1]).isEqualTo(other + 1);
            });
  }

  @Test
  void aThousandVirtualThreadsWait() {
    Variant.threads().run(2, w -> Contract.virtualThreads(w, 1000));
  }
}
