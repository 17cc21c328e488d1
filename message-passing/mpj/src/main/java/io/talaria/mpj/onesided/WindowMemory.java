// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.onesided;

import io.talaria.mpj.collective.Arithmetic;
import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.DensePayload;
import io.talaria.mpj.datatype.Elements;
import io.talaria.mpj.datatype.Layout;
import io.talaria.mpj.datatype.StridedPayload;
import io.talaria.mpj.device.Payload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/**
 * The window of one rank, as this process accesses it. Memory that other processes access too is
 * combined by compare-and-swap; otherwise the caller holds the engine's lock.
 */
public class WindowMemory {
  private static final int COPY_BYTES = 64 * 1024;

  /** A segment, or an array of boolean, which has no segment. */
  private final Object buffer;

  /** Bytes in the buffer before the window. */
  private final long start;

  private final WindowLock lock;
  private final boolean shared;

  // Of the mutex: this rank, and what it does while another one holds it.
  private int rank;
  private IntConsumer whileHeld = holder -> {};

  WindowMemory(Object buffer, long start, WindowLock lock, boolean shared) {
    this.buffer = buffer;
    this.start = start;
    this.lock = lock;
    this.shared = shared;
  }

  /**
   * Memory that only this process accesses.
   *
   * @param buffer a segment, or an array of boolean
   * @param start bytes in it before the window
   */
  public static WindowMemory own(Object buffer, long start) {
    return new WindowMemory(buffer, start, newLock(), false);
  }

  /** A lock in memory that only this process accesses. */
  static WindowLock newLock() {
    MemorySegment words = Arena.ofAuto().allocate(WindowLock.BYTES, WindowLock.BYTES);
    return new WindowLock(words, 0);
  }

  /**
   * Memory that several processes have mapped.
   *
   * @param mapping of all windows of a host, at a multiple of 64
   * @param lockAt where the lock of this window is
   * @param start where the window is
   */
  public static WindowMemory shared(MemorySegment mapping, long lockAt, long start) {
    return new WindowMemory(mapping, start, new WindowLock(mapping, lockAt), true);
  }

  /** Bytes that a lock takes in a mapping. */
  public static int lockBytes() {
    return WindowLock.BYTES;
  }

  final WindowLock lock() {
    return lock;
  }

  /**
   * Sets what an access does that waits for the mutex.
   *
   * @param rank this one in the window's group
   * @param check takes the rank that holds it; throws if that is gone
   */
  final void whileMutexIsHeld(int rank, IntConsumer check) {
    this.rank = rank;
    whileHeld = check;
  }

  final boolean isShared() {
    return shared;
  }

  /** The buffer so that elements of the base type are at whole indexes from the displacement. */
  private Object aligned(long displacement, BaseType base) {
    long odd = (start + displacement) & (base.bytes() - 1);
    return odd == 0 ? buffer : ((MemorySegment) buffer).asSlice(odd);
  }

  private long index(long displacement, BaseType base) {
    return (start + displacement) >> base.shift();
  }

  Payload payload(TargetPart part) {
    Layout layout = part.layout();
    Object memory = aligned(part.displacement(), layout.base());
    long index = index(part.displacement(), layout.base());
    return layout.dense()
        ? new DensePayload().set(memory, layout.base(), index, part.elements())
        : new StridedPayload(memory, layout, index, part.count());
  }

  void put(Part origin, TargetPart target) {
    if (origin.layout().dense() && target.layout().dense()) {
      BaseType base = target.layout().base();
      Object memory = aligned(target.displacement(), base);
      long index = index(target.displacement(), base);
      int n = (int) origin.elements();
      Elements.copy(base, origin.buffer(), origin.offset(), memory, index, n);
    } else {
      copy(origin.payload(), payload(target));
    }
  }

  void get(Part result, TargetPart target) {
    if (result.layout().dense() && target.layout().dense()) {
      BaseType base = target.layout().base();
      Object memory = aligned(target.displacement(), base);
      long index = index(target.displacement(), base);
      int n = (int) result.elements();
      Elements.copy(base, memory, index, result.buffer(), result.offset(), n);
    } else {
      copy(payload(target), result.payload());
    }
  }

  private static void copy(Payload from, Payload to) {
    long bytes = from.bytes();
    MemorySegment piece = MemorySegment.ofArray(new byte[(int) Math.min(bytes, COPY_BYTES)]);
    for (long at = 0; at < bytes; at += COPY_BYTES) {
      int length = (int) Math.min(COPY_BYTES, bytes - at);
      from.get(at, piece, 0, length);
      to.put(at, piece, 0, length);
    }
  }

