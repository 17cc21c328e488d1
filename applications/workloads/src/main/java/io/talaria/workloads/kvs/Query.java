// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import java.util.List;

/**
 * Which records, and what of them. Immutable.
 *
 * @param key the record; of a scan the first one, which need not exist
 * @param names the fields wanted; none for all
 * @param limit of a scan: how many records at most
 */
public record Query(String key, List<String> names, int limit) {
  /** Copies the names. */
  public Query {
    names = List.copyOf(names);
  }
}
