// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.Frames;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** The reader's end of a ring; {@link RingWriter} tells the protocol. */
final class RingReader extends FrameInput {
  private final MemorySegment ring;
  private final int capacity;
  private final RankPages pages;
  private final int writer;
  private long head;
  private long published;

  RingReader(MemorySegment ring, RankPages pages, int writer) {
    this.ring = ring;
    this.capacity = RingLayout.capacity(ring);
    this.pages = pages;
    this.writer = writer;
  }

  @Override
  public long poll() {
    long at = RingLayout.FRAMES + (head & (capacity - 1));
    int length = (int) RingLayout.INT.getAcquire(ring, at);
    if (length == 0) {
      return -1;
    }
    if (length < 0) {
      advance(-length);
      return poll();
    }
    return at;
  }

  @Override
  public MemorySegment segment() {
    return ring;
  }

  @Override
  public void consume(int length) {
    advance(Frames.room(length - Frames.HEADER));
  }

  private void advance(int bytes) {
    head += bytes;
    if (head - published >= capacity / 4) {
      published = head;
      pages.willRing(writer);
      RingLayout.LONG.setRelease(ring, RingLayout.HEAD, head);
      VarHandle.fullFence();
      if ((int) RingLayout.INT.getOpaque(ring, RingLayout.WANTS_SPACE) != 0) {
        pages.ringIfAsleep(writer);
      }
      pages.hasRung(writer);
    }
  }

  @Override
  public void returnCredit(long total) {
    RingLayout.LONG.setRelease(ring, RingLayout.CREDIT, total);
  }

  @Override
  public void close() {}
}
