// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import java.util.concurrent.atomic.LongAdder;

/** Counts the events of a node, for {@link io.talaria.messaging.NodeCounters}. Any thread. */
public final class Counts {
  private final LongAdder connected = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final LongAdder stalled = new LongAdder();

  public void connected() {
    connected.increment();
  }

  public void lost() {
    lost.increment();
  }

  public void received() {
    received.increment();
  }

  public void dropped() {
    dropped.increment();
  }

  public void failed() {
    failed.increment();
  }

  public void late() {
    late.increment();
  }

  public void unanswered() {
    unanswered.increment();
  }

  public void stalled() {
    stalled.increment();
  }

  public long stalledSum() {
    return stalled.sum();
  }

  public long unansweredSum() {
    return unanswered.sum();
  }

  public long connectedSum() {
    return connected.sum();
  }

  public long lostSum() {
    return lost.sum();
  }

  public long receivedSum() {
    return received.sum();
  }

  public long droppedSum() {
    return dropped.sum();
  }

  public long failedSum() {
    return failed.sum();
  }

  public long lateSum() {
    return late.sum();
  }
}
