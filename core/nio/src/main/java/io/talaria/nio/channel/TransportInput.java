// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.TransportStream;
import java.net.SocketException;
import java.nio.ByteBuffer;

/**
 * The input of a connection when all that comes is on the transport. For the holder of the
 * channel's read lock.
 */
final class TransportInput {
  private static final int SPIN_CHECKS = 32;

  private final TransportStream stream;
  private final ConnectionCounters counters;
  private final Spinner spinner;
  private final TalariaSocketChannel channel;
  private int reads;

  /** A read has reported the reset, so every later one does. */
  private boolean resetRead;

  TransportInput(
      TransportStream stream,
      ConnectionCounters counters,
      Spinner spinner,
      TalariaSocketChannel channel) {
    this.stream = stream;
    this.counters = counters;
    this.spinner = spinner;
    this.channel = channel;
  }

  /** Reads what is there: bytes, 0 for nothing now, -1 at the end. The destination has room. */
  @NotInlined
  int read(ByteBuffer dst) throws SocketException {
    int n = stream.read(dst);
    Faults.poll(n > 0 ? ++reads : 1);
    if (n > 0) {
      counters.acceleratedIn(n);
      return n;
    }
    return n < 0 ? ended(n) : 0;
  }

  private int ended(int how) throws SocketException {
    Faults.take(); // what looks like an end may be memory that is gone
    if (how == TransportStream.RESET && channel.connectionPath().input().resetReport().toReader()) {
      resetRead = true;
      throw ConnectionPath.reset();
    }
    return TransportStream.END; // which is -1
  }

  /** A read without room for a byte: it moves nothing, but meets a reset that is known again. */
  int readNothing() throws SocketException {
    if (resetRead) {
      throw ConnectionPath.reset();
    }
    return 0;
  }

  /** Reads, spinning for a while if there is nothing; 0 if that was in vain. */
  int spin(ByteBuffer dst) throws SocketException {
    if (JdkNio.isVirtual(Thread.currentThread()) || !spinner.start()) {
      return 0;
    }
    int n = 0;
    try {
      do {
        for (int i = 0; i < SPIN_CHECKS; i++) {
          n = read(dst);
          if (n != 0) {
            return n;
          }
          Thread.onSpinWait();
        }
      } while (!channel.closing() && spinner.goOn());
      return 0;
    } finally {
      spinner.stop(n != 0);
    }
  }
}
