// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.ByteString;
import io.talaria.workloads.ycsb.Failures;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** YCSB's binding of the key-value store. A table is a prefix of the key. Used by one thread. */
final class KvsDb extends DB {
  private final KvsClient client;
  private final Failures failures;

  KvsDb(KvsClient client, Failures failures) {
    this.client = client;
    this.failures = failures;
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return attempt(() -> fill(result, client.get(key(table, key), names(fields))));
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's signature.
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return attempt(
        () -> {
          for (Row row : client.scan(key(table, startkey), recordcount, names(fields))) {
            HashMap<String, ByteIterator> values = new HashMap<>();
            fill(values, row);
            result.add(values);
          }
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return attempt(() -> client.update(row(table, key, values)));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return attempt(() -> client.insert(row(table, key, values)));
  }

  @Override
  public Status delete(String table, String key) {
    return attempt(() -> client.delete(key(table, key)));
  }

  private interface Operation {
    void run() throws KvsException;
  }

  private Status attempt(Operation operation) {
    try {
      operation.run();
      return Status.OK;
    } catch (KvsException e) {
      return e.reason() == KvsException.Reason.LOST
          ? failures.lost(e.getMessage())
          : failures.failed(e.getMessage());
    }
  }

  private static String key(String table, String key) {
    return table + "/" + key;
  }

  private static List<String> names(Set<String> fields) {
    return fields == null ? List.of() : List.copyOf(fields);
  }

  private static Row row(String table, String key, Map<String, ByteIterator> values) {
    Map<String, ByteString> fields = new LinkedHashMap<>();
    values.forEach((name, value) -> fields.put(name, ByteString.copyFrom(value.toArray())));
    return new Row(key(table, key), fields);
  }

  private static void fill(Map<String, ByteIterator> into, Row row) {
    row.fields()
        .forEach((name, value) -> into.put(name, new ByteArrayByteIterator(value.toByteArray())));
  }
}
