// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.CommunicationException.Kind;
import io.talaria.mpj.device.Payload;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * A window of pieces of memory that this rank attaches and detaches while it is open. Each piece
 * gets a place of its own among the displacements, with a gap before the next, so that an access
 * beyond the end of one meets no other.
 */
public final class DynamicMemory extends WindowMemory {
  private static final long GAP = 4096;

  private record Piece(long start, long bytes, WindowMemory memory) {
    TargetPart within(TargetPart part) {
      return new TargetPart(part.rank(), part.displacement() - start, part.count(), part.layout());
    }
  }

  private final NavigableMap<Long, Piece> pieces = new ConcurrentSkipListMap<>();

  /** Where the next piece will be; guarded by this. */
  private long next = GAP;

  /** Without pieces. */
  public DynamicMemory() {
    super(null, 0, newLock(), false);
  }

  /**
   * Attaches a piece.
   *
   * @param segment the memory
   * @param start bytes in it before the piece
   * @param bytes how long the piece is
   * @return the displacement of its first byte
   */
  public synchronized long attach(MemorySegment segment, long start, long bytes) {
    long at = next;
    next = (at + bytes + 2 * GAP - 1) & -GAP;
    pieces.put(at, new Piece(at, bytes, new WindowMemory(segment, start, null, false)));
    return at;
  }

  /**
   * Detaches a piece.
   *
   * @param displacement what {@link #attach} gave
   * @return whether one was there
   */
  public boolean detach(long displacement) {
    return pieces.remove(displacement) != null;
  }

  /** The piece that has all elements of a part. */
  private Piece of(TargetPart part) {
    Layout layout = part.layout();
    int bytes = layout.base().bytes();
    long last = (part.count() - 1L) * layout.extent();
    long from = part.displacement() + (layout.first() + Math.min(0, last)) * bytes;
    long end = part.displacement() + (layout.end() + Math.max(0, last)) * bytes;
    Map.Entry<Long, Piece> found = pieces.floorEntry(from);
    if (found == null || end > found.getKey() + found.getValue().bytes) {
      throw new CommunicationException(
          Kind.RANGE,
          "bytes "
              + from
              + " to "
              + (end - 1)
              + " of the window of rank "
              + part.rank()
              + ", where no memory is attached");
    }
    return found.getValue();
  }

  @Override
  Payload payload(TargetPart part) {
    Piece piece = of(part);
    return piece.memory.payload(piece.within(part));
  }

  @Override
  void put(Part origin, TargetPart target) {
    if (target.bytes() > 0) {
      Piece piece = of(target);
      piece.memory.put(origin, piece.within(target));
    }
  }

  @Override
  void get(Part result, TargetPart target) {
    if (target.bytes() > 0) {
      Piece piece = of(target);
      piece.memory.get(result, piece.within(target));
    }
  }

  @Override
  void accumulate(
      TargetPart target,
      long at,
      MemorySegment data,
      long dataOffset,
      int length,
      Arithmetic op,
      MemorySegment old,
      long oldOffset) {
    Piece piece = of(target);
    piece.memory.accumulate(piece.within(target), at, data, dataOffset, length, op, old, oldOffset);
  }

  @Override
  long compareAndSwap(TargetPart target, long expected, long bits) {
    Piece piece = of(target);
    return piece.memory.compareAndSwap(piece.within(target), expected, bits);
  }
}
