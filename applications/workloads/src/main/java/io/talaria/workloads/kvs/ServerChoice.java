// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.kvs;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;

/**
 * Which of several servers holds a key: a function of the key and the number of servers alone, the
 * same in every process and release, so all clients that list the servers in the same order agree.
 * With one server more, only the keys that move to it change their place.
 *
 * @param servers how many there are, at least one
 */
record ServerChoice(int servers) {
  private static final HashFunction HASH = Hashing.murmur3_128();

  /** Returns the server of a key, from 0. */
  int of(String key) {
    return Hashing.consistentHash(HASH.hashString(key, StandardCharsets.UTF_8), servers);
  }
}
