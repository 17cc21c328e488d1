// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

import java.lang.foreign.MemorySegment;

/** Frames from one peer, in order. Guarded by the engine's lock. */
public abstract class FrameInput {
  /** For subclasses. */
  protected FrameInput() {}

  /** Where the next frame begins in {@link #segment}, or -1 if none has arrived. */
  public abstract long poll();

  /** Where frames are read. */
  public abstract MemorySegment segment();

  /**
   * Lets go of the frame that {@link #poll} returned.
   *
   * @param length its length field
   */
  public abstract void consume(int length);

  /**
   * Tells the peer how much credit it has got back since the start.
   *
   * @param total the sum
   */
  public abstract void returnCredit(long total);

  /** Gives the memory back. */
  public abstract void close();
}
