// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.protobuf.ByteString;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A record of the store, or some fields of it. Immutable.
 *
 * @param key which record
 * @param fields the values by their names, in the order in which they were given
 */
public record Row(String key, SequencedMap<String, ByteString> fields) {
  /** What a server answers to a write: nothing. */
  static final Row NONE = new Row("", Map.of());

  /**
   * Copies the fields.
   *
   * @param key which record
   * @param fields the values by their names
   */
  public Row(String key, Map<String, ByteString> fields) {
    this(key, new LinkedHashMap<>(fields));
  }
}
