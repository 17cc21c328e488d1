// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.spin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Figures as measured: a slice of the scheduler's is some 4 ms, a round trip 0.4 µs. */
class AccountTest {
  private static final long MS = 1_000_000;
  private static final long SLICE_NS = 4 * MS;

  /** Round trips of a pair that talks without sleeping, in 4 ms of its cores. */
  private static final long TALKED = 10_000;

  private final Account account = new Account();

  @Test
  void waitingWithoutLuckDoesNotPay() {
    assertThat(account.pays(0, SLICE_NS, SLICE_NS, SLICE_NS)).isFalse();
  }

  @Test
  void spinningInVainOnCoresOfOnesOwnCostsNothing() {
    assertThat(account.pays(0, 10 * MS, 20 * MS, 0)).isTrue();
  }

  @Test
  void aTalkPaysThoughHalfTheTimeIsSomebodyElses() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(account.pays(TALKED, SLICE_NS / 2, SLICE_NS, SLICE_NS)).isTrue();
    }
  }

  @Test
  void someLuckDoesNotPayForAllTheWaiting() {
    assertThat(account.pays(20, MS, 3 * MS, SLICE_NS)).isFalse();
  }

  @Test
  void onlyTheShareThatWasSpentSpinningIsToBlame() {
    long lucky = SLICE_NS / 10 / Account.SAVED_NS;
    assertThat(account.pays(lucky, SLICE_NS / 10, SLICE_NS, SLICE_NS)).as("a tenth").isTrue();
    assertThat(account.pays(lucky, SLICE_NS / 5, SLICE_NS, SLICE_NS)).as("a fifth").isFalse();
  }

  @Test
  void moreSpinningThanRunningIsToBlameForNoMoreThanAllTheWaiting() {
    long lucky = SLICE_NS / Account.SAVED_NS;
    assertThat(account.pays(lucky, SLICE_NS, SLICE_NS / 2, SLICE_NS)).isTrue();
    assertThat(account.pays(lucky, SLICE_NS, 0, SLICE_NS)).isTrue();
    assertThat(account.pays(0, SLICE_NS, SLICE_NS / 2, 1)).isFalse();
  }

  @Test
  void goodTimesCoverSomeSlicesAndNoMore() {
    account.pays(1_000 * TALKED, 1_000 * MS, 1_000 * MS, 0);

    assertThat(account.pays(0, MS, MS, Account.MAX_NS)).isTrue();
    assertThat(account.pays(0, MS, MS, 1)).isFalse();
  }

  @Test
  void aLossIsForgottenOnceItIsTold() {
    assertThat(account.pays(0, MS, MS, 1_000 * MS)).isFalse();
    assertThat(account.pays(0, MS, MS, 0)).isTrue();
  }
}
