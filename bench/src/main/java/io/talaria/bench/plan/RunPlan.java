// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * A run as its file describes it, checked. docs/observatory.md says what each field means.
 *
 * @param name its name
 * @param bindings the libraries to measure
 * @param roads what carries those that use sockets
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
 * @param transports {@code UCX_TLS} for UCX; empty for UCX's choice
 * @param limitSeconds how long any phase may take beyond what is measured
 */
public record RunPlan(
    String name,
    List<BindingKind> bindings,
    List<Road> roads,
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
    String transports,
    int limitSeconds) {

  /** Copies the lists. */
  public RunPlan {
    bindings = List.copyOf(bindings);
    roads = List.copyOf(roads);
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
  public List<Contender> contenders() {
    List<Contender> all = new ArrayList<>();
    for (BindingKind binding : bindings) {
      if (binding.sockets()) {
        roads.forEach(road -> all.add(new Contender(binding, road)));
      } else {
        all.add(new Contender(binding, Road.DIRECT));
      }
    }
    return all;
  }

  /**
   * Returns what is measured with a contender: a list for each time that JVMs are started, in each
   * connections outermost.
   *
   * @param contender the contender
   */
  public List<List<Case>> heats(Contender contender) {
    List<Pattern> can = patterns.stream().filter(contender.binding()::supports).toList();
    List<Pattern> ofPairs = can.stream().filter(one -> one != Pattern.ALL_TO_ALL).toList();
    List<List<Case>> all = new ArrayList<>();
    if (!ofPairs.isEmpty()) {
      all.add(cases(contender, ofPairs, 2));
    }
    if (can.contains(Pattern.ALL_TO_ALL)) {
      processes.forEach(count -> all.add(cases(contender, List.of(Pattern.ALL_TO_ALL), count)));
    }
    all.removeIf(List::isEmpty); // no size that it can do
    return all;
  }

  private List<Case> cases(Contender contender, List<Pattern> which, int processCount) {
    List<Integer> can = sizes.stream().filter(contender.binding()::supports).toList();
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
   * Returns all that is measured with a contender.
   *
   * @param contender the contender
   */
  public List<Case> cases(Contender contender) {
    return heats(contender).stream().flatMap(List::stream).toList();
  }

  /** Returns how many processes there are at most at once. */
  public int mostProcesses() {
    return contenders().stream()
        .flatMap(contender -> cases(contender).stream())
        .mapToInt(Case::processes)
        .max()
        .orElseThrow();
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
  public int largestBytes() {
    return sizes.stream().mapToInt(Integer::intValue).max().orElseThrow();
  }

  /** Returns how many cases there are, in one repetition. */
  public int count() {
    return contenders().stream().mapToInt(contender -> cases(contender).size()).sum();
  }
}
