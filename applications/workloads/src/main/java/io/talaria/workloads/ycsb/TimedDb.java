// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.ycsb;

import io.talaria.bench.harness.Latencies;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import org.HdrHistogram.Histogram;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * A binding with a clock: YCSB's own counts whole microseconds. Used by one thread; its figures are
 * read when that has ended.
 */
final class TimedDb extends DB {
  private final DB inner;
  private final Map<String, Histogram> histograms = new TreeMap<>();
  private long done;
  private long failed;

  TimedDb(DB inner) {
    this.inner = inner;
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    long start = System.nanoTime();
    return record("read", start, inner.read(table, key, fields, result));
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's signature.
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    long start = System.nanoTime();
    return record("scan", start, inner.scan(table, startkey, recordcount, fields, result));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    long start = System.nanoTime();
    return record("update", start, inner.update(table, key, values));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    long start = System.nanoTime();
    return record("insert", start, inner.insert(table, key, values));
  }

  @Override
  public Status delete(String table, String key) {
    long start = System.nanoTime();
    return record("delete", start, inner.delete(table, key));
  }

  private Status record(String operation, long start, Status status) {
    long ns = System.nanoTime() - start;
    if (status.isOk()) {
      done++;
      Latencies.record(histograms.computeIfAbsent(operation, name -> Latencies.histogram()), ns);
    } else {
      failed++;
    }
    return status;
  }

  long done() {
    return done;
  }

  long failed() {
    return failed;
  }

  /** Adds its histograms to those of all threads. */
  void addTo(Map<String, Histogram> all) {
    histograms.forEach(
        (operation, histogram) ->
            all.computeIfAbsent(operation, name -> Latencies.histogram()).add(histogram));
  }
}
