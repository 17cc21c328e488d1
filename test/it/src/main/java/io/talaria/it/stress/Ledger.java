// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which connections this process has ended, and which it has seen end that it had not: what one
 * sees another must have done. Any thread may call it.
 */
final class Ledger {
  private final Set<Long> ended = ConcurrentHashMap.newKeySet();
  private final Map<Long, String> seen = new ConcurrentHashMap<>();

  void ended(long connection) {
    ended.add(connection);
  }

  void saw(long connection, int peerPort, String how) {
    if (!ended.contains(connection)) {
      seen.put(connection, peerPort + " " + how);
    }
  }

  /** Lines of {@code ended ID} and {@code seen ID PEER-PORT HOW}. */
  void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    ended.forEach(id -> lines.add("ended " + Long.toHexString(id)));
    seen.forEach((id, how) -> lines.add("seen " + Long.toHexString(id) + " " + how));
    Files.write(file, lines);
  }
}
