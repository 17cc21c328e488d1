// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Transports;
import io.talaria.nio.Reason;
import io.talaria.nio.counters.file.ProcessTotals;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code talaria.upgrade.after} between two processes: it is the client's alone. */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class UpgradeAfterTest {
  @RegisterExtension final Lab lab = new Lab();

  @Test
  void aConnectionIsAcceleratedOnceItHasCarriedEnough() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.clientSpec().property("talaria.upgrade.after", 4);
    exchange.serverSpec().property("talaria.upgrade.after", 1_000_000);
    exchange.run().expectTransport().end();
  }

  @Test
  void oneThatCarriesLessStaysAsItIsAndCostsNobodyAnything() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.clientSpec().property("talaria.upgrade.after", 1_000_000);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NOT_EARNED);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.again();
    ProcessTotals totals = Transports.totals(exchange.client());
    assertThat(totals.offersMade()).isZero();
    assertThat(totals.sessionsOpened()).isZero();
    assertThat(Transports.totals(exchange.server()).offersReceived()).isZero();
    exchange.end();
  }
}
