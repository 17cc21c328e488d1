// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import io.talaria.nio.ConnectionInfo;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What each connection did in a second, between two snapshots; 0 if the earlier one does not show a
 * connection that was there, as one that a filter left out.
 */
public final class Rates {
  private static final double MS_PER_SECOND = 1000;

  private final Map<Key, ConnectionInfo> before = new HashMap<>();
  private final double seconds;
  private final long earlierMs;

  /** Names a connection among all processes; the start time tells processes with one id apart. */
  private record Key(long pid, long startTicks, long id) {}

  private Rates(Snapshot earlier, Snapshot later) {
    earlierMs = earlier.atMs();
    seconds = (later.atMs() - earlier.atMs()) / MS_PER_SECOND;
    for (Snapshot.Line line : earlier.lines()) {
      before.put(key(line), line.connection());
    }
  }

  /** What happened between two snapshots. */
  public static Rates between(Snapshot earlier, Snapshot later) {
    return new Rates(earlier, later);
  }

  private static Key key(Snapshot.Line line) {
    return new Key(line.process().pid(), line.process().startTicks(), line.connection().id());
  }

  /** The time between the two. */
  public double seconds() {
    return seconds;
  }

  /** Bytes read a second. */
  public long in(Snapshot.Line now) {
    return rate(now, ConnectionInfo::inBytes);
  }

  /** Bytes written a second. */
  public long out(Snapshot.Line now) {
    return rate(now, ConnectionInfo::outBytes);
  }

  /** Reads a second that gave bytes. */
  public long reads(Snapshot.Line now) {
    return rate(now, ConnectionInfo::reads);
  }

  /** Writes a second that took bytes. */
  public long writes(Snapshot.Line now) {
    return rate(now, ConnectionInfo::writes);
  }

  /** Writes a second that found no space. */
  public long stalls(Snapshot.Line now) {
    return rate(now, ConnectionInfo::stalls);
  }

  private long rate(Snapshot.Line now, ToLongFunction<ConnectionInfo> counter) {
    ConnectionInfo then = before.get(key(now));
    if (then == null && now.connection().openedAtMs() < earlierMs) {
      return 0;
    }
    long done = counter.applyAsLong(now.connection());
    long more = done - (then == null ? 0 : counter.applyAsLong(then));
    return seconds <= 0 ? 0 : Math.max(0, Math.round(more / seconds));
  }
}
