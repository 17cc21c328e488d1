// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What {@link SocketAdaptor} gives for writing. Any thread may call it; a write is complete before
 * the next one of the same socket begins. Closing closes the socket.
 */
final class AdaptorOutputStream extends OutputStream {
  private final SocketChannel channel;
  private final ReentrantLock writeLock;

  AdaptorOutputStream(SocketChannel channel, ReentrantLock writeLock) {
    this.channel = channel;
    this.writeLock = writeLock;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] from, int offset, int lengthBytes) throws IOException {
    Objects.checkFromIndexSize(offset, lengthBytes, from.length);
    if (lengthBytes == 0) {
      return;
    }
    ByteBuffer source = ByteBuffer.wrap(from, offset, lengthBytes);
    writeLock.lock();
    try {
      while (source.hasRemaining()) {
        // Looked at each time: the program may change the mode between two parts.
        if (channel.isOpen() && channel.isConnected() && !channel.isBlocking()) {
          throw new IllegalBlockingModeException();
        }
        channel.write(source);
      }
    } catch (ClosedChannelException e) {
      if (source.position() == offset) {
        throw e;
      }
      // One write to the program, which was cut: by a close, or by a shutdown, as the JDK says it.
      throw channel.isOpen() ? new IOException("Broken pipe", e) : new AsynchronousCloseException();
    } finally {
      writeLock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
