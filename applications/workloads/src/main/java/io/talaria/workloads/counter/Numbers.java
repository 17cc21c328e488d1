// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.counter;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Numbers of 64 bits over a blocking channel. One thread may write while another reads; the caller
 * that opened the channel closes it.
 */
final class Numbers {
  /** What a client begins with. */
  static final long MAGIC = 0x54414c_434f554e54L; // "TALCOUNT" without a letter

  private static final int READ_BYTES = 64 * 1024;

  private final SocketChannel channel;
  private final ByteBuffer out = ByteBuffer.allocateDirect(Long.BYTES); // confined to the writer
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES).flip(); // to the reader

  Numbers(SocketChannel channel) {
    this.channel = channel;
  }

  /** Writes one number, by a write of its own. */
  void write(long number) throws IOException {
    out.clear().putLong(number).flip();
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }

  /** Counts from one up to the number given. */
  void count(long upTo) throws IOException {
    for (long number = 1; number <= upTo; number++) {
      write(number);
    }
  }

  /** Reads the next number; waits for it. */
  long read() throws IOException {
    while (in.remaining() < Long.BYTES) {
      in.compact();
      int count = channel.read(in);
      in.flip();
      if (count < 0) {
        throw new EOFException("the other side has ended it");
      }
    }
    return in.getLong();
  }
}
