// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SpinnerTest {
  private static final long SPIN_NS = 20_000;
  private static final long WINDOW_NS = 1L << Spinner.WINDOW_SHIFT;

  /** Within a window that is nobody's trial, and one that is everybody's. */
  private static final long ORDINARY_NS = WINDOW_NS + 17;

  private static final long TRIAL_NS = (1L << Spinning.LAST_TRIALS) * WINDOW_NS + 17;

  private final Spinner spinner = new Spinner(new Spinning(SPIN_NS));

  @Test
  void spinsForTheConfiguredTimeWhileItHasLuck() {
    for (int i = 0; i < 1_000; i++) {
      spinner.unlucky(1);
      spinner.lucky();
    }

    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);
    assertThat(spinner.limitNs(TRIAL_NS)).isEqualTo(SPIN_NS);
  }

  @Test
  void oneSpinWithLuckInSixIsEnough() {
    for (int i = 0; i < 1_000; i++) {
      unlucky(Spinner.REWARD);
      spinner.lucky();
    }

    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);
  }

  @Test
  void givesUpAfterSpinsInVain() {
    unlucky(Spinner.MAX_LUCK - 1);
    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);

    unlucky(1);
    assertThat(spinner.limitNs(ORDINARY_NS)).isZero();
  }

  @Test
  void givesUpSoonerWhereItIsInTheWay() {
    for (int i = 0; i < Spinner.MAX_LUCK / Spinner.PENALTY; i++) {
      spinner.unlucky(Spinner.PENALTY);
    }

    assertThat(spinner.limitNs(ORDINARY_NS)).isZero();
  }

  @Test
  void triesAgainFromTimeToTimeAndLonger() {
    unlucky(Spinner.MAX_LUCK);

    assertThat(spinner.limitNs(TRIAL_NS)).isEqualTo(Spinner.TRIAL_SPINS * SPIN_NS);
    assertThat(trials()).isEqualTo(1 << (Spinning.LAST_TRIALS - Spinner.FIRST_TRIALS));
  }

  @Test
  void triesEverMoreRarelyWhileTrialsFail() {
    unlucky(Spinner.MAX_LUCK + Spinner.PATIENCE);
    assertThat(trials()).isEqualTo(1 << (Spinning.LAST_TRIALS - Spinner.FIRST_TRIALS - 1));

    unlucky(1_000_000);
    assertThat(trials()).isOne();
    assertThat(spinner.limitNs(TRIAL_NS)).isPositive();
  }

  @Test
  void twoThatSleepMeetInTheTrialsOfTheMorePatient() {
    Spinner other = new Spinner(new Spinning(SPIN_NS));
    unlucky(Spinner.MAX_LUCK);
    for (int i = 0; i < 1_000; i++) {
      other.unlucky(1);
    }

    assertThat(windows().filter(now -> other.limitNs(now) != 0))
        .isNotEmpty()
        .allMatch(now -> spinner.limitNs(now) != 0);
  }

  @Test
  void oneTrialWithLuckAndItSpinsAgain() {
    unlucky(1_000);

    spinner.lucky();

    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);
  }

  @Test
  void aTalkThatWasInterruptedIsResumedByLongerSpins() {
    talk(Spinner.TALK);
    spinner.unlucky(Spinner.PENALTY);

    for (int i = 0; i < Spinner.RESUMING_SPINS; i++) {
      assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(Spinner.TRIAL_SPINS * SPIN_NS);
      spinner.unlucky(1);
    }
    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);
  }

  @Test
  void aFewSpinsWithLuckAreNoTalk() {
    talk(Spinner.TALK - 1);
    spinner.unlucky(1);

    assertThat(spinner.limitNs(ORDINARY_NS)).isEqualTo(SPIN_NS);
  }

  private void talk(int spins) {
    for (int i = 0; i < spins; i++) {
      spinner.lucky();
    }
  }

  @Test
  void whoHasOneCoreOnlyTriesMoreRarely() {
    FakeCores cores = new FakeCores();
    cores.available = 1;
    Spinner single = new Spinner(new Spinning(SPIN_NS, cores, System.nanoTime()));
    assertThat(single.start()).isTrue();
    single.stop(false);
    for (int i = 0; i < 1_000; i++) {
      single.unlucky(1);
    }

    assertThat(single.limitNs(TRIAL_NS)).isZero();
    assertThat(single.limitNs((1L << Spinning.LAST_TRIALS_OF_ONE_CORE) * WINDOW_NS)).isPositive();
  }

  @Test
  void onlySoManySpinAtATime() {
    FakeCores cores = new FakeCores();
    Spinning shared = new Spinning(SPIN_NS, cores, System.nanoTime());
    Spinner[] spinning = new Spinner[cores.available / 2];
    for (int i = 0; i < spinning.length; i++) {
      spinning[i] = new Spinner(shared);
      assertThat(spinning[i].start()).isTrue();
    }
    Spinner waiting = new Spinner(shared);
    assertThat(waiting.start()).isFalse();

    spinning[0].stop(false);

    assertThat(waiting.start()).isTrue();
  }

  @Test
  void nobodySpinsIfToldSo() {
    Spinner forbidden = new Spinner(new Spinning(0));

    assertThat(forbidden.start()).isFalse();
    assertThat(forbidden.limitNs(TRIAL_NS)).isZero();
  }

  private void unlucky(int times) {
    for (int i = 0; i < times; i++) {
      spinner.unlucky(1);
    }
  }

  private long trials() {
    return windows().filter(now -> spinner.limitNs(now) != 0).count();
  }

  /** A time in each window of a whole round. */
  private static LongStream windows() {
    return LongStream.range(0, 1L << Spinning.LAST_TRIALS).map(i -> i * WINDOW_NS + 17);
  }
}
