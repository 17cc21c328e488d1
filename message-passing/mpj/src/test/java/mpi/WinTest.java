// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.testsupport.Seed;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Windows on every device, on ranks that are threads. */
class WinTest {
  private static final int ROUNDS = Integer.getInteger("talaria.test.rounds", 150);
  private static final int PROGRAMS = 5;

  private static Variant smallest(Variant variant) {
    return variant.with("buffer", 4096).with("credit", 3000);
  }

  private static Stream<DynamicTest> on(String name, int ranks, Variant variant) {
    Stream<DynamicTest> contract =
        WinContract.all().entrySet().stream()
            .map(
                behaviour ->
                    DynamicTest.dynamicTest(
                        behaviour.getKey() + " (" + name + ", " + ranks + " ranks)",
                        () -> variant.run(ranks, behaviour.getValue())));
    Stream<DynamicTest> here =
        Stream.of(
            DynamicTest.dynamicTest(
                "a target that computes is accessed (" + name + ")",
                () -> targetThatComputes(ranks, variant)),
            DynamicTest.dynamicTest(
                "an interrupt is kept (" + name + ")",
                () -> variant.run(ranks, WinTest::interrupted)));
    return Stream.of(contract, here, random(name, variant)).flatMap(s -> s);
  }

  private static Stream<DynamicTest> random(String name, Variant variant) {
    long first = Seed.next();
    return IntStream.range(0, Math.max(1, ROUNDS / 30))
        .mapToObj(
            job -> {
              long seed = first + (long) job * PROGRAMS;
              int ranks = 1 + (int) (seed / PROGRAMS % 5);
              return DynamicTest.dynamicTest(
                  "random accesses (" + name + ", seed " + seed + ", " + ranks + " ranks)",
                  () -> variant.run(ranks, w -> WinContract.random(w, seed, PROGRAMS)));
            });
  }

  /** Rank 0 calls nothing of MPI until the others have accessed its window. */
  private static void targetThatComputes(int ranks, Variant variant) {
    for (boolean created : new boolean[] {true, false}) {
      CountDownLatch accessed = new CountDownLatch(ranks - 1);
      variant.run(
          ranks,
          w -> {
            int[] memory = new int[2];
            Win window =
                created ? Win.Create(memory, 0, 2, MPI.INT, w) : Win.Allocate(2, MPI.INT, w);
            if (w.Rank() == 0) {
              accessed.await();
            } else {
              int[] old = new int[2];
              window.Lock(MPI.LOCK_EXCLUSIVE, 0, 0);
              window.Get(old, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
              window.Flush(0);
              old[0]++;
              window.Put(old, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
              window.Fetch_and_op(new int[] {1}, 0, old, 0, MPI.INT, 0, 1, MPI.SUM);
              window.Unlock(0);
              accessed.countDown();
            }
            w.Barrier();
            int[] got = new int[2];
            window.Lock(MPI.LOCK_SHARED, 0, 0);
            window.Get(got, 0, 2, MPI.INT, 0, 0, 2, MPI.INT);
            window.Unlock(0);
            assertThat(got).containsExactly(ranks - 1, ranks - 1);
            window.Free();
          });
    }
  }

  private static void interrupted(Intracomm w) {
    for (Win window :
        new Win[] {Win.Create(new int[1], 0, 1, MPI.INT, w), Win.Allocate(1, MPI.INT, w)}) {
      Thread.currentThread().interrupt();
      int[] old = new int[1];
      for (int i = 0; i < 10; i++) {
        window.Lock(MPI.LOCK_EXCLUSIVE, 0, 0);
        window.Fetch_and_op(new int[] {1}, 0, old, 0, MPI.INT, 0, 0, MPI.SUM);
        window.Unlock(0);
      }
      window.Fence(0);
      window.Get(old, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
      window.Fence(0);
      window.Free();
      assertThat(Thread.interrupted()).isTrue();
      assertThat(old[0]).isEqualTo(10 * w.Size());
    }
  }

  @Test
  void windowsThatAreTooLargeTogetherAreRefusedAtAllRanks() {
    Variant.threads()
        .run(
            2,
            w -> {
              assertThatThrownBy(() -> Win.Allocate(Long.MAX_VALUE / 2, MPI.BYTE, w))
                  .isInstanceOf(MPIException.class)
                  .hasMessageContaining("rank 0 cannot make or map the memory of its host");
              w.Barrier();
            });
  }

  @TestFactory
  Stream<DynamicTest> smdev() {
    return on("smdev", 5, Variant.threads().spinNs(0));
  }

  @TestFactory
  Stream<DynamicTest> smdevWithTheSmallestRingsAndNoCredit() {
    return on("smdev, small", 2, Variant.threads().with("ring", 4096).with("credit", 0));
  }

  @TestFactory
  Stream<DynamicTest> shmdev() {
    return on("shmdev", 3, Variant.sharedFiles());
  }

  @TestFactory
  Stream<DynamicTest> niodev() {
    return on("niodev", 3, smallest(Variant.nio()));
  }

  @TestFactory
  Stream<DynamicTest> ucxdev() {
    return on("ucxdev", 2, smallest(Variant.ucx()));
  }

  @TestFactory
  Stream<DynamicTest> autoOnTwoHosts() {
    return on("auto", 5, Variant.auto());
  }

  @TestFactory
  Stream<DynamicTest> autoWithUcxBetweenTwoHosts() {
    return on("auto with ucxdev", 3, Variant.autoWithUcx());
  }
}
