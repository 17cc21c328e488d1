// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

/** Whose sockets a pair of JVMs runs on. */
public enum Contender {
  /** The JDK's own provider, nothing added. */
  JDK("JDK"),
  /** The same program with the agent on both sides. */
  TALARIA("Talaria");

  private final String label;

  Contender(String label) {
    this.label = label;
  }

  /** Returns the name for tables. */
  public String label() {
    return label;
  }
}
