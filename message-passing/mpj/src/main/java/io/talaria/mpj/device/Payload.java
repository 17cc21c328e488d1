// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device;

import java.lang.foreign.MemorySegment;

/**
 * The program's data of one operation: any range of bytes can be copied out of it, or into it, in
 * native byte order, with no buffer in between. Used by the device under the engine's lock.
 *
 * <p>Ranges that a device asks for start at a multiple of 8 bytes, and are a multiple of 8 long
 * unless they are the last.
 */
public abstract class Payload {
  /** Base type of packed bytes, which match every type. */
  public static final int PACKED = 9;

  /** For subclasses. */
  protected Payload() {}

  /** How many bytes there are to send, or how many fit. */
  public abstract long bytes();

  /** The base type: two sides must have the same, or one of them {@link #PACKED}. */
  public abstract int typeCode();

  /**
   * Tells a receiving payload how long its message is; called once, before any {@link #put}.
   *
   * @param length bytes, at most {@link #bytes}
   */
  public void begin(long length) {}

  /** Tells that the operation has failed; it is over. Called by the device, for what may follow. */
  public void failed() {}

  /**
   * The data themselves, if they are all in one piece of memory outside the heap, {@link #bytes}
   * long; else null.
   */
  public MemorySegment memory() {
    return null;
  }

  /**
   * Copies a range out.
   *
   * @param at first byte of the range
   * @param to destination
   * @param toOffset first byte there
   * @param length bytes
   */
  public abstract void get(long at, MemorySegment to, long toOffset, int length);

  /**
   * Copies a range in.
   *
   * @param at first byte of the range
   * @param from source
   * @param fromOffset first byte there
   * @param length bytes
   */
  public abstract void put(long at, MemorySegment from, long fromOffset, int length);
}
