// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The output of a connection once it has switched to the transport. For the holder of the channel's
 * write lock.
 */
final class TransportOutput {
  /** What a write says that is the first to meet a reset, here and in the kernel's words. */
  static final String RESET_BY_PEER = "Connection reset by peer";

  private static final int SPIN_CHECKS = 32;

  private final TransportStream stream;
  private final ConnectionCounters counters;
  private final Spinner spinner;
  private final TalariaSocketChannel channel;
  private int writes;

  TransportOutput(
      TransportStream stream,
      ConnectionCounters counters,
      Spinner spinner,
      TalariaSocketChannel channel) {
    this.stream = stream;
    this.counters = counters;
    this.spinner = spinner;
    this.channel = channel;
  }

  /** Writes as much as there is room for. */
  @NotInlined
  int write(ByteBuffer src) throws IOException {
    int n = stream.write(src);
    Faults.poll(++writes);
    if (n < 0) {
      throw ended(n);
    }
    counters.acceleratedOut(n);
    return n;
  }

  /** Gathers as much as there is room for. */
  @NotInlined
  long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    long n = stream.write(srcs, offset, length);
    Faults.poll(++writes);
    if (n < 0) {
      throw ended(n);
    }
    counters.acceleratedOut((int) n);
    return n;
  }

  private IOException ended(long how) {
    Faults.take();
    return how == TransportStream.RESET
        ? channel.connectionPath().input().failedByReset()
        : new IOException("Broken pipe");
  }

  /** Writes, spinning for a while where there is no room. */
  void spin(ByteBuffer src) throws IOException {
    if (JdkNio.isVirtual(Thread.currentThread()) || !spinner.start()) {
      return;
    }
    boolean found = false;
    try {
      do {
        for (int i = 0; i < SPIN_CHECKS; i++) {
          if (stream.readiness(TransportStream.WRITE) != 0 && write(src) > 0) {
            found = true;
            if (!src.hasRemaining()) {
              return;
            }
            spinner.extend();
          }
          Thread.onSpinWait();
        }
      } while (!channel.outputEnding() && spinner.goOn());
    } finally {
      spinner.stop(found);
    }
  }
}
