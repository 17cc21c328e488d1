// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that continue after a rank has failed: {@code -on-failure notify}. */
@Timeout(180)
class NotifyTest {
  private static final String PROGRAM = Survive.class.getName();

  private static Launched run(int ranks, String device, String... rest) throws Exception {
    List<String> words = new ArrayList<>(List.of("-np", "" + ranks, "-dev", device));
    words.addAll(List.of("-on-failure", "notify", "-timeout", "90", "-XX:TieredStopAtLevel=1"));
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), PROGRAM));
    words.addAll(List.of(rest));
    return Launched.run(words.toArray(new String[0]));
  }

  @ParameterizedTest
  @CsvSource({
    "shm, halt, ended with status 9",
    "shm, throw, ended with status 1",
    "shm, exit, ended without MPI.Finalize",
    "nio, halt, ended with status 9"
  })
  void theOthersContinue(String device, String how, String said) throws Exception {
    String[] program = {"one", how, "keeps"};
    // A connection that is reset drops what has arrived.
    Launched job = run(4, device, Arrays.copyOf(program, device.equals("shm") ? 3 : 2));
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.err()).contains("talaria mpirun: rank 1 (pid ").contains(said);
    assertThat(job.out())
        .contains("rank 0 continued")
        .contains("rank 2 continued")
        .contains("rank 3 continued")
        .doesNotContain("rank 1 continued");
    assertThat(job.left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "nio"})
  void anInterCommunicatorShrinksAndAgrees(String device) throws Exception {
    Launched job = run(6, device, "inter");
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder("rank 0 continued", "rank 2 continued", "rank 4 continued");
    assertThat(job.left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "nio"})
  void windowsAreRevokedAloneAndWithTheirCommunicator(String device) throws Exception {
    Launched job = run(5, device, "windows");
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.out().lines())
        .containsExactlyInAnyOrder(
            "rank 0 continued", "rank 2 continued", "rank 3 continued", "rank 4 continued");
    assertThat(job.left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "nio"})
  void aTestOfAWindowTellsThatAnOriginHasFailed(String device) throws Exception {
    Launched job = run(3, device, "test-window");
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.out().lines()).containsExactlyInAnyOrder("rank 0 continued", "rank 2 continued");
    assertThat(job.left()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "nio"})
  void ranksThatAreKilledAtAnyMoment(String device) throws Exception {
    long seed = Seed.next();
    Launched job = run(5, device, "storm", "" + seed);
    assertThat(job.status()).as("seed " + seed + "\n" + job.out() + job.err()).isZero();
    assertThat(job.out().lines().filter(line -> line.endsWith(" is left"))).hasSize(2);
    assertThat(job.left()).isEmpty();
  }

  @Test
  void bufferedMessagesToARankThatFailsHoldUpNeitherTheirBufferNorFinalize() throws Exception {
    Launched job = run(3, "shm", "buffered");
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.err()).contains("rank 1 (pid ").doesNotContain("rank 0 (pid ");
    assertThat(job.left()).isEmpty();
  }

  @Test
  void aJobThatARankStartsDoesNotContinueUnlessItIsTold() throws Exception {
    Launched job =
        Launched.startByNotifiedRank(
                "-np", "2", "-timeout", "60", Programs.class.getName(), "revoke")
            .ended();
    assertThat(job.out()).contains("Revoke: the job ends with the first rank that fails");
    assertThat(job.status()).as(job.err()).isZero();
  }

  @Test
  void ifAllFailTheJobHasFailed() throws Exception {
    Launched job = run(2, "shm", "all");
    assertThat(job.status()).isIn(10, 11);
  }

  @Test
  void devicesThatCannotDoItAreRefused() throws Exception {
    for (String device : new String[] {"sm", "ucx"}) {
      Launched job = run(2, device, "all");
      assertThat(job.status()).isEqualTo(2);
      assertThat(job.err()).contains("-on-failure notify is for -dev auto, shm, nio and ibv: ");
    }
  }

  @Test
  void withoutItTheJobEndsAndCallsThatNeedItSaySo() throws Exception {
    Launched job =
        Launched.run(
            "-np",
            "3",
            "-cp",
            System.getProperty("java.class.path"),
            Programs.class.getName(),
            "revoke");
    assertThat(job.status()).as(job.out() + job.err()).isZero();
    assertThat(job.out())
        .contains("Revoke: the job ends with the first rank that fails; see mpirun -on-failure");
  }
}
