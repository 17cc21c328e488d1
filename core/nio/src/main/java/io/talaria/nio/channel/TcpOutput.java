// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The output of a connection while it is plain TCP. Under the connection path's out lock. */
final class TcpOutput {
  private final SocketChannel control;
  private final ConnectionCounters counters;
  private long writtenBytes;

  /** Null when nothing is counted for an upgrade, or no more. */
  private Earning earning;

  TcpOutput(SocketChannel control, ConnectionCounters counters, Earning earning) {
    this.earning = earning;
    this.control = control;
    this.counters = counters;
  }

  /** How many bytes have been put on TCP. Final once the output has switched. */
  long writtenBytes() {
    return writtenBytes;
  }

  int write(ByteBuffer src) throws IOException {
    int n = control.write(src);
    count(n);
    return n;
  }

  long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    long n = control.write(srcs, offset, length);
    count((int) n);
    return n;
  }

  private void count(int n) {
    writtenBytes += n;
    counters.tcpOut(n);
    if (earning != null && n > 0 && earning.written()) {
      earning = null;
    }
  }
}
