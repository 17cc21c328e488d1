// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.contract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/** Bytes to send, and loops that send and receive all of them. */
final class Bytes {
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final int QUIET_TRIES = 40;

  private Bytes() {}

  static ByteBuffer bytes(int n, int seed) {
    byte[] random = new byte[n];
    new Random(seed).nextBytes(random);
    return ByteBuffer.wrap(random);
  }

  static ByteBuffer[] of(ByteBuffer... buffers) {
    return buffers;
  }

  /** Reads once, up to 100 bytes. */
  static int read(ReadableByteChannel channel) throws IOException {
    return channel.read(ByteBuffer.allocate(100));
  }

  /** Fills a buffer from a blocking or a non-blocking channel, and flips it. */
  static ByteBuffer readFully(ReadableByteChannel from, ByteBuffer into) throws IOException {
    long start = System.nanoTime();
    while (into.hasRemaining()) {
      int n = from.read(into);
      if (n < 0) {
        throw new IOException("ended after " + into.position());
      }
      if (n == 0) {
        pause(start);
      }
    }
    return into.flip();
  }

  static ByteBuffer readFully(ReadableByteChannel from, int n) throws IOException {
    return readFully(from, ByteBuffer.allocate(n));
  }

  /** Empties a buffer into a blocking or a non-blocking channel. */
  static void writeFully(WritableByteChannel to, ByteBuffer from) throws IOException {
    long start = System.nanoTime();
    while (from.hasRemaining()) {
      if (to.write(from) == 0) {
        pause(start);
      }
    }
  }

  /** Reads to the end of the stream; returns how many bytes came before it. */
  static long readToEnd(ReadableByteChannel from) throws IOException {
    long start = System.nanoTime();
    ByteBuffer into = ByteBuffer.allocate(1 << 16);
    long total = 0;
    int n = 0;
    while (n >= 0) {
      n = from.read(into.clear());
      total += Math.max(0, n);
      if (n == 0) {
        pause(start);
      }
    }
    return total;
  }

  private static void pause(long startNs) throws IOException {
    if (System.nanoTime() - startNs > DEADLINE_NS) {
      throw new IOException("nothing moves any more");
    }
    Thread.yield();
  }

  /**
   * Writes to a non-blocking channel until it has taken nothing for a while: buffers may grow after
   * they were full for the first time. Returns how many bytes it has taken.
   */
  static long fill(SocketChannel channel) throws IOException {
    ByteBuffer chunk = ByteBuffer.allocateDirect(1 << 18);
    long total = 0;
    int quiet = 0;
    while (quiet < QUIET_TRIES) {
      int n = channel.write(chunk.clear());
      total += n;
      quiet = n > 0 ? 0 : quiet + 1;
      if (n == 0) {
        LockSupport.parkNanos(1_000_000);
      }
    }
    return total;
  }
}
