// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.echo;

import io.talaria.cli.harness.HarnessException;

/** A connection to an echo server. Used by one thread, which closes it. */
interface EchoLink extends AutoCloseable {
  /** The longest line, in bytes of UTF-8. */
  int MAX_BYTES = 1 << 20;

  /** How long an answer may take. */
  int LIMIT_SECONDS = 10;

  /**
   * Sends a line and waits for the answer.
   *
   * @throws HarnessException if none comes, or the connection is lost
   * @throws InterruptedException if interrupted
   */
  String ask(String line) throws HarnessException, InterruptedException;

  /**
   * Returns why the connection was lost, or null if it stands. When it is lost between two lines,
   * the thread that opened it is interrupted.
   */
  HarnessException lost();

  @Override
  void close();
}
