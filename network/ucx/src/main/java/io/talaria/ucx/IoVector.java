// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.UcpStructs.Iov;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Several pieces of memory that are sent or received as one ({@code ucp_dt_iov_t}). Immutable, so
 * that UCX may read it as long as an operation lasts; to be made once and used again and again. The
 * pieces belong to UCX as any buffer does, and their arenas must not be closed before an operation
 * on them is done.
 */
public final class IoVector {
  private final MemorySegment table;
  private final MemorySegment[] pieces;
  private final int count;
  private final long lengthBytes;
  private final boolean writable;

  private IoVector(MemorySegment[] pieces) {
    this.pieces = pieces;
    table = Arena.ofAuto().allocate(Math.max(1, pieces.length) * Iov.SIZE, 8);
    int used = 0;
    long total = 0;
    boolean all = true;
    for (MemorySegment piece : pieces) {
      long length = piece.byteSize();
      long address = Native.readable(piece, 0, length);
      all &= !piece.isReadOnly();
      if (length > 0) {
        long entry = table.address() + used * Iov.SIZE;
        Raw.word(entry + Iov.BUFFER, address);
        Raw.word(entry + Iov.LENGTH, length);
        total = Math.addExact(total, length);
        used++;
      }
    }
    count = used;
    lengthBytes = total;
    writable = all;
  }

  /**
   * Joins pieces of memory.
   *
   * @param pieces native memory, in order; empty ones are left out
   * @return a vector
   */
  public static IoVector of(MemorySegment... pieces) {
    return new IoVector(pieces.clone());
  }

  /**
   * How long the pieces are together.
   *
   * @return a number of bytes
   */
  public long lengthBytes() {
    return lengthBytes;
  }

  /** How many pieces UCX sees. */
  int count() {
    return count;
  }

  /** The address of the table, whose pieces UCX will read. */
  long readable() {
    for (MemorySegment piece : pieces) {
      if (!piece.scope().isAlive()) {
        throw new IllegalStateException("the arena of a piece is closed: " + piece);
      }
    }
    return table.address();
  }

  /** The address of the table, whose pieces UCX will write. */
  long writable() {
    if (!writable) {
      throw new IllegalArgumentException("a piece of the vector is read-only");
    }
    return readable();
  }

  /** Copies memory of UCX's into the pieces, which have room for it. */
  void fill(long from, long bytes) {
    long done = 0;
    for (int i = 0; done < bytes; i++) {
      long part = Math.min(pieces[i].byteSize(), bytes - done);
      Raw.copy(from + done, pieces[i], 0, part);
      done += part;
    }
  }

  @Override
  public String toString() {
    return "IoVector[" + count + " pieces, " + lengthBytes + " bytes]";
  }
}
