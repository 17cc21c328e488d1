// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.datatype;

import io.talaria.mpj.device.Payload;
import java.lang.foreign.MemorySegment;

/**
 * Elements of a layout with gaps, in an array or segment: copied run by run, with nothing between.
 */
public final class StridedPayload extends Payload {
  private final Object buffer;
  private final Layout layout;
  private final BaseType type;
  private final long first;
  private final long bytes;

  /**
   * Points at elements.
   *
   * @param buffer an array of the base type, or a segment
   * @param layout where they are
   * @param index where the first layout's origin is
   * @param count layouts
   */
  public StridedPayload(Object buffer, Layout layout, long index, long count) {
    this.buffer = buffer;
    this.layout = layout;
    this.type = layout.base();
    this.first = index;
    this.bytes = count * layout.size() * type.bytes();
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
  public void get(long at, MemorySegment to, long toOffset, int length) {
    move(at, to, toOffset, length, true);
  }

  @Override
  public void put(long at, MemorySegment from, long fromOffset, int length) {
    move(at, from, fromOffset, length, false);
  }

  private void move(long at, MemorySegment other, long offset, int length, boolean out) {
    long element = at / type.bytes();
    int left = length / type.bytes();
    if (left == 0) {
      return;
    }
    long item = element / layout.size();
    int within = (int) (element % layout.size());
    int run = layout.runOf(within);
    int skipped = within - layout.before(run);
    while (left > 0) {
      int n = Math.min(left, layout.length(run) - skipped);
      long index = first + item * layout.extent() + layout.start(run) + skipped;
      if (out) {
        type.get(buffer, index, n, other, offset);
      } else {
        type.put(buffer, index, n, other, offset);
      }
      offset += (long) n * type.bytes();
      left -= n;
      skipped = 0;
      if (++run == layout.runs()) {
        run = 0;
        item++;
      }
    }
  }
}
