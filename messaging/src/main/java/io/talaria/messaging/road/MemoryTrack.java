// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.road;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.MemorySegment;

/** A way through memory: who receives reads the rings into which the sender writes. */
abstract class MemoryTrack extends Track {
  private final RingProducer[] out = new RingProducer[Lane.COUNT];
  private final RingConsumer[] in = new RingConsumer[Lane.COUNT];

  /** Makes the ends of a lane; by the constructors, for each. */
  final void ends(int lane, MemorySegment outMemory, MemorySegment inMemory, int capacity) {
    out[lane] = new RingProducer(outMemory, capacity);
    in[lane] = new RingConsumer(inMemory, capacity);
  }

  /** Tells threads at the other end that wait for room, or for what was taken. */
  abstract void wakeSenders();

  @Override
  public final RingProducer out(int lane) {
    return out[lane];
  }

  @Override
  public final Inlet in(int lane) {
    return in[lane];
  }

  @Override
  public final boolean push() {
    return false;
  }

  @Override
  public final void published(int lane) {
    if (in[lane].mustWake()) {
      wakeSenders();
    }
  }

  @Override
  public final void arm(int lane) {
    in[lane].arm();
  }

  @Override
  public final void disarm(int lane) {
    in[lane].disarm();
  }

  /** What was marked before the end of the other side is there: marks come before the end. */
  @Override
  public final boolean over() {
    return severed() || (in[Lane.BULK].ended() && in[Lane.EXPRESS].ended());
  }
}
