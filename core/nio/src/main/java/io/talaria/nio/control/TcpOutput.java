// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.counters.ConnectionCounters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The output of a connection while it is plain TCP. Under the connection path's out lock. */
public final class TcpOutput {
  /** Of a heap buffer: the JDK copies all that it is given, for each call. */
  private static final int MAX_COPIED_BYTES = 1 << 20;

  private final SocketChannel control;
  private final ConnectionCounters counters;
  private long writtenBytes;

  /** Null when nothing is counted for an upgrade, or no more. */
  private Earning earning;

  /**
   * @param control what is written to
   * @param counters where the bytes are counted
   * @param earning what the calls are counted for, or null
   */
  public TcpOutput(SocketChannel control, ConnectionCounters counters, Earning earning) {
    this.earning = earning;
    this.control = control;
    this.counters = counters;
  }

  /** How many bytes have been put on TCP. Final once the output has switched. */
  public long writtenBytes() {
    return writtenBytes;
  }

  /**
   * As {@link SocketChannel#write(ByteBuffer)}; counts. May write a part although there is room for
   * more.
   */
  public int write(ByteBuffer src) throws IOException {
    boolean whole = src.isDirect() || src.remaining() <= MAX_COPIED_BYTES;
    int n = whole ? control.write(src) : writePart(src);
    count(n);
    return n;
  }

  private int writePart(ByteBuffer src) throws IOException {
    int n = control.write(src.slice(src.position(), MAX_COPIED_BYTES));
    src.position(src.position() + n);
    return n;
  }

  /** As {@link SocketChannel#write(ByteBuffer[], int, int)}; counts. */
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
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
