// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss;

import io.talaria.nio.ConnectionInfo;
import java.util.HashMap;
import java.util.Map;

/** Bytes a second of each connection, between two snapshots. */
final class Rates {
  private static final double MS_PER_SECOND = 1000;

  private final Map<Key, ConnectionInfo> before = new HashMap<>();
  private final double seconds;

  /** Names a connection among all processes; the start time tells processes with one id apart. */
  private record Key(long pid, long startTicks, long id) {}

  private Rates(Snapshot earlier, Snapshot later) {
    seconds = (later.atMs() - earlier.atMs()) / MS_PER_SECOND;
    for (Snapshot.Entry entry : earlier.processes()) {
      for (ConnectionInfo connection : entry.connections()) {
        before.put(key(entry, connection), connection);
      }
    }
  }

  /** What happened between two snapshots. */
  static Rates between(Snapshot earlier, Snapshot later) {
    return new Rates(earlier, later);
  }

  private static Key key(Snapshot.Entry entry, ConnectionInfo connection) {
    return new Key(entry.process().pid(), entry.process().startTicks(), connection.id());
  }

  /** Bytes read a second. */
  long in(Snapshot.Entry entry, ConnectionInfo now) {
    ConnectionInfo then = before.get(key(entry, now));
    return perSecond(now.inBytes() - (then == null ? 0 : then.inBytes()));
  }

  /** Bytes written a second. */
  long out(Snapshot.Entry entry, ConnectionInfo now) {
    ConnectionInfo then = before.get(key(entry, now));
    return perSecond(now.outBytes() - (then == null ? 0 : then.outBytes()));
  }

  private long perSecond(long bytes) {
    return seconds <= 0 ? 0 : Math.max(0, Math.round(bytes / seconds));
  }
}
