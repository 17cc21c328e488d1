// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.LONG;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * A holder of one record of the counters file, or, while the file has no room, of none.
 *
 * <p>The fields of the object are the truth and the record is their copy, so nothing is ever read
 * back from memory that others can reach, and a record that comes late is simply filled in.
 *
 * <p>Guarded by the lock of {@link ProcessCounters}, except that the counting threads find the
 * place by {@link #file}. It is a number in memory that all records share, not a view of its own: a
 * program with thousands of connections is short of cache lines.
 */
abstract class CounterRecord {
  static final int NO_INDEX = -1;

  private static final VarHandle FILE;

  static {
    try {
      FILE = MethodHandles.lookup().findVarHandle(CounterRecord.class, "file", ByteBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final ProcessCounters owner;
  final long id;
  final long openedAtMs;

  /** The part of the file that has the record, or null. Written by release, after the place. */
  @SuppressWarnings("UnusedVariable") // by FILE
  private ByteBuffer file;

  /** Where the record begins there. */
  private int place;

  /** Which record it is, or {@link #NO_INDEX}. */
  int index = NO_INDEX;

  boolean closed;

  CounterRecord(ProcessCounters owner, long id, long openedAtMs) {
    this.owner = owner;
    this.id = id;
    this.openedAtMs = openedAtMs;
  }

  /** Lets the counting threads see the record, which begins there. */
  final void publish(ByteBuffer chunk, int at) {
    place = at;
    FILE.setRelease(this, chunk);
  }

  /** Lets them see no record any more. */
  final void withdraw() {
    FILE.setRelease(this, null);
  }

  /** Where to count: the part of the file, or null; {@link #place} is of any use only if not. */
  final ByteBuffer file() {
    return (ByteBuffer) FILE.getAcquire(this);
  }

  final int place() {
    return place;
  }

  /** Stores a count. */
  final void store(int field, long value) {
    ByteBuffer to = file();
    if (to != null) {
      LONG.setOpaque(to, place + field, value);
    }
  }

  /**
   * Writes what stays as it is, such as the role: once, when the place becomes this record's,
   * before the rest. Called between two steps of the version.
   */
  abstract void writeIdentity(ByteBuffer to);

  /** Writes what changes, such as the transport. Called between two steps of the version. */
  abstract void writeDescription(ByteBuffer to);

  /** Writes all counting fields. */
  abstract void writeCounts(ByteBuffer to);
}
