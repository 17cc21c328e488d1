// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.TransportProbe.Transports;

/**
 * What the client measured in one phase.
 *
 * @param phase which
 * @param operations how many round trips or messages
 * @param elapsedNs in which time
 * @param histogram the round trips, encoded; empty for messages one way
 * @param transports which transports the connections took
 * @param rested whether compilers rested when measuring began
 */
record PhaseResult(
    DemoPhase phase,
    long operations,
    long elapsedNs,
    String histogram,
    Transports transports,
    boolean rested) {

  double perSecond() {
    return operations * 1e9 / elapsedNs;
  }
}
