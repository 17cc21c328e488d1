// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import java.lang.foreign.MemorySegment;

/**
 * A link through memory: the receiver reads the rings into which the sender writes. The rings are
 * small at first; {@link #grow} creates a larger one that continues the old one.
 */
abstract class MemoryLink extends Link {
  /** The rings of one priority, one in each direction. */
  private static final class PriorityRings {
    final int priority;
    final int most;

    /** Guarded by this object, as are changes of {@link #out}. */
    int outGeneration;

    volatile RingProducer out;

    /** The old ring is sealed, and {@link #out} is not the next one yet. */
    volatile boolean growing;

    /** There is no memory for a larger ring. */
    volatile boolean grown;

    // Only for the thread that reads this priority.
    int inGeneration;
    volatile RingConsumer in;

    PriorityRings(int priority, int most) {
      this.priority = priority;
      this.most = most;
    }

    int outCapacity(int generation) {
      return ShmLayout.capacity(priority, generation, most);
    }
  }

  private final PriorityRings[] byPriority;

  /**
   * Prepares a link; the constructor of the subclass must call {@link #begin}.
   *
   * @param most the maximum capacity of the ring of each priority, in bytes
   */
  MemoryLink(int... most) {
    byPriority =
        new PriorityRings[] {
          new PriorityRings(RingPair.DATA, most[0]), new PriorityRings(RingPair.CONTROL, most[1])
        };
  }

  /** Creates the first rings. For constructors of subclasses. */
  final void begin() {
    for (PriorityRings rings : byPriority) {
      int capacity = rings.outCapacity(0);
      rings.out = new RingProducer(outMemory(rings.priority, 0), capacity);
      rings.in = new RingConsumer(inMemory(rings.priority, 0), capacity);
    }
  }

  /**
   * The memory of an outgoing ring, with all its pages reserved; null if there is not enough
   * memory.
   */
  abstract MemorySegment outMemory(int priority, int generation);

  /** The memory of an incoming ring, which the other side has created. */
  abstract MemorySegment inMemory(int priority, int generation);

  /** Wakes threads at the other end that wait for room or for a delivery. */
  abstract void wakeSenders();

  @Override
  public final RingProducer out(int priority) {
    return byPriority[priority].out;
  }

  @Override
  public final RingReceiver in(int priority) {
    return byPriority[priority].in;
  }

  @Override
  public final int maxCapacity(int priority) {
    return byPriority[priority].most;
  }

  @Override
  public final boolean canGrow(int priority) {
    PriorityRings rings = byPriority[priority];
    return rings.out.capacity() < rings.most && !rings.grown;
  }

  @Override
  public final boolean mayGrow(int priority) {
    PriorityRings rings = byPriority[priority];
    return canGrow(priority) && !rings.growing && rings.out.beforeDrained();
  }

  @Override
  public final boolean grows(int priority, RingProducer sealed) {
    PriorityRings rings = byPriority[priority];
    return rings.growing || rings.out != sealed;
  }

  @Override
  public final boolean grow(int priority) {
    PriorityRings rings = byPriority[priority];
    RingProducer old;
    synchronized (rings) {
      old = rings.out;
      if (!mayGrow(priority) || old.sealed()) {
        return false;
      }
      MemorySegment memory = outMemory(priority, rings.outGeneration + 1);
      if (memory == null) {
        rings.grown = true;
        return false;
      }
      rings.growing = true;
      try {
        rings.outGeneration++;
        rings.out = old.continueIn(memory, rings.outCapacity(rings.outGeneration));
      } finally {
        rings.growing = false; // after a failure nobody may wait for the next one
      }
    }
    if (old.mustWake()) {
      wakePeer(); // it may sleep at the end of the old ring
    }
    return true;
  }

  @Override
  public final void seal(int priority) {
    PriorityRings rings = byPriority[priority];
    synchronized (rings) {
      rings.out.seal();
    }
  }

  @Override
  public final boolean goesOn(int priority) {
    return byPriority[priority].in.goesOn();
  }

  @Override
  public final boolean mayHave(int priority) {
    RingConsumer in = byPriority[priority].in;
    return in.mayHave() || in.goesOn();
  }

  @Override
  public final boolean moveOn(int priority) {
    PriorityRings rings = byPriority[priority];
    RingConsumer old = rings.in;
    if (!old.goesOn()) {
      return false;
    }
    int capacity = rings.outCapacity(rings.inGeneration + 1);
    rings.inGeneration++;
    rings.in = old.continueIn(inMemory(priority, rings.inGeneration), capacity);
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
    if (byPriority[priority].in.mustWake()) {
      wakeSenders();
    }
  }

  @Override
  public final void arm(int priority) {
    byPriority[priority].in.arm();
  }

  @Override
  public final void disarm(int priority) {
    byPriority[priority].in.disarm();
  }

  /**
   * The session's end does not lose records, because the other side has committed them before it.
   */
  @Override
  public final boolean over() {
    return severed()
        || (byPriority[RingPair.DATA].in.ended() && byPriority[RingPair.CONTROL].in.ended());
  }
}
