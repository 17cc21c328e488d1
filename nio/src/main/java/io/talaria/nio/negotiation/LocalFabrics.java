// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The fabrics on one host, in order of preference, and which of them can be used. */
final class LocalFabrics implements NegotiationLoop.Timed {
  /** How long a stream is left what it holds after nothing has been sent: one to two of these. */
  private static final long REST_EVERY_NS = 1_000_000_000L;

  private final List<Fabric> fabrics;
  private final Reports reports;
  private final Consumer<String> ucxUnavailable;
  private long restedAtNs = System.nanoTime();

  /** The last turn of the thread in which all could be used. */
  private long usableIn = -1;

  /**
   * @param ucxUnavailable told why UCX cannot be used, more than once
   */
  LocalFabrics(List<Fabric> fabrics, Reports reports, Consumer<String> ucxUnavailable) {
    this.fabrics = List.copyOf(fabrics);
    this.reports = reports;
    this.ucxUnavailable = ucxUnavailable;
  }

  List<Fabric> all() {
    return fabrics;
  }

  /** Whether one waits for channels to find their selectors. */
  boolean placeStreams() {
    return fabrics.stream().anyMatch(Fabric::placesStreams);
  }

  /** Whether it is not known yet which can be used. */
  boolean starting() {
    return fabrics.stream().anyMatch(Fabric::starting);
  }

  /** Those that can be used; none if {@link #unusable} says why. */
  List<Fabric> usable() {
    List<Fabric> usable = new ArrayList<>(fabrics.size());
    for (Fabric fabric : fabrics) {
      Reason reason = fabric.unavailable();
      if (reason == null) {
        usable.add(fabric);
        continue;
      }
      tell(reason, fabric);
      if (fabrics.size() > 1) {
        reports.report(reason, "fabric " + fabric.name() + " is passed over. " + fabric.problem());
      }
    }
    return usable;
  }

  /**
   * The same, looked at once a turn of the thread as long as all can be used.
   *
   * @param turn the number of the present one
   */
  List<Fabric> usable(long turn) {
    if (turn == usableIn) {
      return fabrics;
    }
    List<Fabric> usable = usable();
    if (usable.size() == fabrics.size()) {
      usableIn = turn;
    }
    return usable;
  }

  /** A usable one by its name, or null. */
  Fabric usable(String name) {
    for (Fabric fabric : fabrics) {
      if (fabric.name().equals(name)) {
        return fabric.unavailable() == null ? fabric : null;
      }
    }
    return null;
  }

  private void tell(Reason reason, Fabric fabric) {
    if (reason == Reason.NO_UCX) {
      ucxUnavailable.accept(fabric.problem());
    }
  }

  /** Why none can be used: the preferred one's reason; null if one can. */
  Reason unusable() {
    Reason first = null;
    for (Fabric fabric : fabrics) {
      Reason reason = fabric.unavailable();
      if (reason == null) {
        return null;
      }
      if (first == null) {
        first = reason;
      }
      tell(reason, fabric);
      if (!fabric.problem().isEmpty()) {
        reports.report(reason, "fabric " + fabric.name() + " cannot be used. " + fabric.problem());
      }
    }
    return first;
  }

  // ---- what streams hold that rest

  @Override
  public int tickMs(long nowNs) {
    for (Fabric fabric : fabrics) {
      if (fabric.mayRest()) {
        return NegotiationLoop.REST_TICK_MS;
      }
    }
    return NegotiationLoop.NO_TICK;
  }

  @Override
  public void check(long nowNs) {
    if (nowNs - restedAtNs >= REST_EVERY_NS) {
      restedAtNs = nowNs;
      for (Fabric fabric : fabrics) {
        if (fabric.mayRest()) {
          fabric.rest();
        }
      }
    }
  }

  /** Finds the streams whose memory is gone and fails them. Negotiation thread. */
  boolean examine() {
    boolean gone = false;
    for (Fabric fabric : fabrics) { // those between hosts have no memory that can go
      try {
        gone |= fabric.examine();
      } catch (RuntimeException | Error e) {
        reports.failure("looking for lost memory of fabric " + fabric.name(), e);
      }
    }
    return gone;
  }
}
