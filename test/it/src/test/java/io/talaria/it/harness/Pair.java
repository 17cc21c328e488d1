// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static io.talaria.it.harness.Flavour.PLAIN;
import static io.talaria.it.harness.Flavour.PLAIN_17;
import static io.talaria.it.harness.Flavour.TALARIA;
import static io.talaria.it.harness.Flavour.TALARIA_17;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.NioTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the two sides of a test are.
 *
 * @param server the side that accepts
 * @param client the side that connects
 */
public record Pair(Flavour server, Flavour client) {
  /** Both sides as on the JDK: shows that the test is right. */
  public static final Pair NONE = new Pair(PLAIN, PLAIN);

  /** Both sides have the agent. */
  public static final Pair BOTH = new Pair(TALARIA, TALARIA);

  /**
   * With the agent on none, on one and on both sides.
   *
   * @return four pairs, or three with the agent if {@link Settings#fewPairs}
   */
  public static List<Pair> coexisting() {
    List<Pair> some = List.of(new Pair(TALARIA, PLAIN), new Pair(PLAIN, TALARIA), BOTH);
    return Settings.fewPairs() ? some : Stream.concat(Stream.of(NONE), some.stream()).toList();
  }

  /**
   * As {@link #coexisting}, for programs that take long to start.
   *
   * @return four pairs, or one with the agent on both sides if {@link Settings#fewPairs}
   */
  public static List<Pair> coexistingAtLength() {
    return Settings.fewPairs() ? List.of(BOTH) : coexisting();
  }

  /**
   * With the agent on none, on one and on both sides, and on both sides on Java 17.
   *
   * @return five pairs, or one of both Javas with the agent if {@link Settings#fewPairs}
   */
  public static List<Pair> coexistingAndOld() {
    if (Settings.fewPairs()) {
      return List.of(new Pair(TALARIA_17, TALARIA));
    }
    List<Pair> pairs = new ArrayList<>(coexisting());
    pairs.add(new Pair(TALARIA_17, TALARIA_17));
    return pairs;
  }

  /**
   * With the agent on none or on both sides.
   *
   * @return two pairs, or one with the agent if {@link Settings#fewPairs}
   */
  public static List<Pair> noneAndBoth() {
    return Settings.fewPairs() ? List.of(BOTH) : List.of(NONE, BOTH);
  }

  /**
   * With the agent on both sides, on Java 17 and the newer one.
   *
   * @return three pairs, or one if {@link Settings#fewPairs}
   */
  public static List<Pair> withOldJava() {
    if (Settings.fewPairs()) {
      return List.of(new Pair(TALARIA_17, TALARIA));
    }
    return List.of(
        new Pair(TALARIA_17, TALARIA),
        new Pair(TALARIA, TALARIA_17),
        new Pair(TALARIA_17, TALARIA_17));
  }

  /**
   * Everything at once: none, both, and the mixtures of Java 17 and the newer one.
   *
   * @return six pairs, or two with the agent if {@link Settings#fewPairs}
   */
  public static List<Pair> everyJava() {
    if (Settings.fewPairs()) {
      return List.of(BOTH, new Pair(TALARIA_17, TALARIA));
    }
    return List.of(
        NONE,
        new Pair(PLAIN_17, PLAIN),
        BOTH,
        new Pair(TALARIA_17, TALARIA),
        new Pair(TALARIA, TALARIA_17),
        new Pair(TALARIA_17, TALARIA_17));
  }

  /**
   * Whether connections between the two must be accelerated.
   *
   * @return true if both have the agent
   */
  public boolean accelerated() {
    return server.accelerated() && client.accelerated();
  }

  /** Skips the test if this machine or this run lacks one of the two. */
  public void assume() {
    assumeTrue(Settings.fast() != NioTransport.UCX || accelerated(), "there is no UCX in it");
    server.assume();
    client.assume();
  }

  @Override
  public String toString() {
    return client + " to " + server;
  }
}
