// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import io.talaria.messaging.TestVerbs;
import io.talaria.messaging.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/**
 * Node 2 of {@link WakeUps}, which stands still for moments. For one thread, which closes it.
 *
 * <p>It is in a process of its own, but on the provider of verbs in memory, which reaches no other
 * process.
 */
abstract sealed class FarNode permits FarProcess, FarNeighbour {
  static final Duration LIMIT = Duration.ofSeconds(60);

  /** Where it listens; 0 if by TCP nowhere. */
  final int port;

  FarNode(int port) {
    this.port = port;
  }

  static FarNode start(Transport transport, int dataRingBytes, Path directory) throws Exception {
    return transport == Transport.VERBS && !TestVerbs.isDevice()
        ? FarNeighbour.start(dataRingBytes, directory)
        : FarProcess.start(transport, dataRingBytes, directory);
  }

  /** Stops it for less than 10 ms, soon. */
  abstract void stopForAMoment(Random random) throws IOException;

  /** Stops the calling process so. */
  abstract void stopCallerForAMoment(Random random) throws IOException;

  /** Makes it tell how it stands; {@link #said} has it soon. */
  abstract void tell() throws IOException;

  /** All that it has written. */
  abstract String said();

  /** Has it close its node and end. */
  abstract void end() throws Exception;

  /** Ends all of it, however it stands. */
  abstract void close() throws Exception;
}
