// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;

/**
 * Where records come out, one after the other: of a ring, or of what a stream has brought. One
 * thread at a time.
 */
public abstract class Inlet {
  /** For the two that there are. */
  Inlet() {}

  /**
   * Looks for the next record.
   *
   * @return its bytes, a multiple of 8; 0 if there is none now
   * @throws RingBrokenException if the other side has written what cannot be
   */
  public abstract int peek();

  /** Where the record found begins, from the begin of {@link #memory}. */
  public abstract long offset();

  /** The memory that the records are in. */
  public abstract MemorySegment memory();

  /** Leaves the record found behind. */
  public abstract void advance();

  /** The position behind what was left behind. */
  public abstract long position();

  /** Tells the other side what is free again. */
  public abstract void publish();

  /** Bytes left behind and not yet published. */
  public abstract long unpublishedBytes();

  /** Tells the other side up to which position all was handed to the program. */
  public abstract void publishDelivered(long position);

  /** What {@link #publishDelivered} has said. Any thread. */
  public abstract long delivered();

  /** Whether the other side has said that no more comes, and all has been left behind. */
  public abstract boolean ended();
}
