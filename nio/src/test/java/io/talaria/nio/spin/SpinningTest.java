// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may spin, by what the system says about the cores. Time is a number here. */
@Timeout(30)
class SpinningTest {
  private static final long MS = 1_000_000;
  private static final long BORN_NS = -7_000 * MS; // nanoTime has no beginning

  private final FakeCores cores = new FakeCores();
  private final Spinning spinning = new Spinning(20_000, cores, BORN_NS);

  /** When the process is not young any more. */
  private long nowNs = BORN_NS + Spinning.YOUTH_NS + MS;

  private boolean maySpin() {
    boolean granted = spinning.enter(nowNs);
    if (granted) {
      spinning.leave(0, false, nowNs);
    }
    return granted;
  }

  /** A spin after which the scheduler is asked, if the thread is the witness. */
  private void spin(boolean late) {
    assertThat(spinning.enter(nowNs)).as("may spin").isTrue();
    nowNs += Witness.EVERY_NS;
    spinning.leave(Witness.EVERY_NS, late, nowNs);
  }

  private void spinWaiting(int percent) {
    cores.waitedNs += percent * MS;
    cores.ranNs += (100 - percent) * MS;
    spin(false);
  }

  @Test
  void halfTheCoresSpin() {
    assertThat(spinning.enter(nowNs)).isTrue();
    assertThat(spinning.enter(nowNs)).isTrue();
    assertThat(spinning.enter(nowNs)).isFalse();
  }

  @Test
  void nobodySpinsOnOneCore() {
    cores.available = 1;
    assertThat(maySpin()).isFalse();
  }

  @Test
  void oneSpinsOnTwoCoresAndOnThree() {
    for (int available = 2; available <= 3; available++) {
      Spinning own = new Spinning(20_000, cores, BORN_NS);
      cores.available = available;
      assertThat(own.enter(nowNs)).isTrue();
      assertThat(own.enter(nowNs)).isFalse();
    }
  }

  @Test
  void coresThatAreTakenAwayAreNoticedWithinASecondAndNotCountedOften() {
    assertThat(maySpin()).isTrue();
    cores.available = 1;
    for (int i = 0; i < 1_000; i++) {
      maySpin();
    }
    assertThat(cores.counted).isEqualTo(1);

    nowNs += Spinning.COUNT_EVERY_NS;

    assertThat(maySpin()).isFalse();
    cores.available = 2;
    nowNs += Spinning.COUNT_EVERY_NS;
    assertThat(maySpin()).isTrue();
  }

  @Test
  void whoHasItsCoreForItselfGoesOnSpinning() {
    spin(false); // becomes the witness
    for (int i = 0; i < 100; i++) {
      spinWaiting(Witness.MOST_WAITED_PERCENT);
    }
  }

  @Test
  void nobodySpinsForAWhileAfterASpinnerHadToWait() {
    spin(false);
    spinWaiting(50);

    assertThat(maySpin()).isFalse();
    nowNs += Crowding.AFTER_PROOF_NS - 1;
    assertThat(maySpin()).isFalse();
    nowNs += 1;
    assertThat(maySpin()).isTrue();
  }

  @Test
  void theWhileDoublesUpToALimitAndBeginsAnewWhenTheRivalIsGone() {
    spin(false);
    for (long restNs = Crowding.AFTER_PROOF_NS; restNs < Crowding.MOST_NS; restNs *= 2) {
      assertRest(restNs);
    }
    assertRest(Crowding.MOST_NS);
    assertRest(Crowding.MOST_NS);

    spinWaiting(0);
    spinWaiting(50); // it is read more rarely now

    assertRest(Crowding.AFTER_PROOF_NS);
  }

  private void assertRest(long restNs) {
    spinWaiting(50);
    nowNs += restNs - 1;
    assertThat(maySpin()).as("1 ns before the end of %d ns", restNs).isFalse();
    nowNs += 1;
    assertThat(maySpin()).as("after %d ns", restNs).isTrue();
  }

  @Test
  void aLateSpinEndsSpinningForAMillisecond() {
    spin(false);
    spin(true);

    assertThat(maySpin()).isFalse();
    nowNs += Crowding.AFTER_LATENESS_NS;
    assertThat(maySpin()).isTrue();
  }

  @Test
  void theTimesAreReadRarelyWhileNothingIsTheMatterAndAtOnceAfterALateSpin() {
    spin(false);
    for (int i = 0; i < 100; i++) {
      spinWaiting(0);
    }
    assertThat(cores.read).isLessThan(15);

    spinWaiting(0);
    cores.waitedNs += 1_000 * MS;
    spin(true);

    nowNs += Crowding.AFTER_LATENESS_NS;
    assertThat(maySpin()).as("after a proof").isFalse();
  }

  @Test
  void aLateSpinIsProofWhereTheSchedulerDoesNotTell() {
    cores.tells = false;
    spin(false);
    spin(true);

    nowNs += Crowding.AFTER_LATENESS_NS;
    assertThat(maySpin()).isFalse();
    nowNs += Crowding.AFTER_PROOF_NS;
    assertThat(maySpin()).isTrue();
  }

  @Test
  void aYoungProcessSpinsOnlyIfACoreIsIdle() {
    nowNs = BORN_NS;
    cores.running = 4;
    assertThat(maySpin()).isFalse();

    nowNs += Spinning.SPARE_FOR_NS;
    cores.running = 3;
    assertThat(maySpin()).isTrue();

    cores.running = Cores.UNKNOWN;
    nowNs += Spinning.SPARE_FOR_NS;
    assertThat(maySpin()).isFalse();

    cores.running = 4;
    nowNs = BORN_NS + Spinning.YOUTH_NS + 1;
    assertThat(maySpin()).as("once it is grown up").isTrue();
  }

  @Test
  void oneThreadIsTheWitnessUntilItIsSilent() throws Exception {
    spin(false);
    cores.waitedNs += 100 * MS;
    onAnotherThread(() -> spin(false));
    assertThat(cores.read).isEqualTo(1);
    assertThat(maySpin()).as("may spin, for the other thread is no witness").isTrue();

    nowNs += Witness.SILENT_NS + 1;
    onAnotherThread(
        () -> {
          spin(false); // takes over
          spinWaiting(50);
        });

    assertThat(cores.read).as("readings: one to begin with of each, and one after").isEqualTo(3);
    assertThat(maySpin()).isFalse();
  }

  @Test
  void whereTheSchedulerDoesNotTellAnyMoreTheClockIsBelieved() {
    spin(false);
    cores.tells = false;
    spinWaiting(50);
    assertThat(maySpin()).isTrue();

    spin(true);

    nowNs += Crowding.AFTER_LATENESS_NS;
    assertThat(maySpin()).isFalse();
  }

  private static void onAnotherThread(Runnable work) throws Exception {
    Throwable[] failure = new Throwable[1];
    Thread thread = new Thread(work, "another");
    thread.setUncaughtExceptionHandler((t, e) -> failure[0] = e);
    thread.start();
    thread.join(TimeUnit.SECONDS.toMillis(20));
    assertThat(failure[0]).isNull();
    assertThat(thread.isAlive()).isFalse();
  }
}
