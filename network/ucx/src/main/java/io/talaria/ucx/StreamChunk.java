// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Raw;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Received bytes of a stream where UCX has put them. A program makes one and uses it again and
 * again: {@link Endpoint#receiveStream(StreamChunk)} fills it, {@link #release} empties it. Obeys
 * the worker's rule of threads. An empty one has length 0; reading from it throws {@link
 * IndexOutOfBoundsException}. Closing the endpoint or the worker empties it.
 */
public final class StreamChunk {
  private Endpoint endpoint;
  private long address;
  private long length;
  private StreamChunk next;

  /** Makes an empty one. */
  public StreamChunk() {}

  void requireEmpty() {
    if (endpoint != null) {
      throw new IllegalStateException("the chunk holds " + length + " bytes: release it first");
    }
  }

  void hold(Endpoint from, long data, long bytes, StreamChunk following) {
    endpoint = from;
    address = data;
    length = bytes;
    next = following;
  }

  StreamChunk next() {
    return next;
  }

  /** A list without one of its chunks. */
  static StreamChunk without(StreamChunk first, StreamChunk chunk) {
    if (first == chunk) {
      return chunk.next;
    }
    StreamChunk before = first;
    while (before.next != chunk) {
      before = before.next;
    }
    before.next = chunk.next;
    return first;
  }

  /**
   * How many bytes it has.
   *
   * @return a number; 0: it is empty
   */
  public long length() {
    return length;
  }

  /**
   * Reads a byte.
   *
   * @param offset where
   * @return the byte
   */
  public byte byteAt(long offset) {
    return Raw.byteAt(at(offset, 1));
  }

  /**
   * Reads an int in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the int
   */
  public int intAt(long offset) {
    return Raw.intAt(at(offset, 4));
  }

  /**
   * Reads a long in the native byte order.
   *
   * @param offset where; need not be aligned
   * @return the long
   */
  public long longAt(long offset) {
    return Raw.longAt(at(offset, 8));
  }

  /**
   * Copies bytes.
   *
   * @param offset where they are
   * @param to where they go
   * @param toOffset where in it
   * @param count how many
   */
  public void copyTo(long offset, MemorySegment to, long toOffset, long count) {
    Raw.copy(at(offset, count), to, toOffset, count);
  }

  /**
   * Copies bytes.
   *
   * @param offset where they are
   * @param to where they go
   * @param toOffset where in it
   * @param count how many
   */
  public void copyTo(long offset, byte[] to, int toOffset, int count) {
    Raw.copy(at(offset, count), to, toOffset, count);
  }

  /**
   * Copies bytes to the position of a buffer, and advances it.
   *
   * @param offset where they are
   * @param to where they go
   * @param count how many; at most what remains
   */
  public void copyTo(long offset, ByteBuffer to, int count) {
    Objects.checkFromIndexSize(0, count, to.remaining());
    long from = at(offset, count);
    if (to.hasArray()) {
      Raw.copy(from, to.array(), to.arrayOffset() + to.position(), count);
    } else {
      Raw.copy(from, MemorySegment.ofBuffer(to), 0, count);
    }
    to.position(to.position() + count);
  }

  private long at(long offset, long count) {
    Objects.checkFromIndexSize(offset, count, length);
    if (endpoint != null) {
      endpoint.worker().entered();
    }
    return address + offset;
  }

  /** Gives the bytes back to UCX ({@code ucp_stream_data_release}). Does nothing if it is empty. */
  public void release() {
    Endpoint from = endpoint;
    if (from != null) {
      from.release(this, address);
      endpoint = null;
      address = 0;
      length = 0;
      next = null;
    }
  }
}
