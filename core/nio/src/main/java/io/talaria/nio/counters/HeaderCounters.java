// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.file.CountersLayout.INT;
import static io.talaria.nio.counters.file.CountersLayout.LONG;

import io.talaria.nio.Reason;
import io.talaria.nio.counters.file.Counter;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.ProcessCounter;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * What is counted of the process as a whole, and what the header of the file says of its records:
 * the truth is here, the header its copy once there is one. Guarded by the lock of {@link
 * ProcessCounters}.
 */
final class HeaderCounters {
  private final Object lock;
  private final long[] process = new long[CountersLayout.PROCESS_VALUES];
  private final long[] refused = new long[CountersLayout.REASONS];
  private long sequence;
  private long unlisted;
  private String ucxUnavailable = "";

  /** Null until there is a file. */
  private ByteBuffer header;

  HeaderCounters(Object lock) {
    this.lock = lock;
  }

  /** Copies all that has been counted, and from now on what is. */
  void publishTo(ByteBuffer created) {
    assert Thread.holdsLock(lock);
    header = created;
    for (int i = 0; i < process.length; i++) {
      add(i, 0);
    }
    for (int i = 0; i < refused.length; i++) {
      publish(CountersLayout.H_REFUSED + i * Long.BYTES, refused[i]);
    }
    unlisted(unlisted);
    publishUcxUnavailable();
    touch();
  }

  /** Says why UCX cannot be used: the first time only, so that no reader sees half of another. */
  void ucxUnavailable(String why) {
    assert Thread.holdsLock(lock);
    if (ucxUnavailable.isEmpty()) {
      ucxUnavailable = why;
      publishUcxUnavailable();
      touch();
    }
  }

  private void publishUcxUnavailable() {
    if (header != null && !ucxUnavailable.isEmpty()) {
      CountersLayout.putHeaderText(
          header,
          CountersLayout.H_UCX_UNAVAILABLE,
          CountersLayout.UCX_UNAVAILABLE_BYTES,
          ucxUnavailable);
    }
  }

  /** Counts. */
  void add(ProcessCounter counter, long amount) {
    add(counter.place(), amount);
  }

  /** Called before, and after, counts move from a record to the sums here. */
  void moves() {
    VarHandle.releaseFence();
    add(ProcessCounter.MOVES, 1);
    VarHandle.storeStoreFence();
  }

  /** Adds what a connection has counted, which closes. */
  void addClosed(Counter counter, long amount) {
    if (amount != 0) { // of a short connection, most have counted nothing
      add(counter.closedTotal(), amount);
    }
  }

  private void add(int place, long amount) {
    assert Thread.holdsLock(lock);
    process[place] += amount;
    publish(CountersLayout.H_PROCESS + place * Long.BYTES, process[place]);
  }

  /** Counts an upgrade that did not come about. */
  void refused(Reason reason) {
    assert Thread.holdsLock(lock);
    int number = reason.number();
    long total = ++refused[number];
    publish(CountersLayout.H_REFUSED + number * Long.BYTES, total);
  }

  /** A description in a record has changed. */
  void touch() {
    assert Thread.holdsLock(lock);
    sequence++;
    publish(CountersLayout.H_SEQUENCE, sequence);
  }

  /** For how many open records the file has no room. */
  void unlisted(long records) {
    assert Thread.holdsLock(lock);
    unlisted = records;
    publish(CountersLayout.H_UNLISTED, records);
  }

  private void publish(int place, long value) {
    if (header != null) {
      LONG.setOpaque(header, place, value);
    }
  }

  /** For how many records there is room now, which are zero; there is a file. */
  void capacity(int records) {
    assert Thread.holdsLock(lock);
    INT.setRelease(header, CountersLayout.H_CAPACITY, records);
  }

  /** How many records have ever been used; there is a file. */
  void used(int records) {
    assert Thread.holdsLock(lock);
    INT.setRelease(header, CountersLayout.H_USED, records);
  }

  /** All process values, for reading under the lock. */
  long[] process() {
    assert Thread.holdsLock(lock);
    return process;
  }

  /** The refusals by reason number, for reading under the lock. */
  long[] refused() {
    assert Thread.holdsLock(lock);
    return refused;
  }
}
