// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

/** A server that runs in a child JVM; closed by {@link Peer}. */
public interface Service extends AutoCloseable {
  /** Returns the port it listens on. */
  int port();

  @Override
  void close();
}
