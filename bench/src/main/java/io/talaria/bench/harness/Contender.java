// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.util.List;

/** Who is compared: whose sockets a pair of JVMs runs on, or who does the same without Java. */
public enum Contender {
  /** The JDK's own provider, nothing added. */
  JDK("JDK"),
  /** The same program with the agent on both sides. */
  TALARIA("Talaria"),
  /** The same on UCX by JUCX, where {@link #TALARIA} is on UCX by the JVM's own means. */
  TALARIA_BY_JUCX("Talaria by JUCX"),
  /** {@code ucx_perftest}, where it has a test of the same kind; no JVMs. */
  UCX_IN_C("UCX in C");

  private final String label;

  Contender(String label) {
    this.label = label;
  }

  /** Returns the name for tables. */
  public String label() {
    return label;
  }

  /** Returns whether the agent is on both sides. */
  public boolean onTalaria() {
    return this == TALARIA || this == TALARIA_BY_JUCX;
  }

  /** Returns those that run the same program, on different sockets. */
  public static List<Contender> ofSockets() {
    return List.of(JDK, TALARIA);
  }
}
