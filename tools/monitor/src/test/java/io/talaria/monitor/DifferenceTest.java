// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.testsupport.Seed;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What counted between two values: by hand, and for random lives of a counter. */
@Timeout(120)
class DifferenceTest {
  private static final Counter DATA = Counter.named(CounterSource.COUNTERS, "port_xmit_data");
  private static final Counter DATA_32 = Counter.named(CounterSource.PMA, "port_xmit_data");
  private static final Counter NET = Counter.named(CounterSource.NET, "tx_bytes");

  @ParameterizedTest
  @CsvSource({
    "COUNTERS, symbol_error, 3, 10, COUNTED, 7",
    "COUNTERS, symbol_error, 10, 3, RESET, 0",
    "COUNTERS, symbol_error, 10, 65535, STUCK, 0",
    "COUNTERS, symbol_error, 65535, 65535, STUCK, 0",
    "COUNTERS, symbol_error, 65535, 0, RESET, 0",
    "COUNTERS, link_downed, 254, 255, STUCK, 0",
    "COUNTERS, local_link_integrity_errors, 1, 15, STUCK, 0",
    "COUNTERS, port_xmit_wait, 1, 4294967295, STUCK, 0",
    "PMA, port_xmit_data, 1, 4294967295, STUCK, 0",
    "COUNTERS, port_xmit_data, 1, 4294967295, COUNTED, 4294967294",
    "COUNTERS, port_xmit_data, 4294967295, 4294967295, STUCK, 0",
    "COUNTERS, port_xmit_data, 4294967295, 4294967296, COUNTED, 1",
    "COUNTERS, port_xmit_data, 5, 18446744073709551615, STUCK, 0",
    "COUNTERS, port_xmit_data, 9223372036854775807, 9223372036854775809, COUNTED, 2",
    "PMA_EXTENDED, port_rcv_data, 18446744073709551614, 18446744073709551615, STUCK, 0",
    "HW_COUNTERS, anything, 7, 6, RESET, 0",
    "NET, tx_bytes, 18446744073709551610, 4, COUNTED, 10",
    "NET, tx_bytes, 4294967290, 4, RESET, 0",
    "NET, tx_bytes, 15307692437261370060, 7252464300, RESET, 0",
    "NET, tx_bytes, 5, 18446744073709551615, COUNTED, 18446744073709551610",
  })
  void isToldByTheRules(
      CounterSource source,
      String name,
      String before,
      String after,
      Change change,
      String amount) {
    assertThat(
            Difference.of(
                Counter.named(source, name),
                Long.parseUnsignedLong(before),
                Long.parseUnsignedLong(after)))
        .isEqualTo(new Difference(change, Long.parseUnsignedLong(amount)));
  }

  /**
   * A port counts as long as it may and stops; now and then somebody resets it. What is told as
   * counted was counted, and never more: a rate above the truth is the error that must not be.
   */
  @Test
  void neverMoreIsToldThanWasCounted() {
    long seed = Seed.next();
    Random random = new Random(seed);
    for (int life = 0; life < 2000; life++) {
      Counter counter =
          switch (random.nextInt(5)) {
            case 0 -> Counter.named(CounterSource.COUNTERS, "symbol_error");
            case 1 -> Counter.named(CounterSource.COUNTERS, "link_downed");
            case 2 -> DATA_32;
            case 3 -> NET;
            default -> DATA;
          };
      int bits =
          counter.bits() == 0
              ? (counter == DATA && random.nextBoolean() ? 32 : 64)
              : counter.bits();
      long maximum = -1L >>> (64 - bits);
      long value = random.nextLong() & maximum;
      for (int step = 0; step < 50; step++) {
        long before = value;
        // Of an interface just before it wraps nobody can tell; it is not reset there.
        boolean mayWrap = counter == NET && before < 0 && before >= -(1L << 44);
        boolean reset = !mayWrap && random.nextInt(8) == 0;
        if (reset) {
          value = 0;
        }
        long more = random.nextLong() >>> random.nextInt(64);
        long room = maximum - value;
        boolean full = Long.compareUnsigned(more, room) >= 0;
        if (counter == NET) {
          more >>>= 20; // nobody counts 2^63 bytes in an interval
          value += more;
        } else {
          value = full ? maximum : value + more;
        }
        long counted = reset ? value : value - before;
        Difference told = Difference.of(counter, before, value);
        String what =
            "seed %d, %s of %d bits: %s to %s"
                .formatted(
                    seed,
                    counter.name(),
                    bits,
                    Long.toUnsignedString(before),
                    Long.toUnsignedString(value));
        if (told.change() == Change.COUNTED) {
          assertThat(Long.compareUnsigned(told.amount(), counted)).as(what).isNotPositive();
        } else {
          assertThat(told.amount()).as(what).isZero();
        }
        if (told.change() == Change.RESET) {
          assertThat(reset).as(what).isTrue();
        }
        if (told.change() == Change.STUCK) {
          assertThat(value).as(what).isEqualTo(maximum);
        }
      }
    }
  }

  @Test
  void theWidthOfTheLinkDoesNotChangeTheUnit() {
    for (String rate :
        new String[] {
          "2.5 Gb/sec (1X SDR)", "50 Gb/sec (2X HDR)", "20 Gb/sec (8X SDR)", "30 Gb/sec (12X SDR)"
        }) {
      assertThat(LinkRate.ofRdma(rate).lanes()).isIn(1, 2, 8, 12);
      assertThat(DATA.factor()).isEqualTo(4);
    }
  }
}
