// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * A run as its file describes it, checked; its fields are those of the file. docs/observatory.md
 * says what each field means.
 *
 * @param name its name
 * @param bindings the libraries to measure
 * @param transports what carries those that use sockets; null if none does
 * @param patterns what they do
 * @param sizes of messages, in bytes
 * @param connections how many at once, one case each
 * @param processes how many of them exchange messages all to all, one case each
 * @param rates operations a second and connection for the open loop; 0 is the closed loop
 * @param operations how many in each connection at most
 * @param halveFromBytes from this size on, operations are halved with each doubling; 0: never
 * @param seconds how long a run is measured at most
 * @param warmUpSeconds how long it is warmed up at least
 * @param repetitions how often all is repeated, with new JVMs each time
 * @param threads event loops of a binding that has some; 0: as many as connections
 * @param ucxTransports {@code UCX_TLS} for UCX; empty for UCX's choice
 * @param limitSeconds how long any phase may take beyond what is measured
 */
public record RunPlan(
    String name,
    List<BindingKind> bindings,
    List<SocketTransport> transports,
    List<Pattern> patterns,
    List<Integer> sizes,
    List<Integer> connections,
    List<Integer> processes,
    List<Integer> rates,
    Operations operations,
    int halveFromBytes,
    double seconds,
    double warmUpSeconds,
    int repetitions,
    int threads,
    String ucxTransports,
    int limitSeconds) {

  /** Copies the lists. */
  public RunPlan {
    bindings = List.copyOf(bindings);
    transports = transports == null ? List.of() : List.copyOf(transports);
    patterns = List.copyOf(patterns);
    sizes = List.copyOf(sizes);
    connections = List.copyOf(connections);
    processes = List.copyOf(processes);
    rates = List.copyOf(rates);
  }

  /**
   * How many operations a connection does at most.
   *
   * @param throughput in patterns that measure throughput
   * @param latency in patterns that time each one
   */
  public record Operations(long throughput, long latency) {}

  /** Returns what pairs of JVMs are started for. */
  public List<LinkImplementation> implementations() {
    List<LinkImplementation> all = new ArrayList<>();
    for (BindingKind binding : bindings) {
      if (binding.sockets()) {
        transports.forEach(transport -> all.add(new LinkImplementation(binding, transport)));
      } else {
        all.add(new LinkImplementation(binding, SocketTransport.DIRECT));
      }
    }
    return all;
  }

  /**
   * Cases that the same JVMs can measure one after the other.
   *
   * @param allToAll whether all are connected with all; else there are two
   * @param processes how many JVMs
   */
  public record Heat(boolean allToAll, int processes) {
    /** Returns it in words. */
    public String describe() {
      return allToAll ? "all to all, " + processes + " processes" : "pairs";
    }
  }

  /** Returns what JVMs are started for. */
  public List<Heat> heats() {
    List<Heat> all = new ArrayList<>();
    if (patterns.stream().anyMatch(one -> one != Pattern.ALL_TO_ALL)) {
      all.add(new Heat(false, 2));
    }
    if (patterns.contains(Pattern.ALL_TO_ALL)) {
      processes.forEach(count -> all.add(new Heat(true, count)));
    }
    return all;
  }

  /**
   * Returns what is measured with an implementation in a heat, connections outermost.
   *
   * @param implementation the implementation
   * @param heat the heat
   * @return empty if it can do nothing of it
   */
  public List<Case> cases(LinkImplementation implementation, Heat heat) {
    List<Pattern> which =
        patterns.stream()
            .filter(implementation.binding()::supports)
            .filter(one -> heat.allToAll() == (one == Pattern.ALL_TO_ALL))
            .toList();
    return cases(implementation, which, heat.processes());
  }

  private List<Case> cases(
      LinkImplementation implementation, List<Pattern> which, int processCount) {
    List<Integer> can = sizes.stream().filter(implementation.binding()::supports).toList();
    List<Case> all = new ArrayList<>();
    for (int count : connections) {
      for (Pattern pattern : which) {
        for (int rate : pattern.latency() ? rates : List.of(0)) {
          for (int size : can) {
            all.add(new Case(pattern, processCount, count, size, rate, operations(pattern, size)));
          }
        }
      }
    }
    return all;
  }

  /**
   * Returns all that is measured with an implementation.
   *
   * @param implementation the implementation
   */
  public List<Case> cases(LinkImplementation implementation) {
    return heats().stream().flatMap(heat -> cases(implementation, heat).stream()).toList();
  }

  /** Returns how many processes there are at most at once. */
  public int maxProcesses() {
    return heats().stream().mapToInt(Heat::processes).max().orElseThrow();
  }

  private long operations(Pattern pattern, int sizeBytes) {
    long most = pattern.latency() ? operations.latency() : operations.throughput();
    if (halveFromBytes == 0 || sizeBytes < halveFromBytes) {
      return most;
    }
    int doublings = 1 + (int) (Math.log((double) sizeBytes / halveFromBytes) / Math.log(2));
    return Math.max(1, most >> doublings);
  }

  /** Returns the largest size. */
  public int maxBytes() {
    return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
  }

  /** Returns how many cases there are, in one repetition. */
  public int count() {
    return implementations().stream()
        .mapToInt(implementation -> cases(implementation).size())
        .sum();
  }
}
