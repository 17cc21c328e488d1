// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.wire;

import java.util.List;
import java.util.stream.IntStream;

/** What {@code bench messages} measures. */
public enum MessagesPattern {
  /** Objects one way. */
  THROUGHPUT("throughput"),
  /** A request and its response. */
  REQUEST("request"),
  /** The same after a pause, in which both ends fall asleep. */
  ASLEEP("asleep"),
  /** Objects both ways at once, between two nodes. */
  BOTH_WAYS("both-ways"),
  /** Objects from each node to all others in turn. */
  ALL_TO_ALL("all-to-all"),
  /** Objects from each node to all others in turn, and half-way to the next one alone. */
  TURNING("turning"),
  /** Objects from each node to the next one. */
  RING("ring"),
  /** Connections between all nodes, none of which was there before. */
  CONNECT("connect");

  /** What is measured by default. */
  public static final List<MessagesPattern> USUAL = List.of(THROUGHPUT, REQUEST);

  private final String word;

  MessagesPattern(String word) {
    this.word = word;
  }

  /** Whether it is for nodes alone. */
  public boolean ofNodes() {
    return this != THROUGHPUT && !isRequest();
  }

  /** Whether each message is a request, and the next one is sent after its response. */
  public boolean isRequest() {
    return this == REQUEST || this == ASLEEP;
  }

  /** How many nodes there are, if so many are wanted. */
  public int nodes(int wanted) {
    return this == THROUGHPUT || this == BOTH_WAYS ? 2 : wanted;
  }

  /**
   * To which nodes a node sends, in their order; the next one is the first.
   *
   * @param id its own, from 1
   * @param nodes how many there are
   */
  public int[] targets(int id, int nodes) {
    return switch (this) {
      case THROUGHPUT, REQUEST, ASLEEP -> id == 1 ? new int[] {2} : new int[0];
      case BOTH_WAYS, RING -> new int[] {id % nodes + 1};
      case ALL_TO_ALL, TURNING ->
          IntStream.range(0, nodes - 1).map(i -> (id + i) % nodes + 1).toArray();
      case CONNECT -> IntStream.rangeClosed(id + 1, nodes).toArray();
    };
  }

  /** Returns the word that users write. */
  @Override
  public String toString() {
    return word;
  }
}
