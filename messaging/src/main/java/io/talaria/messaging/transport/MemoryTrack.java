// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.MemorySegment;

/**
 * A way through memory: who receives reads the rings into which the sender writes. They are small
 * at first; {@link #grow} makes a larger one, which goes on where the one before ends.
 */
abstract class MemoryTrack extends Track {
  /** One lane, one direction each. */
  private static final class Way {
    final int lane;
    final int most;

    /** Guarded by this, as changes of {@link #out}. */
    int outGeneration;

    volatile RingProducer out;

    /** The one there was ends, and the next one is not known yet. */
    volatile boolean growing;

    /** There is no memory for a larger one. */
    volatile boolean grown;

    // Of whoever reads.
    int inGeneration;
    volatile RingConsumer in;

    Way(int lane, int most) {
      this.lane = lane;
      this.most = most;
    }

    int outCapacity(int generation) {
      return ShmLayout.capacity(lane, generation, most);
    }
  }

  private final Way[] ways;

  /** What the lanes may have; {@link #begin} comes next. */
  MemoryTrack(int... most) {
    ways = new Way[] {new Way(Lane.BULK, most[0]), new Way(Lane.EXPRESS, most[1])};
  }

  /** Makes the first rings; by the constructors. */
  final void begin() {
    for (Way way : ways) {
      int capacity = way.outCapacity(0);
      way.out = new RingProducer(outMemory(way.lane, 0), capacity);
      way.in = new RingConsumer(inMemory(way.lane, 0), capacity);
    }
  }

  /** The memory of a ring out, of which all can be written; null if there is not enough. */
  abstract MemorySegment outMemory(int lane, int generation);

  /** The memory of a ring in, that the other side has made. */
  abstract MemorySegment inMemory(int lane, int generation);

  /** Tells threads at the other end that wait for room, or for what was delivered. */
  abstract void wakeSenders();

  @Override
  public final RingProducer out(int lane) {
    return ways[lane].out;
  }

  @Override
  public final Inlet in(int lane) {
    return ways[lane].in;
  }

  @Override
  public final int maxCapacity(int lane) {
    return ways[lane].most;
  }

  @Override
  public final boolean canGrow(int lane) {
    Way way = ways[lane];
    return way.out.capacity() < way.most && !way.grown;
  }

  @Override
  public final boolean mayGrow(int lane) {
    Way way = ways[lane];
    return canGrow(lane) && !way.growing && way.out.beforeDrained();
  }

  @Override
  public final boolean grows(int lane, RingProducer sealed) {
    Way way = ways[lane];
    return way.growing || way.out != sealed;
  }

  @Override
  public final boolean grow(int lane) {
    Way way = ways[lane];
    RingProducer old;
    synchronized (way) {
      old = way.out;
      if (!mayGrow(lane) || old.sealed()) {
        return false;
      }
      MemorySegment memory = outMemory(lane, way.outGeneration + 1);
      if (memory == null) {
        way.grown = true;
        return false;
      }
      way.growing = true;
      way.outGeneration++;
      way.out = old.continueIn(memory, way.outCapacity(way.outGeneration));
      way.growing = false;
    }
    if (old.mustWake()) {
      wakePeer(); // it sleeps at the end of the old one
    }
    return true;
  }

  @Override
  public final void seal(int lane) {
    Way way = ways[lane];
    synchronized (way) {
      way.out.seal();
    }
  }

  @Override
  public final boolean goesOn(int lane) {
    return ways[lane].in.goesOn();
  }

  @Override
  public final boolean moveOn(int lane) {
    Way way = ways[lane];
    RingConsumer old = way.in;
    if (!old.goesOn()) {
      return false;
    }
    int capacity = way.outCapacity(way.inGeneration + 1);
    way.inGeneration++;
    way.in = old.continueIn(inMemory(lane, way.inGeneration), capacity);
    if (old.mustWake()) {
      wakeSenders();
    }
    published(lane);
    return true;
  }

  @Override
  public final boolean push() {
    return false;
  }

  @Override
  public final void published(int lane) {
    if (ways[lane].in.mustWake()) {
      wakeSenders();
    }
  }

  @Override
  public final void arm(int lane) {
    ways[lane].in.arm();
  }

  @Override
  public final void disarm(int lane) {
    ways[lane].in.disarm();
  }

  /** What was marked before the end of the other side is there: marks come before the end. */
  @Override
  public final boolean over() {
    return severed() || (ways[Lane.BULK].in.ended() && ways[Lane.EXPRESS].in.ended());
  }
}
