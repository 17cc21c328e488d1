// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import java.util.List;

/**
 * What is compared: the sockets that JVMs run on, a library, or a program that does the same
 * without Java.
 */
public interface Implementation {
  /** The JDK's own provider, nothing added. */
  Implementation JDK = OfSockets.JDK;

  /** The same program with the agent on both sides. */
  Implementation TALARIA = OfSockets.TALARIA;

  /** The same on UCX by JUCX, where {@link #TALARIA} is on UCX by the JVM's own means. */
  Implementation TALARIA_BY_JUCX = OfSockets.TALARIA_BY_JUCX;

  /** {@code ucx_perftest}, where it has a test of the same kind; no JVMs. */
  Implementation UCX_IN_C = OfSockets.UCX_IN_C;

  /** The same as {@link #TALARIA} with all ports left out: what the agent's presence costs. */
  Implementation TALARIA_ON_TCP = OfSockets.TALARIA_ON_TCP;

  /** The JDK's sockets left aside: the same program on Netty's native transport epoll. */
  Implementation NETTY_EPOLL = OfSockets.NETTY_EPOLL;

  /** Returns the name for tables. */
  String label();

  /** Returns whether the agent is on both sides. */
  boolean onTalaria();

  /** Returns those that run the same program, on different sockets. */
  static List<Implementation> ofSockets() {
    return List.of(JDK, TALARIA);
  }

  /** Those of programs, by their names in files. */
  enum OfSockets implements Implementation {
    /** {@link Implementation#JDK}. */
    JDK("JDK"),
    /** {@link Implementation#TALARIA}. */
    TALARIA("Talaria"),
    /** {@link Implementation#TALARIA_BY_JUCX}. */
    TALARIA_BY_JUCX("Talaria by JUCX"),
    /** {@link Implementation#TALARIA_ON_TCP}. */
    TALARIA_ON_TCP("Talaria on TCP"),
    /** {@link Implementation#UCX_IN_C}. */
    UCX_IN_C("UCX in C"),
    /** {@link Implementation#NETTY_EPOLL}. */
    NETTY_EPOLL("Netty's epoll");

    private final String label;

    OfSockets(String label) {
      this.label = label;
    }

    @Override
    public String label() {
      return label;
    }

    @Override
    public boolean onTalaria() {
      return this == TALARIA || this == TALARIA_BY_JUCX || this == TALARIA_ON_TCP;
    }
  }
}
