// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.lang.foreign.MemorySegment;

/** What stands before a payload, while it is being sent. Of one thread, used again and again. */
final class RecordHead {
  int type;
  byte kind;
  private int slot;
  private int generation;
  private int limitUs;

  // Of a slice; total is 0 if it is none.
  private int stream;
  private int offset;
  private int total;

  /** Of a whole record; what its kind does not have is 0. */
  RecordHead of(int type, byte kind, int slot, int generation, int limitUs) {
    this.type = type;
    this.kind = kind;
    this.slot = slot;
    this.generation = generation;
    this.limitUs = limitUs;
    total = 0;
    return this;
  }

  /** Of a slice of what {@link #of} has said. */
  RecordHead slice(int stream, int offset, int total) {
    this.stream = stream;
    this.offset = offset;
    this.total = total;
    return this;
  }

  /** For which receiver it is. */
  int what() {
    return Records.what(type, kind);
  }

  int bytes() {
    return Records.headerOf(total == 0 ? kind : Records.SLICE);
  }

  /** Writes it; a record of so many bytes with it. */
  void write(MemorySegment memory, long at, int length) {
    if (total != 0) {
      Records.header(memory, at, length, type, Records.SLICE);
      Records.slice(memory, at, stream, offset, total, kind);
      Records.sliceRequest(memory, at, slot, generation, limitUs);
      return;
    }
    Records.header(memory, at, length, type, kind);
    if (kind != Records.MESSAGE && Records.headerOf(kind) > Records.HEADER) {
      Records.response(memory, at, slot, generation);
      if (kind == Records.REQUEST) {
        Records.limit(memory, at, limitUs);
      }
    }
  }
}
