// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.chaos;

import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Settings;
import io.talaria.nio.NioTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What one program that is generated at random is like. Two plans of one seed are equal; what
 * threads make of it is not.
 *
 * @param seed chooses everything else
 * @param processes their sockets and their Java
 * @param selectors of each process
 * @param workers of each process
 * @param connections that each process keeps to any of them
 * @param actors threads of each process that disturb
 * @param actUs the mean time between two acts of one of them, in microseconds
 * @param restUs the longest pause between two requests, in microseconds
 * @param bytes the largest request
 * @param spin {@code talaria.spin.ns}, or empty for the usual
 * @param kills whether processes are killed
 * @param restless processes beside that never rest
 * @param quiet whether only the first process asks, one request after the other, so that a wake-up
 *     that is lost is not made good by another
 */
record StressPlan(
    long seed,
    List<Flavour> processes,
    int selectors,
    int workers,
    int connections,
    int actors,
    int actUs,
    int restUs,
    int bytes,
    String spin,
    boolean kills,
    int restless,
    boolean quiet) {

  static StressPlan of(long seed, boolean plain) {
    Random chance = new Random(seed * 0x9e37_79b9_7f4a_7c15L);
    List<Flavour> processes = new ArrayList<>();
    for (int i = 1 + chance.nextInt(3); i > 0; i--) {
      processes.add(flavour(chance.nextInt(3) == 0, plain));
    }
    boolean quiet = chance.nextBoolean();
    return new StressPlan(
        seed,
        List.copyOf(processes),
        1 + chance.nextInt(4),
        1 + chance.nextInt(4),
        2 + chance.nextInt(chance.nextBoolean() ? 4 : 24),
        1 + chance.nextInt(2),
        (int) Math.pow(10, (quiet ? 4 : 3) + 2 * chance.nextDouble()),
        (int) Math.pow(10, 2 + (quiet ? 1.5 : 2.5) * chance.nextDouble()),
        (int) Math.pow(10, 1 + (quiet ? 3 : 5) * chance.nextDouble()),
        List.of("", "", "0", "50000").get(chance.nextInt(4)),
        processes.size() > 1 && chance.nextBoolean(),
        chance.nextInt(4) == 0 ? 2 : 0,
        quiet);
  }

  private static Flavour flavour(boolean old, boolean plain) {
    boolean possible = old && Settings.java17().isPresent() && Settings.fast() != NioTransport.UCX;
    if (plain) {
      return possible ? Flavour.PLAIN_17 : Flavour.PLAIN;
    }
    return possible ? Flavour.TALARIA_17 : Flavour.TALARIA;
  }
}
