// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Programs made up by a seed, on every device: each outcome must be one that MPI's rules allow. The
 * seed is another one in each run; it is part of a test's name, and {@code -Dtalaria.test.seed}
 * sets the first.
 */
class RandomProgramsTest {
  static final int ROUNDS = Integer.getInteger("talaria.test.rounds", 150);
  private static final int PROGRAMS = 10;

  /** Rings and buffers so small that messages of the middle size do not fit. */
  static final int SMALL = 4_096;

  static Stream<DynamicTest> on(String name, int jobs, Variant variant) {
    long first = Seed.next();
    return IntStream.range(0, Math.max(1, jobs))
        .mapToObj(
            job -> {
              long seed = first + (long) job * PROGRAMS;
              int ranks = 2 + (int) (seed / PROGRAMS % 5);
              return DynamicTest.dynamicTest(
                  name + ", seed " + seed + ", " + ranks + " ranks",
                  () -> run(seed, ranks, variant));
            });
  }

  private static void run(long seed, int ranks, Variant variant) {
    variant.run(
        ranks,
        w -> {
          Intracomm other = w.Dup();
          for (int i = 0; i < PROGRAMS; i++) {
            new RandomProgram(seed + i, w, other).run();
          }
          other.Free();
        });
  }

  @TestFactory
  Stream<DynamicTest> smdev() {
    return on("smdev", ROUNDS / 5, Variant.threads());
  }

  @TestFactory
  Stream<DynamicTest> smdevWithTheSmallestRingsAndLittleCredit() {
    Variant variant = Variant.threads().with("ring", SMALL).with("credit", 500).spinNs(0);
    return on("smdev, small", ROUNDS / 5, variant);
  }

  @TestFactory
  Stream<DynamicTest> shmdev() {
    return on("shmdev", ROUNDS / 10, Variant.sharedFiles());
  }

  @TestFactory
  Stream<DynamicTest> niodev() {
    return on("niodev", ROUNDS / 10, Variant.nio().with("buffer", SMALL).with("credit", 3_000));
  }

  @TestFactory
  Stream<DynamicTest> ucxdev() {
    return on("ucxdev", ROUNDS / 30, Variant.ucx().with("buffer", SMALL).with("credit", 3_000));
  }

  @TestFactory
  Stream<DynamicTest> autoOnTwoHosts() {
    return on("auto", ROUNDS / 10, Variant.auto());
  }

  @TestFactory
  Stream<DynamicTest> autoWithUcxBetweenTwoHosts() {
    return on("auto with ucxdev", ROUNDS / 30, Variant.autoWithUcx());
  }

  private static void took(Receives receives, int source, int tag, int from, int number, int with) {
    receives.post(source, tag).took(new Receives.Sent(from, number), with);
  }

  @Test
  void theJudgeAllowsWhatArrivalsExplain() {
    Receives receives = new Receives();
    took(receives, MPI.ANY_SOURCE, 1, 0, 1, 1);
    took(receives, MPI.ANY_SOURCE, MPI.ANY_TAG, 1, 0, 2);
    took(receives, 0, MPI.ANY_TAG, 0, 0, 2);
    receives.post(1, 7);
    assertThat(receives.objection(new int[] {2, 1})).isNull();
    Receives others = new Receives();
    took(others, MPI.ANY_SOURCE, 1, 0, 1, 1);
    took(others, MPI.ANY_SOURCE, MPI.ANY_TAG, 0, 0, 2);
    took(others, 1, MPI.ANY_TAG, 1, 0, 2);
    others.post(1, 7);
    assertThat(others.objection(new int[] {2, 1})).isNull();
  }

  @Test
  void theJudgeSeesOvertakingOfOneSource() {
    Receives receives = new Receives();
    took(receives, 0, MPI.ANY_TAG, 0, 1, 1);
    took(receives, 0, MPI.ANY_TAG, 0, 0, 1);
    assertThat(receives.objection(new int[] {2})).contains("no order of arrivals");
  }

  @Test
  void theJudgeSeesACircleThroughTwoSources() {
    Receives receives = new Receives();
    took(receives, MPI.ANY_SOURCE, 1, 0, 1, 1);
    took(receives, MPI.ANY_SOURCE, 2, 1, 1, 2);
    took(receives, MPI.ANY_SOURCE, 1, 1, 0, 1);
    took(receives, MPI.ANY_SOURCE, 2, 0, 0, 2);
    // 0's second was first of tag 1, 1's second first of tag 2; then each one's first was late.
    assertThat(receives.objection(new int[] {2, 2})).contains("no order of arrivals");
  }

  @Test
  void theJudgeSeesWhatIsMissingTwiceOrUnwanted() {
    Receives passed = new Receives();
    passed.post(MPI.ANY_SOURCE, 1);
    took(passed, 0, MPI.ANY_TAG, 0, 0, 1);
    assertThat(passed.objection(new int[] {1})).contains("was posted first");
    Receives twice = new Receives();
    took(twice, 0, 1, 0, 0, 1);
    took(twice, 0, 1, 0, 0, 1);
    assertThat(twice.objection(new int[] {1})).contains("received twice");
    Receives unwanted = new Receives();
    took(unwanted, 0, 1, 0, 0, 2);
    assertThat(unwanted.objection(new int[] {1})).contains("did not want");
    assertThat(new Receives().objection(new int[] {1})).contains("was not received");
    Receives invented = new Receives();
    took(invented, 0, 1, 0, 0, 1);
    assertThat(invented.objection(new int[] {0})).contains("nobody has sent");
  }
}
