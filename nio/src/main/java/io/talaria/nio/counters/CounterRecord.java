// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * A holder of one record of the counters file, or, while the file has no room, of none.
 *
 * <p>The fields of the object are the truth and the record is their copy, so nothing is ever read
 * back from memory that others can reach, and a record that comes late is simply filled in.
 *
 * <p>Guarded by the lock of {@link ProcessCounters}, except {@link #record}, which the counting
 * threads read plainly: it is written by release, and all they do with it depends on it.
 */
abstract class CounterRecord {
  static final int NO_INDEX = -1;

  private static final VarHandle RECORD;

  static {
    try {
      RECORD =
          MethodHandles.lookup().findVarHandle(CounterRecord.class, "record", ByteBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final ProcessCounters owner;
  final long id;
  final long openedAtMs;

  /** The record in the file, 256 bytes, or null. */
  ByteBuffer record;

  /** Which record it is, or {@link #NO_INDEX}. */
  int index = NO_INDEX;

  boolean closed;

  CounterRecord(ProcessCounters owner, long id, long openedAtMs) {
    this.owner = owner;
    this.id = id;
    this.openedAtMs = openedAtMs;
  }

  /** Lets the counting threads see the record. */
  final void publishRecord(ByteBuffer slice) {
    RECORD.setRelease(this, slice);
  }

  /** Writes role, mode, addresses and the like. Called between two steps of the version. */
  abstract void writeDescription(ByteBuffer to);

  /** Writes all counting fields. */
  abstract void writeCounts(ByteBuffer to);
}
