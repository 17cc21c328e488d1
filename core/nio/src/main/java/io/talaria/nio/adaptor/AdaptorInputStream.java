// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * What {@link SocketAdaptor} gives for reading. Any thread may call it; closing closes the socket.
 */
final class AdaptorInputStream extends InputStream {
  private final SocketAdaptor socket;
  private final TimedChannel timed;

  AdaptorInputStream(SocketAdaptor socket, TimedChannel timed) {
    this.socket = socket;
    this.timed = timed;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] to, int offset, int lengthBytes) throws IOException {
    Objects.checkFromIndexSize(offset, lengthBytes, to.length);
    if (lengthBytes == 0) {
      return 0;
    }
    return timed.read(
        ByteBuffer.wrap(to, offset, lengthBytes),
        TimeUnit.MILLISECONDS.toNanos(socket.timeoutMs()));
  }

  @Override
  public int available() throws IOException {
    return timed.available();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
