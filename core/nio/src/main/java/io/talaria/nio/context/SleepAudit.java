// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.context;

import io.talaria.nio.counters.ProcessCounters;
import io.talaria.nio.doorbell.DoorbellAudit;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.negotiation.NegotiationLoop;
import io.talaria.nio.negotiation.Negotiator;
import io.talaria.nio.transport.Log;
import java.util.concurrent.TimeUnit;

/**
 * Has the negotiation thread look after threads that sleep on doorbells, as long as there are any:
 * every second, and less often while they are the same.
 */
public final class SleepAudit implements NegotiationLoop.Timed {
  private static final int FIRST_MS = 1_000;
  private static final int MAX_MS = 8_000;

  private final DoorbellAudit doorbells;

  // Negotiation thread's.
  private int everyMs = FIRST_MS;
  private long lookedAtNs = System.nanoTime();

  /** Begins to look, on the negotiation thread, when the first falls asleep. */
  static SleepAudit of(Negotiator negotiator) {
    SleepAudit audit = new SleepAudit(negotiator);
    negotiator.loop().add(audit);
    return audit;
  }

  private SleepAudit(Negotiator negotiator) {
    doorbells =
        new DoorbellAudit(
            DoorbellPool.ofProcess(),
            () -> negotiator.execute(this::begin),
            () -> missed(negotiator.counters()));
  }

  /** Where a thread that sleeps on a doorbell says so. */
  public DoorbellAudit doorbells() {
    return doorbells;
  }

  private void begin() {
    lookedAtNs = System.nanoTime();
    everyMs = FIRST_MS;
  }

  private static void missed(ProcessCounters counters) {
    counters.wakeupMissed();
    Log.warning("a thread that slept over news has been woken by a look at it", null);
  }

  @Override
  public int tickMs(long nowNs) {
    return doorbells.resting() ? NegotiationLoop.NO_TICK : everyMs;
  }

  @Override
  public void check(long nowNs) {
    if (!doorbells.resting() && nowNs - lookedAtNs >= TimeUnit.MILLISECONDS.toNanos(everyMs)) {
      lookedAtNs = nowNs;
      int found = doorbells.look();
      everyMs = found == DoorbellAudit.THE_SAME ? Math.min(2 * everyMs, MAX_MS) : FIRST_MS;
    }
  }
}
