// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.ByteString;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;

/** The records of one server, sorted by their keys. Any thread may call it. */
final class RecordStore {
  private final ConcurrentNavigableMap<String, Row> rows = new ConcurrentSkipListMap<>();

  /** Adds a record; returns false if there is one of its key. */
  boolean insert(Row row) {
    return rows.putIfAbsent(row.key(), row) == null;
  }

  /** Sets some fields of a record, and leaves the others; returns false if there is no record. */
  boolean update(Row change) {
    return rows.computeIfPresent(change.key(), (key, row) -> merged(row, change)) != null;
  }

  /** Returns the fields asked for, or null if there is no record. */
  Row get(Query query) {
    Row row = rows.get(query.key());
    return row == null ? null : pick(row, query);
  }

  /** Removes a record; returns false if there is none. */
  boolean delete(Query query) {
    return rows.remove(query.key()) != null;
  }

  /** Hands out records in the order of their keys until there are enough or the taker refuses. */
  void scan(Query query, Predicate<Row> taker) {
    int left = query.limit();
    for (Row row : rows.tailMap(query.key()).values()) {
      if (left-- <= 0 || !taker.test(pick(row, query))) {
        return;
      }
    }
  }

  private static Row merged(Row row, Row change) {
    Map<String, ByteString> fields = new LinkedHashMap<>(row.fields());
    fields.putAll(change.fields());
    return new Row(row.key(), fields);
  }

  private static Row pick(Row row, Query query) {
    if (query.names().isEmpty()) {
      return row;
    }
    Map<String, ByteString> fields = new LinkedHashMap<>();
    for (String name : query.names()) {
      ByteString value = row.fields().get(name);
      if (value != null) {
        fields.put(name, value);
      }
    }
    return new Row(row.key(), fields);
  }
}
