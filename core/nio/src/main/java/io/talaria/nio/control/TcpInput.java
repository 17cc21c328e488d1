// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.control;

import io.talaria.nio.counters.ConnectionCounters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The input of a connection while it is plain TCP, and no doorbell can stand among the bytes. For
 * the holder of the channel's read lock.
 */
public final class TcpInput {
  private final SocketChannel control;
  private final ConnectionCounters counters;
  private long takenBytes;
  private boolean ended;

  /** Null when nothing is counted for an upgrade, or no more. */
  private Earning earning;

  /**
   * @param control what is read
   * @param counters where the bytes are counted
   * @param earning what the calls are counted for, or null
   */
  public TcpInput(SocketChannel control, ConnectionCounters counters, Earning earning) {
    this.earning = earning;
    this.control = control;
    this.counters = counters;
  }

  /** How many bytes have been read. */
  public long takenBytes() {
    return takenBytes;
  }

  /** Continues where a transport was about to take over, and its stream was withdrawn. */
  public void resume(long bytes, boolean end) {
    takenBytes = bytes;
    ended = end;
  }

  /** As {@link SocketChannel#read(ByteBuffer)}. */
  public int read(ByteBuffer dst) throws IOException {
    return ended ? -1 : counted(control.read(dst));
  }

  /** As {@link SocketChannel#read(ByteBuffer[], int, int)}. */
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    return ended ? -1 : counted((int) control.read(dsts, offset, length));
  }

  private int counted(int n) {
    if (n > 0) {
      takenBytes += n;
      counters.tcpIn(n);
      if (earning != null && earning.read()) {
        earning = null;
      }
    }
    return n;
  }
}
