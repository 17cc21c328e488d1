// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/** Counts the events of a node, for {@link io.talaria.messaging.NodeCounters}. Any thread. */
public final class Counts {
  private static final VarHandle RECEIVED_ON_POLLER;

  static {
    try {
      RECEIVED_ON_POLLER =
          MethodHandles.lookup().findVarHandle(Counts.class, "receivedOnPoller", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final LongAdder connected = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder received = new LongAdder();
  private long receivedOnPoller;
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

  /** A message that a handler or a virtual thread takes. */
  public void received() {
    received.increment();
  }

  /** A message that the poller takes. Poller only. */
  public void receivedOnPoller() {
    RECEIVED_ON_POLLER.setOpaque(this, receivedOnPoller + 1); // one writer: no atomic instruction
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
    return received.sum() + (long) RECEIVED_ON_POLLER.getOpaque(this);
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
