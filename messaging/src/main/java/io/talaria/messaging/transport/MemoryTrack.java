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
  /** One priority, one direction each. */
  private static final class Way {
    final int priority;
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

    Way(int priority, int most) {
      this.priority = priority;
      this.most = most;
    }

    int outCapacity(int generation) {
      return ShmLayout.capacity(priority, generation, most);
    }
  }

  private final Way[] ways;

  /** What the rings may have; {@link #begin} comes next. */
  MemoryTrack(int... most) {
    ways = new Way[] {new Way(RingPair.DATA, most[0]), new Way(RingPair.CONTROL, most[1])};
  }

  /** Makes the first rings; by the constructors. */
  final void begin() {
    for (Way way : ways) {
      int capacity = way.outCapacity(0);
      way.out = new RingProducer(outMemory(way.priority, 0), capacity);
      way.in = new RingConsumer(inMemory(way.priority, 0), capacity);
    }
  }

  /** The memory of a ring out, of which all can be written; null if there is not enough. */
  abstract MemorySegment outMemory(int priority, int generation);

  /** The memory of a ring in, that the other side has made. */
  abstract MemorySegment inMemory(int priority, int generation);

  /** Tells threads at the other end that wait for room, or for what was delivered. */
  abstract void wakeSenders();

  @Override
  public final RingProducer out(int priority) {
    return ways[priority].out;
  }

  @Override
  public final Inlet in(int priority) {
    return ways[priority].in;
  }

  @Override
  public final int maxCapacity(int priority) {
    return ways[priority].most;
  }

  @Override
  public final boolean canGrow(int priority) {
    Way way = ways[priority];
    return way.out.capacity() < way.most && !way.grown;
  }

  @Override
  public final boolean mayGrow(int priority) {
    Way way = ways[priority];
    return canGrow(priority) && !way.growing && way.out.beforeDrained();
  }

  @Override
  public final boolean grows(int priority, RingProducer sealed) {
    Way way = ways[priority];
    return way.growing || way.out != sealed;
  }

  @Override
  public final boolean grow(int priority) {
    Way way = ways[priority];
    RingProducer old;
    synchronized (way) {
      old = way.out;
      if (!mayGrow(priority) || old.sealed()) {
        return false;
      }
      MemorySegment memory = outMemory(priority, way.outGeneration + 1);
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
  public final void seal(int priority) {
    Way way = ways[priority];
    synchronized (way) {
      way.out.seal();
    }
  }

  @Override
  public final boolean goesOn(int priority) {
    return ways[priority].in.goesOn();
  }

  @Override
  public final boolean moveOn(int priority) {
    Way way = ways[priority];
    RingConsumer old = way.in;
    if (!old.goesOn()) {
      return false;
    }
    int capacity = way.outCapacity(way.inGeneration + 1);
    way.inGeneration++;
    way.in = old.continueIn(inMemory(priority, way.inGeneration), capacity);
    if (old.mustWake()) {
      wakeSenders();
    }
    published(priority);
    return true;
  }

  @Override
  public final boolean push() {
    return false;
  }

  @Override
  public final void published(int priority) {
    if (ways[priority].in.mustWake()) {
      wakeSenders();
    }
  }

  @Override
  public final void arm(int priority) {
    ways[priority].in.arm();
  }

  @Override
  public final void disarm(int priority) {
    ways[priority].in.disarm();
  }

  /** What was marked before the end of the other side is there: marks come before the end. */
  @Override
  public final boolean over() {
    return severed() || (ways[RingPair.DATA].in.ended() && ways[RingPair.CONTROL].in.ended());
  }
}
