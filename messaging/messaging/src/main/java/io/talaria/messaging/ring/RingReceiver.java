// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ring;

import java.lang.foreign.MemorySegment;

/**
 * Removes records one after the other, from a ring or from the mirror of a ring. One thread at a
 * time, unless a method says otherwise.
 */
public abstract class RingReceiver {
  /** For the two subclasses of this package. */
  RingReceiver() {}

  /**
   * Looks for the next record, without removing it.
   *
   * @return its bytes, a multiple of 8; 0 if there is none now
   * @throws RingBrokenException if the other side has written impossible values
   */
  public abstract int peek();

  /** The offset in {@link #memory} of the record that {@link #peek} has found. */
  public abstract long offset();

  /** The memory that contains the records. */
  public abstract MemorySegment memory();

  /** Removes the record that {@link #peek} has found. Its memory is free after {@link #publish}. */
  public abstract void advance();

  /** The position after the last removed record. */
  public abstract long position();

  /** Publishes that the memory of all removed records is free again. */
  public abstract void publish();

  /** The bytes of removed records that are not yet published as free. */
  public abstract long unpublishedBytes();

  /** Publishes the position up to which everything was handed to the program. */
  public abstract void publishDelivered(long position);

  /** The last position passed to {@link #publishDelivered}. Any thread. */
  public abstract long delivered();

  /** Whether the other side has ended the ring, and all records have been removed. */
  public abstract boolean ended();
}
