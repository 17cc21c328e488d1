// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.examples;

import io.talaria.ucx.Context;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Feature;
import io.talaria.ucx.StreamChunk;
import io.talaria.ucx.Worker;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A stream of bytes: sent in large pieces, received as it comes, without copying. */
final class StreamingExample {
  private static final int PIECE_BYTES = 1 << 16;
  private static final int PIECES = 100;

  private StreamingExample() {}

  static String run() throws Exception {
    return Sides.run(
        Context.Options.of(Feature.STREAM), StreamingExample::receive, StreamingExample::send);
  }

  private static String receive(Sides sides, Worker worker, Endpoint other) {
    StreamChunk chunk = new StreamChunk();
    long bytes = 0;
    long sum = 0;
    int chunks = 0;
    while (bytes < (long) PIECES * PIECE_BYTES) {
      worker.progress();
      long length = other.receiveStream(chunk);
      if (length < 0) {
        throw new IllegalStateException("the stream has failed: " + length);
      }
      for (long i = 0; i < length; i++) {
        sum += Byte.toUnsignedInt(chunk.byteAt(i));
      }
      bytes += length;
      chunks += length > 0 ? 1 : 0;
      chunk.release();
    }
    return bytes + " bytes in " + (chunks > 0 ? "chunks" : "none") + ", their sum is " + sum;
  }

  private static String send(Sides sides, Worker worker, Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(PIECE_BYTES);
      for (int i = 0; i < PIECE_BYTES; i++) {
        piece.set(ValueLayout.JAVA_BYTE, i, (byte) i);
      }
      for (int i = 0; i < PIECES; i++) {
        Sides.finish(worker, other.sendStream(piece, 0, PIECE_BYTES, 0));
      }
      return "";
    }
  }
}
