// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The writer's end of a ring. How a wake-up could be lost, and why it is not:
 *
 * <ul>
 *   <li><b>Data.</b> The writer stores the length word W, then reads the reader's sleep word S; the
 *       reader stores S, then reads W. If each store could pass the following load, the writer
 *       could see «awake» while the reader sees «no frame». A full fence between the two on either
 *       side forbids that: one of them sees the other's store.
 *   <li><b>Space.</b> The same with the reader's head H, which it stores before it reads the flag
 *       «wants space» F and then the writer's sleep word; the writer stores F, fence, reads H, and
 *       later S, fence, reads H again. If the reader sees F unset, its fence came before the store
 *       of F, so the writer's look at H after F's fence sees the new H. If it sees F set but the
 *       writer awake, the writer's look at H after S's fence sees it.
 *   <li><b>Heads are published by quarters.</b> What was read but not published is less than a
 *       quarter, and a frame with the gap before it takes at most half and a little; so a writer
 *       that finds no room always has a publication ahead.
 *   <li><b>Two writers that wake.</b> Only the thread that changes S from 1 to 0 sends a wake-up,
 *       so a sleep gets one wake-up; a sleeper whose time limit has passed changes S itself.
 *   <li><b>A frame that is not there yet.</b> The word where the next frame will begin is zeroed
 *       before the length of this one is stored, so the reader never takes an old word for a
 *       length.
 * </ul>
 */
final class RingWriter extends FrameOutput {
  private static final int MIN_CHUNK = 16 << 10;

  /** Bytes of a cache line. */
  private static final int LINE = 64;

  /** Longest frame whose successor {@link #fetch} is for. */
  private static final int MAX_FETCHED = MIN_CHUNK + Frames.HEADER;

  private final MemorySegment ring;
  private final int capacity;
  private final RankPages pages;
  private final int reader;
  private long tail;
  private long headSeen;
  private boolean wantsSpace;

  RingWriter(MemorySegment ring, RankPages pages, int reader) {
    this.ring = ring;
    this.capacity = RingLayout.capacity(ring);
    this.pages = pages;
    this.reader = reader;
  }

  /** The longest frame, rounded, that a ring of a capacity takes without fail. */
  static int longestFrame(int capacity) {
    return capacity / 4 + Frames.ALIGNMENT;
  }

  @Override
  public long claim(int room) {
    int position = (int) (tail & (capacity - 1));
    int straight = capacity - position;
    long wanted = room <= straight ? room : straight + room;
    // Beside the frame, the length word of the next one must be free.
    if (tail + wanted + Frames.ALIGNMENT - headSeen > capacity) {
      headSeen = (long) RingLayout.LONG.getAcquire(ring, RingLayout.HEAD);
      if (tail + wanted + Frames.ALIGNMENT - headSeen > capacity) {
        return -1;
      }
    }
    if (wantsSpace) {
      wantsSpace = false;
      RingLayout.INT.setOpaque(ring, RingLayout.WANTS_SPACE, 0);
    }
    if (room > straight) {
      RingLayout.INT.set(ring, RingLayout.FRAMES, 0);
      RingLayout.INT.setRelease(ring, RingLayout.FRAMES + position, -straight);
      tail += straight;
      position = 0;
    }
    return RingLayout.FRAMES + position;
  }

  @Override
  public MemorySegment segment() {
    return ring;
  }

  @Override
  public void publish(long at, int length) {
    long begin = tail;
    tail += Frames.room(length - Frames.HEADER);
    RingLayout.INT.set(ring, RingLayout.FRAMES + (tail & (capacity - 1)), 0);
    pages.willRing(reader);
    RingLayout.INT.setRelease(ring, at, length);
    VarHandle.fullFence();
    pages.ringIfAsleep(reader);
    pages.hasRung(reader);
    if (length > LINE) {
      if (length <= MAX_FETCHED) {
        fetch(LINE, length);
      }
    } else if ((begin ^ tail) >= LINE) {
      int next = LINE - (int) (tail & (LINE - 1));
      fetch(next, next);
    }
  }

  /**
   * Takes the cache lines of the next frame, which is likely as long as this one: the reader's core
   * has them since it read them, and the processor gets them back while the reader works. Half a
   * round trip of 1 to 4 KiB takes a third less. Longer frames are copied by an instruction that
   * needs no lines, for those this costs more than it saves. Of frames shorter than a line it is
   * the line behind the one that is begun: a frame becomes visible only after the word behind it
   * was zeroed, so it would wait for that line.
   *
   * @param from offset from the tail, in bytes, of the first line
   * @param to offset of the last one at most
   */
  private void fetch(int from, int to) {
    if (tail + to + Frames.ALIGNMENT - headSeen > capacity) {
      return; // Not all free, as far as is known.
    }
    for (int i = from; i <= to; i += LINE) {
      RingLayout.INT.set(ring, RingLayout.FRAMES + (tail + i & (capacity - 1)), 0);
    }
  }

  @Override
  public long creditReturned() {
    return (long) RingLayout.LONG.getAcquire(ring, RingLayout.CREDIT);
  }

  @Override
  public boolean hasRoom() {
    wantsSpace = true;
    RingLayout.INT.setOpaque(ring, RingLayout.WANTS_SPACE, 1);
    VarHandle.fullFence();
    headSeen = (long) RingLayout.LONG.getAcquire(ring, RingLayout.HEAD);
    return tail + 2L * longestFrame(capacity) - headSeen <= capacity;
  }

  @Override
  public int longestPayload() {
    return longestFrame(capacity) - Frames.HEADER;
  }

  @Override
  public boolean takesShortHeaders() {
    return true;
  }

  /**
   * A quarter of the message: its reader copies the first part out while the writer copies the next
   * one in. Short copies are slower.
   */
  @Override
  public int chunk(long bytes) {
    return (int) Math.min(Math.max(bytes >>> 2 & -8, MIN_CHUNK), longestPayload());
  }

  @Override
  public boolean flushed() {
    return true; // What is in the ring outlives this process.
  }

  @Override
  public void close() {}
}
