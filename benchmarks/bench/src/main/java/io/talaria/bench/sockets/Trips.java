// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

import java.io.IOException;
import org.HdrHistogram.Histogram;

/** A client that makes round trips. Confined to one thread. */
interface Trips extends AutoCloseable {
  /**
   * Makes round trips for a while and records each, in nanoseconds from just before its message is
   * written until the last byte of its echo has been read.
   *
   * @param histogram where they are recorded
   * @param lengthNs for how long
   * @return how many, at least one
   * @throws IOException if a connection failed or ended
   */
  long run(Histogram histogram, long lengthNs) throws IOException;

  @Override
  void close() throws IOException;
}