  /**
   * Combines a range of the packed elements of a part with others.
   *
   * @param target the part
   * @param at first byte of the range; a multiple of 16
   * @param data what is combined with it, from an offset on
   * @param length bytes
   * @param old takes what was there before, from an offset on; or null
   */
  void accumulate(
      TargetPart target,
      long at,
      MemorySegment data,
      long dataOffset,
      int length,
      Arithmetic op,
      MemorySegment old,
      long oldOffset) {
    if (!shared) {
      combine(target, at, data, dataOffset, length, op, old, oldOffset);
      return;
    }
    BaseType base = target.layout().base();
    boolean located = op == Arithmetic.MAXLOC || op == Arithmetic.MINLOC;
    boolean cells = !located && ((start + target.displacement()) & (base.bytes() - 1)) == 0;
    // Elements that may be a pair are accessed in the mutex, so that no half of one is seen.
    boolean exclusive = !cells || target.layout().size() == 2;
    if (exclusive) {
      lock.enter(rank, whileHeld);
    }
    try {
      if (cells) {
        combineCells(target, at, data, dataOffset, length, op, old, oldOffset);
      } else {
        combine(target, at, data, dataOffset, length, op, old, oldOffset);
      }
    } finally {
      if (exclusive) {
        lock.leave();
      }
    }
  }

  private void combineCells(
      TargetPart target,
      long at,
      MemorySegment data,
      long dataOffset,
      int length,
      Arithmetic op,
      MemorySegment old,
      long oldOffset) {
    Layout layout = target.layout();
    BaseType base = layout.base();
    int bytes = base.bytes();
    MemorySegment memory = (MemorySegment) buffer;
    long origin = start + target.displacement();
    long first = at >> base.shift();
    for (int i = 0; i < length >> base.shift(); i++) {
      long place = origin + (layout.place(first + i) << base.shift());
      long bits =
          op == Arithmetic.NO_OP ? 0 : Cells.read(data, dataOffset + (long) i * bytes, bytes);
      long before = Cells.accumulate(memory, place, base, op, bits);
      if (old != null) {
        Cells.write(old, oldOffset + (long) i * bytes, bytes, before);
      }
    }
  }

  private void combine(
      TargetPart target,
      long at,
      MemorySegment data,
      long dataOffset,
      int length,
      Arithmetic op,
      MemorySegment old,
      long oldOffset) {
    Payload payload = payload(target);
    boolean computes = op != Arithmetic.REPLACE && op != Arithmetic.NO_OP;
    MemorySegment before = old;
    long beforeOffset = oldOffset;
    if (before == null) {
      before = MemorySegment.ofArray(new byte[computes ? length : 0]);
      beforeOffset = 0;
    }
    if (computes || old != null) {
      payload.get(at, before, beforeOffset, length);
    }
    if (op == Arithmetic.REPLACE) {
      payload.put(at, data, dataOffset, length);
    } else if (computes) {
      BaseType base = target.layout().base();
      int n = length >> base.shift();
      Object left = base.newArray(n);
      Object right = base.newArray(n);
      Elements.copy(base, data.asSlice(dataOffset, length), 0, left, 0, n);
      Elements.copy(base, before.asSlice(beforeOffset, length), 0, right, 0, n);
      int each = op == Arithmetic.MAXLOC || op == Arithmetic.MINLOC ? 2 : 1;
      op.apply(left, 0, right, 0, n / each, Layout.basic(base, each));
      MemorySegment result = MemorySegment.ofArray(new byte[length]);
      Elements.copy(base, right, 0, result, 0, n);
      payload.put(at, result, 0, length);
    }
  }

  /** Writes the bits of an element if they are as expected; returns the bits before. */
  long compareAndSwap(TargetPart target, long expected, long bits) {
    int bytes = target.layout().base().bytes();
    long at = start + target.displacement();
    if (shared && (at & (bytes - 1)) == 0) {
      return Cells.compareAndSwap((MemorySegment) buffer, at, bytes, expected, bits);
    }
    if (!shared) {
      return swap(target, bytes, expected, bits);
    }
    lock.enter(rank, whileHeld);
    try {
      return swap(target, bytes, expected, bits);
    } finally {
      lock.leave();
    }
  }

  private long swap(TargetPart target, int bytes, long expected, long bits) {
    Payload payload = payload(target);
    MemorySegment element = MemorySegment.ofArray(new byte[bytes]);
    payload.get(0, element, 0, bytes);
    long before = Cells.read(element, 0, bytes);
    if (before == expected) {
      Cells.write(element, 0, bytes, bits);
      payload.put(0, element, 0, bytes);
    }
    return before;
  }
}
