// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.concurrent.atomic.LongAdder;

/** Counts the events of a node, for {@link io.talaria.messaging.NodeCounters}. Any thread. */
final class Counts {
  private final LongAdder connected = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder late = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final LongAdder stalled = new LongAdder();

  void connected() {
    connected.increment();
  }

  void lost() {
    lost.increment();
  }

  void received() {
    received.increment();
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
    return received.sum();
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
