// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The transports on one host, in order of preference, and which of them can be used. */
final class LocalTransports implements NegotiationLoop.Timed {
  /** How long a stream is left what it holds after nothing has been sent: one to two of these. */
  private static final long REST_EVERY_NS = 1_000_000_000L;

  private final List<TransportProvider> transports;
  private final Reports reports;
  private final Consumer<String> ucxUnavailable;
  private long restedAtNs = System.nanoTime();

  /** The last turn of the thread in which all could be used. */
  private long usableIn = -1;

  /**
   * @param ucxUnavailable told why UCX cannot be used, more than once
   */
  LocalTransports(
      List<TransportProvider> transports, Reports reports, Consumer<String> ucxUnavailable) {
    this.transports = List.copyOf(transports);
    this.reports = reports;
    this.ucxUnavailable = ucxUnavailable;
  }

  List<TransportProvider> all() {
    return transports;
  }

  /** Whether one waits for channels to find their selectors. */
  boolean placeStreams() {
    for (TransportProvider transport : transports) {
      if (transport.placesStreams()) {
        return true;
      }
    }
    return false;
  }

  /** Whether it is not known yet which can be used. */
  boolean starting() {
    for (TransportProvider transport : transports) {
      if (transport.starting()) {
        return true;
      }
    }
    return false;
  }

  /** What connections take that their peers leave to this process: the first that may be usable. */
  NioTransport preferred() {
    for (TransportProvider transport : transports) {
      if (transport.starting() || transport.unavailable() == null) {
        return transport.kind();
      }
    }
    return NioTransport.TCP;
  }

  /** Those that can be used; none if {@link #unusable} says why. */
  List<TransportProvider> usable() {
    List<TransportProvider> usable = new ArrayList<>(transports.size());
    for (TransportProvider transport : transports) {
      Reason reason = transport.unavailable();
      if (reason == null) {
        usable.add(transport);
        continue;
      }
      tell(reason, transport);
      if (transports.size() > 1) {
        reports.report(
            reason, "transport " + transport.name() + " is passed over. " + transport.problem());
      }
    }
    return usable;
  }

  /**
   * The same, looked at once a turn of the thread as long as all can be used.
   *
   * @param turn the number of the present one
   */
  List<TransportProvider> usable(long turn) {
    if (turn == usableIn) {
      return transports;
    }
    List<TransportProvider> usable = usable();
    if (usable.size() == transports.size()) {
      usableIn = turn;
    }
    return usable;
  }

  /** A usable one by its name, or null. */
  TransportProvider usable(String name) {
    for (TransportProvider transport : transports) {
      if (transport.name().equals(name)) {
        return transport.unavailable() == null ? transport : null;
      }
    }
    return null;
  }

  private void tell(Reason reason, TransportProvider transport) {
    if (reason == Reason.NO_UCX) {
      ucxUnavailable.accept(transport.problem());
    }
  }

  /** Why none can be used: the preferred one's reason; null if one can. */
  Reason unusable() {
    Reason first = null;
    for (TransportProvider transport : transports) {
      Reason reason = transport.unavailable();
      if (reason == null) {
        return null;
      }
      if (first == null) {
        first = reason;
      }
      tell(reason, transport);
      if (!transport.problem().isEmpty()) {
        reports.report(
            reason, "transport " + transport.name() + " cannot be used. " + transport.problem());
      }
    }
    return first;
  }

  // ---- what streams hold that rest

  @Override
  public int tickMs(long nowNs) {
    for (TransportProvider transport : transports) {
      if (transport.mayRest()) {
        return NegotiationLoop.REST_TICK_MS;
      }
    }
    return NegotiationLoop.NO_TICK;
  }

  @Override
  public void check(long nowNs) {
    if (nowNs - restedAtNs >= REST_EVERY_NS) {
      restedAtNs = nowNs;
      for (TransportProvider transport : transports) {
        if (transport.mayRest()) {
          transport.rest();
        }
      }
    }
  }

  /** Finds the streams whose memory is gone and fails them. Negotiation thread. */
  boolean examine() {
    boolean gone = false;
    for (TransportProvider transport :
        transports) { // those between hosts have no memory that can go
      try {
        gone |= transport.examine();
      } catch (RuntimeException | Error e) {
        reports.failure("looking for lost memory of transport " + transport.name(), e);
      }
    }
    return gone;
  }
}
