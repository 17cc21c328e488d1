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
  private static final int SPINS = 1_000;
  private static final int ENOUGH_LUCK = 800;
  private static final long SLICE_NS = ENOUGH_LUCK * Account.SAVED_NS;
  private static final long BORN_NS = -7_000 * MS; // nanoTime has no beginning

  private final FakeCores cores = new FakeCores();
  private final Spinning spinning = new Spinning(20_000, cores, BORN_NS);

  /** When the process is not young any more. */
  private long nowNs = BORN_NS + Spinning.YOUTH_NS + MS;

  private boolean maySpin() {
    boolean granted = spinning.enter(nowNs);
    if (granted) {
      spinning.leave(0, 0, false, nowNs);
    }
    return granted;
  }

  /** Spins until it is settled, if the thread is the witness: 10 ms of its core. */
  private void spin(long lateNs, int lucky) {
    cores.ranNs += Witness.EVERY_NS;
    for (int i = 0; i < SPINS; i++) {
      assertThat(spinning.enter(nowNs)).as("may spin").isTrue();
      nowNs += Witness.EVERY_NS / SPINS;
      long late = i == SPINS - 1 ? lateNs : 0;
      nowNs += late;
      spinning.leave(Witness.EVERY_NS / SPINS, late, i < lucky, nowNs);
    }
  }

  /** The same after the thread has waited. */
  private void spinWaiting(long waitedNs, int lucky) {
    cores.waitedNs += waitedNs;
    nowNs += waitedNs;
    spin(0, lucky);
  }

  private void becomeWitness() {
    assertThat(maySpin()).isTrue();
  }

  @Test
  void halfTheCoresSpin() {
    assertThat(spinning.enter(nowNs)).isTrue();
    assertThat(spinning.enter(nowNs)).isTrue();
    assertThat(spinning.enter(nowNs)).isFalse();
  }

  @Test
  void nobodySpinsOnAHostOfOneCore() {
    cores.available = 1;
    cores.online = 1;
    assertThat(maySpin()).isFalse();
  }

  @Test
  void nobodySpinsOnOneCoreIfNobodyKnowsOfMore() {
    cores.available = 1;
    cores.online = Cores.UNKNOWN;
    assertThat(maySpin()).isFalse();
  }

  @Test
  void oneSpinsOnOneCoreOfAHostThatHasMore() {
    cores.available = 1;
    assertThat(spinning.enter(nowNs)).isTrue();
    assertThat(spinning.enter(nowNs)).isFalse();
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
    cores.online = 1;
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
  void whoHasItsCoreForItselfGoesOnSpinningInVain() {
    becomeWitness();
    for (int i = 0; i < 100; i++) {
      spinWaiting(0, 0);
    }
  }

  @Test
  void whoHasMoreLuckThanWaitingGoesOnSpinning() {
    becomeWitness();
    for (int i = 0; i < 100; i++) {
      spinWaiting(SLICE_NS, ENOUGH_LUCK);
    }
  }

  @Test
  void nobodySpinsForAWhileAfterWaitingCostMoreThanLuckHasSaved() {
    becomeWitness();
    spinWaiting(2 * SLICE_NS, ENOUGH_LUCK / 2);

    assertThat(maySpin()).isFalse();
    nowNs += Crowding.FIRST_REST_NS - 1;
    assertThat(maySpin()).isFalse();
    nowNs += 1;
    assertThat(maySpin()).isTrue();
  }

  @Test
  void theWhileDoublesUpToALimitAndBeginsAnewWhenSpinningPays() {
    becomeWitness();
    for (long restNs = Crowding.FIRST_REST_NS; restNs < Crowding.MAX_REST_NS; restNs *= 2) {
      assertRest(restNs);
    }
    assertRest(Crowding.MAX_REST_NS);
    assertRest(Crowding.MAX_REST_NS);

    spinWaiting(0, 0);

    becomeWitness(); // settled more rarely now
    spinWaiting(0, 0);
    assertRest(Crowding.FIRST_REST_NS);
  }

  private void assertRest(long restNs) {
    spinWaiting(SLICE_NS, 0);
    nowNs += restNs - 1;
    assertThat(maySpin()).as("1 ns before the end of %d ns", restNs).isFalse();
    nowNs += 1;
    assertThat(maySpin()).as("after %d ns, when a new while begins", restNs).isTrue();
  }

  @Test
  void howLongItWaitedWhileItRestedDoesNotCount() {
    becomeWitness();
    spinWaiting(SLICE_NS, 0);
    cores.waitedNs += 100 * SLICE_NS;
    nowNs += 100 * SLICE_NS;
    becomeWitness();

    spinWaiting(0, 0);

    assertThat(maySpin()).isTrue();
  }

  @Test
  void theTimesAreReadRarelyWhileSpinningPaysAndSoonAfterALateSpin() {
    becomeWitness();
    for (int i = 0; i < 100; i++) {
      spinWaiting(0, 0);
    }
    assertThat(cores.read).isLessThan(15);

    cores.waitedNs += SLICE_NS;
    spin(SLICE_NS, 0);

    assertThat(maySpin()).as("after a loss").isFalse();
  }

  @Test
  void aLateSpinAloneEndsNothing() {
    becomeWitness();
    for (int i = 0; i < 100; i++) {
      spin(SLICE_NS, 0); // as a collector's pause: the scheduler knows of no waiting
      assertThat(maySpin()).isTrue();
    }
  }

  @Test
  void theClockIsBelievedWhereTheSchedulerDoesNotTell() {
    cores.tells = false;
    becomeWitness();
    spin(SLICE_NS, 0);

    assertThat(maySpin()).isFalse();
    nowNs += Crowding.FIRST_REST_NS;
    assertThat(maySpin()).isTrue();
    spin(SLICE_NS, ENOUGH_LUCK);
    assertThat(maySpin()).as("with luck").isTrue();
  }

  @Test
  void timesOfAnotherThreadAreNoProof() {
    becomeWitness();
    cores.waitedNs += 3_600_000 * MS; // those of the thread that carries a virtual one now
    spin(0, 0);
    assertThat(maySpin()).isTrue();
    cores.ranNs = 0;
    cores.waitedNs = 0;
    spin(0, 0);
    assertThat(maySpin()).isTrue();
  }

  @Test
  void aYoungProcessSpinsOnlyIfThereAreCoresForAllWhoRun() {
    nowNs = BORN_NS;
    cores.running = 5;
    assertThat(maySpin()).isFalse();

    nowNs += Spinning.SPARE_FOR_NS;
    cores.running = 4; // this one among them, and its peer
    assertThat(maySpin()).isTrue();

    cores.running = Cores.UNKNOWN;
    nowNs += Spinning.SPARE_FOR_NS;
    assertThat(maySpin()).isFalse();

    cores.running = 5;
    nowNs = BORN_NS + Spinning.YOUTH_NS + 1;
    assertThat(maySpin()).as("once it is grown up").isTrue();
  }

  @Test
  void oneThreadIsTheWitnessUntilItIsSilent() throws Exception {
    becomeWitness();
    onAnotherThread(() -> spinWaiting(SLICE_NS, 0));
    assertThat(cores.read).isEqualTo(1);
    assertThat(maySpin()).as("may spin, for the other thread is no witness").isTrue();

    nowNs += Witness.SILENT_NS + 1;
    onAnotherThread(
        () -> {
          becomeWitness(); // takes over
          spinWaiting(SLICE_NS, 0);
        });

    assertThat(cores.read).as("readings: one to begin with of each, and one after").isEqualTo(3);
    assertThat(maySpin()).isFalse();
  }

  @Test
  void whereTheSchedulerDoesNotTellAnyMoreTheClockIsBelieved() {
    becomeWitness();
    cores.tells = false;
    spinWaiting(SLICE_NS, 0);
    assertThat(maySpin()).isTrue();

    spin(SLICE_NS, 0);

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
