// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.bench.harness.TransportProbe;
import io.talaria.bench.link.Binding;
import io.talaria.bench.plan.BindingKind;
import io.talaria.bench.plan.Pattern;
import java.util.List;

/** What a measuring JVM is told, and what it reports. */
public final class Orders {
  private Orders() {}

  /** The phases of a run, in their order. */
  public enum Phase {
    /** The libraries are loaded. */
    INITIALIZE("the library cannot be loaded"),
    /** The server says how it can be reached. */
    OFFER("the server's side cannot be reached"),
    /** The client connects. */
    ANSWER(
        "the client's side cannot connect to the server's (to a port that its system has chosen: do"
            + " firewalls let it pass?)"),
    /** The server accepts. */
    ACCEPT("the server's side cannot accept the connection"),
    /** Buffers are made for a pattern and a size. */
    PREPARE("no message of that size can be prepared"),
    /** Operations that warm up, or count. */
    OPERATE("the connection broke"),
    /** The server stops waiting. */
    END("the end of the operations cannot be sent"),
    /** The server's side starts a server of {@code ucx_perftest}. */
    PERFTEST("ucx_perftest cannot be started"),
    /** Connections are closed. */
    CLEAN_UP("the connection cannot be closed");

    private final String failure;

    Phase(String failure) {
      this.failure = failure;
    }

    /** Returns what went wrong if it failed, in words. */
    String failure() {
      return failure;
    }
  }

  /**
   * An order.
   *
   * @param phase what to do; its end is reported by its name
   * @param body what belongs to it
   */
  public record Order(Phase phase, JsonNode body) {}

  /**
   * Of {@link Phase#INITIALIZE}.
   *
   * @param kind the library
   * @param client whether this side leads; the other is told when it is done
   */
  record Initialize(BindingKind kind, boolean client) {}

  /**
   * Of {@link Phase#INITIALIZE}, reported.
   *
   * @param release the library's release; empty if it has none of its own
   * @param unavailableReason why the library cannot be used; empty if it can
   * @param talaria whether it runs on Talaria
   */
  record Initialized(String release, String unavailableReason, boolean talaria) {}

  /**
   * Of {@link Phase#OFFER}.
   *
   * @param setup what the connections are for
   * @param connections how many there are to be with the next who answers
   */
  record Offer(Binding.Setup setup, int connections) {}

  /**
   * Of {@link Phase#ANSWER} and {@link Phase#ACCEPT}.
   *
   * @param setup what the connections are for
   * @param lines what the other side said, for each connection
   */
  record Meet(Binding.Setup setup, List<String> lines) {}

  /**
   * Reported by those who say how they can be reached.
   *
   * @param lines one for each connection
   */
  record Lines(List<String> lines) {}

  /**
   * Of {@link Phase#PREPARE}.
   *
   * @param pattern the pattern
   * @param sizeBytes the size of a message
   * @param warmUpSeconds how long this side wants to be warmed up at least
   */
  record Prepare(Pattern pattern, int sizeBytes, double warmUpSeconds) {}

  /**
   * Of {@link Phase#OPERATE}.
   *
   * @param operations how many in each connection
   * @param ratePerSecond of the open loop; 0 for the closed one
   * @param counts whether it is measured, not warmed up
   * @param timed whether each operation is timed, if the pattern allows it
   */
  record Operate(long operations, int ratePerSecond, boolean counts, boolean timed) {}

  /**
   * Of {@link Phase#OPERATE}, reported.
   *
   * @param elapsedNs from the first connection's beginning to the last one's end
   * @param sinceBegun times of the operations, encoded; null if none were timed
   * @param sinceDue of the open loop, likewise
   * @param warm whether this side is warm
   * @param rested whether compilers rested when it was last said to be warm
   * @param transports which transports the connections take
   * @param wireBytes what the network interface has carried meanwhile, both ways; negative if
   *     unknown
   * @param infinibandBytes what InfiniBand ports have; negative if there are none
   */
  public record Operated(
      long elapsedNs,
      String sinceBegun,
      String sinceDue,
      boolean warm,
      boolean rested,
      TransportProbe.Transports transports,
      long wireBytes,
      long infinibandBytes) {}

  /**
   * Of {@link Phase#PERFTEST}; its port is reported.
   *
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   */
  record Perftest(String transports) {}

  /** Carries nothing. */
  record Nothing(boolean done) {
    static final Nothing INSTANCE = new Nothing(true);
  }
}
