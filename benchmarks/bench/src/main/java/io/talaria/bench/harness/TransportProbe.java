// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.Connections;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.nio.channels.spi.SelectorProvider;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Looks in a child JVM which transport its connections really take. Any thread may call it. */
public final class TransportProbe {
  private static final String TALARIA_PROVIDER = "io.talaria.nio.TalariaProvider";

  /** The property that says that connections must stay on TCP. */
  static final String ON_TCP = "talaria.harness.tcp";

  private TransportProbe() {}

  /**
   * The transports of the connections of one process.
   *
   * @param provider class name of the selector provider
   * @param accelerated connections on a transport
   * @param plain connections on TCP
   * @param transports how many connections per transport and reason, as in {@code shm (same-host)}
   * @param tcpBytes bytes that the connections have moved on TCP, in and out
   * @param acceleratedBytes bytes that the connections have moved on a transport, in and out
   */
  public record Transports(
      String provider,
      int accelerated,
      int plain,
      Map<String, Integer> transports,
      long tcpBytes,
      long acceleratedBytes) {

    /** Returns the transports in words, {@code 3 tcp (peer-not-accelerated)}. */
    public String describe() {
      if (transports.isEmpty()) {
        return "no connection known to " + provider;
      }
      StringBuilder text = new StringBuilder();
      transports.forEach(
          (transport, count) ->
              text.append(text.isEmpty() ? "" : ", ").append(count).append(' ').append(transport));
      return text.toString();
    }
  }

  /** Returns the class name of this process's selector provider. */
  public static String provider() {
    return SelectorProvider.provider().getClass().getName();
  }

  /** Returns whether this process runs on Talaria's provider. */
  public static boolean switchedOn() {
    return provider().equals(TALARIA_PROVIDER);
  }

  /** Returns whether this process's connections must be accelerated. */
  public static boolean accelerates() {
    return switchedOn() && !Boolean.getBoolean(ON_TCP);
  }

  /** Returns the transports of this process's open connections. */
  public static Transports look() {
    return switchedOn()
        ? Talaria.look()
        : new Transports(provider(), 0, 0, new LinkedHashMap<>(), 0, 0);
  }

  /**
   * Returns how long after they were opened the transports of this process's connections may still
   * change.
   *
   * @param connections how many connections there are
   * @return nanoseconds; 0 if all of them have the transport that they will keep
   */
  public static long undecidedNs(int connections) {
    return switchedOn() ? Talaria.undecidedNs(connections) : 0;
  }

  /** Apart, so that a plain run never loads a class of Talaria's. */
  private static final class Talaria {
    /** Clients look for a listener that has just been bound until 2.2 s after they connected. */
    private static final long SOUGHT_NS = TimeUnit.SECONDS.toNanos(3);

    private static final long NEGOTIATED_NS = TimeUnit.SECONDS.toNanos(10);

    static long undecidedNs(int connections) {
      int known = 0;
      long longest = 0;
      for (ConnectionInfo info : Connections.snapshot()) {
        if (info.role() != Role.LISTENER) {
          known++;
          longest =
              Math.max(
                  longest, info.transport() == NioTransport.TCP ? undecidedNs(info.reason()) : 0);
        }
      }
      return known < connections ? NEGOTIATED_NS : longest;
    }

    private static long undecidedNs(Reason reason) {
      return switch (reason) {
        case PENDING, NOT_EARNED, LIMIT -> NEGOTIATED_NS;
        case PEER_NOT_ACCELERATED, NOT_MATCHED -> SOUGHT_NS;
        default -> 0;
      };
    }

    static Transports look() {
      int accelerated = 0;
      int plain = 0;
      long tcpBytes = 0;
      long acceleratedBytes = 0;
      Map<String, Integer> transports = new TreeMap<>();
      for (ConnectionInfo info : Connections.snapshot()) {
        if (info.role() == Role.LISTENER) {
          continue;
        }
        if (info.transport() == NioTransport.TCP) {
          plain++;
        } else {
          accelerated++;
        }
        tcpBytes += info.tcpInBytes() + info.tcpOutBytes();
        acceleratedBytes += info.acceleratedInBytes() + info.acceleratedOutBytes();
        transports.merge(
            info.transport().code() + " (" + info.reason().code() + ")", 1, Integer::sum);
      }
      return new Transports(provider(), accelerated, plain, transports, tcpBytes, acceleratedBytes);
    }
  }
}
