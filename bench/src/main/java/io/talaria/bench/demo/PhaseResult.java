// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.demo;

import io.talaria.bench.harness.TransportProbe.Roads;

/**
 * What the client measured in one phase.
 *
 * @param phase which
 * @param operations how many round trips or messages
 * @param elapsedNs in which time
 * @param histogram the round trips, encoded; empty for messages one way
 * @param roads which roads the connections took
 * @param rested whether compilers rested when measuring began
 */
record PhaseResult(
    DemoPhase phase,
    long operations,
    long elapsedNs,
    String histogram,
    Roads roads,
    boolean rested) {

  double perSecond() {
    return operations * 1e9 / elapsedNs;
  }
}
