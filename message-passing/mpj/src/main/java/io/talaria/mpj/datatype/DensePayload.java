// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import io.talaria.mpj.device.Payload;
import java.lang.foreign.MemorySegment;

/** Elements that lie side by side in an array or segment. Reused by its owner. */
public final class DensePayload extends Payload {
  private Object buffer;
  private BaseType type;
  private long first;
  private long bytes;
  private int shift;

  /** Empty. */
  public DensePayload() {}

  /**
   * Points at elements.
   *
   * @param array an array of the type, or a segment
   * @param of base type, not OBJECT
   * @param index first element
   * @param count elements
   * @return this
   */
  public DensePayload set(Object array, BaseType of, long index, long count) {
    buffer = array;
    type = of;
    first = index;
    shift = of.shift();
    bytes = count << shift;
    return this;
  }

  /** Lets go of the array. */
  public void clear() {
    buffer = null;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public int typeCode() {
    return type.code();
  }

  @Override
  public MemorySegment memory() {
    return buffer instanceof MemorySegment m && m.isNative()
        ? m.asSlice(first << shift, bytes)
        : null;
  }

  @Override
  public void get(long at, MemorySegment to, long toOffset, int length) {
    if (length > 0) {
      type.get(buffer, first + (at >> shift), length >> shift, to, toOffset);
    }
  }

  @Override
  public void put(long at, MemorySegment from, long fromOffset, int length) {
    if (length >> shift > 0) {
      type.put(buffer, first + (at >> shift), length >> shift, from, fromOffset);
    }
  }
}
