// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.ports;

import java.io.IOException;

/** Looks at ports, again and again. For one thread at a time. */
public interface PortSource extends AutoCloseable {
  /**
   * Looks at the ports.
   *
   * @return what they say now
   * @throws IOException if what is needed is missing; the message has the hint
   * @throws InterruptedException if this thread is interrupted
   */
  Look look() throws IOException, InterruptedException;

  @Override
  void close();
}
