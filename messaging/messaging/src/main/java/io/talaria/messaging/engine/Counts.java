// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/** Counts the events of a node, for {@link io.talaria.messaging.NodeCounters}. Any thread. */
final class Counts {
  private static final VarHandle RECEIVED_INLINE;

  static {
    try {
      RECEIVED_INLINE =
          MethodHandles.lookup().findVarHandle(Counts.class, "receivedInline", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final LongAdder connected = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final LongAdder stalled = new LongAdder();

  /** Written by the poller only, so that a count is a store and no atomic addition. */
  private long receivedInline;

  void connected() {
    connected.increment();
  }

  void lost() {
    lost.increment();
  }

  void received() {
    received.increment();
  }

  /** Of a message that the poller delivers itself, which is frequent. Poller only. */
  void receivedInline() {
    RECEIVED_INLINE.setOpaque(this, receivedInline + 1);
  }

  void dropped() {
    dropped.increment();
  }

  void failed() {
    failed.increment();
  }

  void late() {
    late.increment();
  }

  void unanswered() {
    unanswered.increment();
  }

  void stalled() {
    stalled.increment();
  }

  long stalledSum() {
    return stalled.sum();
  }

  long unansweredSum() {
    return unanswered.sum();
  }

  long connectedSum() {
    return connected.sum();
  }

  long lostSum() {
    return lost.sum();
  }

  long receivedSum() {
    return received.sum() + (long) RECEIVED_INLINE.getOpaque(this);
  }

  long droppedSum() {
    return dropped.sum();
  }

  long failedSum() {
    return failed.sum();
  }

  long lateSum() {
    return late.sum();
  }
}
