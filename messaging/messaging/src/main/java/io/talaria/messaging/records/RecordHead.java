// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.records;

import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.MemorySegment;

/** The header of a record that is being sent. For one thread, which reuses it. */
public final class RecordHead {
  int type;
  byte kind;
  private int slot;
  private int generation;
  private int limitUs;

  // Of a slice; total is 0 if this is not a slice.
  private int stream;
  private int offset;
  private int total;

  /** Makes this the header of a whole record; fields that its kind does not have are 0. */
  public RecordHead of(int type, byte kind, int slot, int generation, int limitUs) {
    this.type = type;
    this.kind = kind;
    this.slot = slot;
    this.generation = generation;
    this.limitUs = limitUs;
    total = 0;
    return this;
  }

  /** Makes this the header of a slice of the record that {@link #of} has described. */
  public RecordHead slice(int stream, int offset, int total) {
    this.stream = stream;
    this.offset = offset;
    this.total = total;
    return this;
  }

  /** The receiver, as HOLD names it. */
  public int what() {
    return Records.what(type, kind);
  }

  public int bytes() {
    return Records.headerOf(total == 0 ? kind : Records.SLICE);
  }

  /** Writes the header but for the length, which {@link RingProducer#commit} writes last. */
  public void write(MemorySegment memory, long at) {
    if (total != 0) {
      Records.header(memory, at, type, Records.SLICE);
      Records.slice(memory, at, stream, offset, total, kind);
      Records.sliceRequest(memory, at, slot, generation, limitUs);
      return;
    }
    Records.header(memory, at, type, kind);
    if (kind != Records.MESSAGE && Records.headerOf(kind) > Records.HEADER) {
      Records.response(memory, at, slot, generation);
      if (kind == Records.REQUEST) {
        Records.limit(memory, at, limitUs);
      }
    }
  }
}
