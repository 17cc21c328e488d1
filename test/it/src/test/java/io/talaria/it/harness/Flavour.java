// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.harness;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.NioTransport;
import java.nio.file.Path;

/** Which sockets a child process has, and which Java runs it. */
public enum Flavour {
  /** The JDK's own sockets on the Java that runs the tests. */
  PLAIN(false, false),
  /** The agent on the Java that runs the tests. */
  TALARIA(true, false),
  /** The JDK's own sockets on Java 17. */
  PLAIN_17(false, true),
  /** The agent on Java 17. */
  TALARIA_17(true, true);

  private final boolean accelerated;
  private final boolean old;

  Flavour(boolean accelerated, boolean old) {
    this.accelerated = accelerated;
    this.old = old;
  }

  /**
   * Whether the process has the agent.
   *
   * @return true if so
   */
  public boolean accelerated() {
    return accelerated;
  }

  /** Skips the test if this machine or this run has no such thing. */
  public void assume() {
    assumeTrue(!accelerated || Settings.agent().isPresent(), "talaria.test.agent=none");
    assumeTrue(
        !wantsJucx() || Settings.jucxOfAll().isPresent(),
        "UCX on Java 17 needs JUCX: set talaria.test.jucx");
    assumeTrue(Settings.fast() != NioTransport.UCX || Settings.ucxInstalled(), "no UCX here");
    assumeTrue(!old || Settings.java17().isPresent(), "no Java 17: set talaria.test.java17");
  }

  /** Whether UCX is asked for on a Java that reaches it by JUCX alone. */
  boolean wantsJucx() {
    return accelerated && old && Settings.fast() == NioTransport.UCX;
  }

  Path javaHome() {
    return old ? Settings.java17().orElseThrow() : Settings.ownJava();
  }
}
