// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ss.snapshot;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.util.EnumMap;
import java.util.Map;

/** What a snapshot holds in all. */
public final class Summary {
  private final int processes;
  private final Map<NioTransport, Long> transports = new EnumMap<>(NioTransport.class);
  private final Map<Reason, Long> refused = new EnumMap<>(Reason.class);
  private long listeners;
  private long connections;
  private long inBytes;
  private long outBytes;
  private long inRate;
  private long outRate;
  private long stallRate;

  /**
   * Adds up.
   *
   * @param rates what happened lately, or null
   */
  public Summary(Snapshot snapshot, Rates rates) {
    processes = snapshot.processes().size();
    for (NioTransport transport : NioTransport.values()) {
      transports.put(transport, 0L);
    }
    for (Snapshot.Line line : snapshot.lines()) {
      add(line, rates);
    }
    for (Snapshot.Entry entry : snapshot.processes()) {
      entry.process().totals().refused().forEach((why, n) -> refused.merge(why, n, Long::sum));
    }
  }

  private void add(Snapshot.Line line, Rates rates) {
    if (line.listener()) {
      listeners++;
      return;
    }
    connections++;
    transports.merge(line.connection().transport(), 1L, Long::sum);
    inBytes += line.connection().inBytes();
    outBytes += line.connection().outBytes();
    if (rates != null) {
      inRate += rates.in(line);
      outRate += rates.out(line);
      stallRate += rates.stalls(line);
    }
  }

  /** How many processes there are. */
  public int processes() {
    return processes;
  }

  /** How many listeners there are. */
  public long listeners() {
    return listeners;
  }

  /** How many connections there are, listeners left out. */
  public long connections() {
    return connections;
  }

  /** How many connections there are in each transport, listeners left out. */
  public Map<NioTransport, Long> transports() {
    return transports;
  }

  /** Upgrades of these processes that did not come about so far. */
  public Map<Reason, Long> refused() {
    return refused;
  }

  /** Bytes that the connections have received so far. */
  public long inBytes() {
    return inBytes;
  }

  /** Bytes that the connections have sent so far. */
  public long outBytes() {
    return outBytes;
  }

  /** Bytes received per second lately, 0 if that is not known. */
  public long inRate() {
    return inRate;
  }

  /** Bytes sent per second lately, 0 if that is not known. */
  public long outRate() {
    return outRate;
  }

  /** Waits for room per second lately, 0 if that is not known. */
  public long stallRate() {
    return stallRate;
  }
}
