// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.INT;
import static io.talaria.nio.counters.file.CountersLayout.LONG;

import io.talaria.nio.counters.file.CountersLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The records of the counters file: which open record has which place, and how its cold fields are
 * written there. Those for which there is no room wait, oldest first. Guarded by the lock of {@link
 * ProcessCounters}.
 */
final class RecordTable {
  private static final int REFILL_BELOW_RECORDS = 64;

  private final Object lock;
  private final HeaderCounters header;
  private final List<ByteBuffer> chunks = new ArrayList<>();

  /** Open records without room in the file, oldest first. */
  private final Set<CounterRecord> unlisted = new LinkedHashSet<>();

  /**
   * Records given back, the longest unused first, so that a straggling store rarely meets a new
   * owner.
   */
  private final ArrayDeque<Integer> free = new ArrayDeque<>();

  private int used;

  RecordTable(Object lock, HeaderCounters header) {
    this.lock = lock;
    this.header = header;
  }

  // ---- room

  /** The file has grown by {@link CountersLayout#CHUNK_RECORDS} records, full of zeros. */
  void grown(ByteBuffer chunk) {
    assert Thread.holdsLock(lock);
    chunks.add(chunk);
    header.capacity(capacity());
    while (!unlisted.isEmpty() && (used < capacity() || !free.isEmpty())) { // of thousands, a few
      list(unlisted.iterator().next());
    }
  }

  /** Whether there is little room, and may be more. */
  boolean low() {
    assert Thread.holdsLock(lock);
    int capacity = capacity();
    return capacity - used + free.size() < REFILL_BELOW_RECORDS
        && capacity < CountersLayout.MAX_RECORDS;
  }

  private int capacity() {
    return chunks.size() * CountersLayout.CHUNK_RECORDS;
  }

  // ---- places

  /** Gives an open record its place in the file, now or when there is room. */
  void list(CounterRecord record) {
    assert Thread.holdsLock(lock);
    Integer index = free.poll();
    if (index == null && used < capacity()) {
      index = used++;
      header.used(used);
    }
    if (index == null) {
      unlisted.add(record);
    } else {
      unlisted.remove(record);
      record.index = index;
      ByteBuffer place = recordAt(index);
      describeAt(record, place, CountersLayout.STATE_LIVE);
      record.publish(chunkOf(index), placeOf(index));
      // A count made meanwhile went nowhere: write all again, now that the next one goes to the
      // file.
      VarHandle.fullFence();
      record.writeCounts(place);
    }
    header.unlisted(unlisted.size());
  }

  /** Takes a record out that closes; its place is the next one's. */
  void unlist(CounterRecord record) {
    assert Thread.holdsLock(lock);
    record.closed = true;
    if (record.index == CounterRecord.NO_INDEX) {
      unlisted.remove(record);
      header.unlisted(unlisted.size());
    } else {
      describeAt(record, recordAt(record.index), CountersLayout.STATE_FREE);
      record.withdraw();
      free.add(record.index);
      record.index = CounterRecord.NO_INDEX;
      if (!unlisted.isEmpty()) {
        list(unlisted.iterator().next());
      }
    }
  }

  private ByteBuffer recordAt(int index) {
    return chunkOf(index)
        .slice(placeOf(index), CountersLayout.RECORD_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  private ByteBuffer chunkOf(int index) {
    return chunks.get(index / CountersLayout.CHUNK_RECORDS);
  }

  private static int placeOf(int index) {
    return index % CountersLayout.CHUNK_RECORDS * CountersLayout.RECORD_BYTES;
  }

  // ---- cold fields

  /** Writes the cold fields of a record that has changed. */
  void describe(CounterRecord changed) {
    assert Thread.holdsLock(lock);
    if (!changed.closed && changed.index != CounterRecord.NO_INDEX) {
      describeAt(changed, recordAt(changed.index), CountersLayout.STATE_LIVE);
    }
  }

  private void describeAt(CounterRecord record, ByteBuffer to, int state) {
    // The version is only ever written here, so reading it back gives what was written.
    int version = (int) INT.getOpaque(to, CountersLayout.R_VERSION) | 1;
    INT.setOpaque(to, CountersLayout.R_VERSION, version);
    VarHandle.storeStoreFence();
    boolean takesOver = to.getLong(CountersLayout.R_ID) != record.id;
    if (takesOver) {
      record.writeIdentity(to);
      to.putLong(CountersLayout.R_ID, record.id);
      to.putLong(CountersLayout.R_OPENED_AT, record.openedAtMs);
      to.putInt(CountersLayout.R_GENERATION, to.getInt(CountersLayout.R_GENERATION) + 1);
      for (int at = CountersLayout.R_COUNTS; at < CountersLayout.RECORD_BYTES; at += Long.BYTES) {
        LONG.setOpaque(to, at, 0L);
      }
      record.writeCounts(to);
    }
    record.writeDescription(to);
    to.putInt(CountersLayout.R_STATE, state);
    INT.setRelease(to, CountersLayout.R_VERSION, version + 1);
    header.touch();
  }
}
