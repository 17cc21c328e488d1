// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rates of readings that come one after the other. */
@Timeout(60)
class RatesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Counter SENT = Counter.named(CounterSource.COUNTERS, "port_xmit_data");
  private static final Counter ERRORS = Counter.named(CounterSource.COUNTERS, "symbol_error");

  private static Port port(String rate) {
    return new Port(
        PortId.local("mlx5_0", 1),
        LinkLayer.INFINIBAND,
        PortState.ACTIVE,
        "LinkUp",
        1,
        LinkRate.ofRdma(rate),
        "",
        "",
        List.of(),
        false);
  }

  private static Reading reading(String rate, long atNs, long sent, long errors) {
    return new Reading(
        port(rate),
        List.of(SENT, ERRORS),
        new long[] {sent, errors},
        new boolean[] {true, true},
        new long[] {atNs, atNs});
  }

  @Test
  void theFirstReadingGivesNoRate() {
    Rates rates = new RateTracker().update(reading("", 0, 5, 1));

    assertThat(rates.change(0)).isEqualTo(Change.UNKNOWN);
    assertThat(rates.perSecond(0)).isNegative();
    assertThat(rates.perSecond(CounterKind.DATA, Traffic.SENT)).isNegative();
  }

  @Test
  void bytesASecondAreFourTimesTheWordsWhateverTheLanes() {
    for (String rate :
        new String[] {
          "2.5 Gb/sec (1X SDR)", "50 Gb/sec (2X HDR)", "20 Gb/sec (8X SDR)", "30 Gb/sec (12X SDR)"
        }) {
      RateTracker tracker = new RateTracker();
      tracker.update(reading(rate, 0, 1000, 0));
      Rates rates = tracker.update(reading(rate, 2 * SECOND, 3000, 5));

      assertThat(rates.perSecond(CounterKind.DATA, Traffic.SENT)).isEqualTo(4000);
      assertThat(rates.amount(0)).isEqualTo(8000);
      assertThat(rates.sum(CounterKind.ERRORS)).isEqualTo(5);
    }
  }

  @Test
  void aResetGivesNoRateForOneIntervalAndANewBase() {
    RateTracker tracker = new RateTracker();
    tracker.update(reading("", 0, 1000, 0));
    assertThat(tracker.update(reading("", SECOND, 10, 0)).change(0)).isEqualTo(Change.RESET);
    assertThat(tracker.update(reading("", 2 * SECOND, 20, 0)).perSecond(0)).isEqualTo(40);
  }

  @Test
  void aCounterAtItsMaximumIsStuckUntilItIsReset() {
    RateTracker tracker = new RateTracker();
    tracker.update(reading("", 0, 0, 65534));
    Rates stuck = tracker.update(reading("", SECOND, 0, 65535));
    assertThat(stuck.change(1)).isEqualTo(Change.STUCK);
    assertThat(stuck.perSecond(1)).isNegative();
    assertThat(stuck.reading().stuck(1)).isTrue();
    assertThat(tracker.update(reading("", 2 * SECOND, 0, 0)).change(1)).isEqualTo(Change.RESET);
    assertThat(tracker.update(reading("", 3 * SECOND, 0, 2)).perSecond(1)).isEqualTo(2);
  }

  @Test
  void aCounterThatCouldNotBeReadHasNoRate() {
    RateTracker tracker = new RateTracker();
    tracker.update(reading("", 0, 1, 1));
    Reading gone =
        new Reading(
            port(""),
            List.of(SENT, ERRORS),
            new long[] {0, 1},
            new boolean[] {false, true},
            new long[] {SECOND, SECOND});
    assertThat(tracker.update(gone).change(0)).isEqualTo(Change.UNKNOWN);
    assertThat(tracker.update(reading("", 2 * SECOND, 100, 1)).change(0)).isEqualTo(Change.UNKNOWN);
  }

  @Test
  void aPortThatWentAwayBeginsAnew() {
    RateTracker tracker = new RateTracker();
    tracker.update(List.of(reading("", 0, 1, 1)));
    tracker.update(List.of());
    assertThat(tracker.update(List.of(reading("", SECOND, 9, 1))).get(0).change(0))
        .isEqualTo(Change.UNKNOWN);
  }

  @Test
  void noRateIsEverNegativeOrNoNumber() {
    long seed = Seed.next();
    Random random = new Random(seed);
    RateTracker tracker = new RateTracker();
    long atNs = 0;
    for (int i = 0; i < 20_000; i++) {
      atNs += random.nextInt(3) * (long) random.nextInt(1_000_000_000);
      Rates rates =
          tracker.update(
              reading("", atNs, random.nextLong() >>> random.nextInt(64), random.nextInt(1 << 16)));
      for (int c = 0; c < 2; c++) {
        double rate = rates.perSecond(c);
        assertThat(Double.isFinite(rate)).as("seed %d: %s", seed, rate).isTrue();
        assertThat(rate >= 0 || rate == -1).as("seed %d: %s", seed, rate).isTrue();
        assertThat(rate >= 0).isEqualTo(rates.change(c) == Change.COUNTED);
      }
    }
  }
}
