// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.plan;

/**
 * A binding on a road: what a pair of JVMs is started for.
 *
 * @param binding the binding
 * @param road the road
 */
public record Contender(BindingKind binding, Road road) {
  /** Returns the name in tables and pictures. */
  public String label() {
    return binding.sockets() ? binding.label() + " " + road.label() : binding.label();
  }
}
