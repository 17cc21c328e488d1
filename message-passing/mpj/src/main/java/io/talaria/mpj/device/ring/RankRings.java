// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import io.talaria.mpj.device.frame.Peers;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The rings of a rank, made on first use, and its sleep word. Called under the engine's lock, but
 * for {@link #sleep} and {@link #wake}.
 */
public final class RankRings implements AutoCloseable {
  static final int MIN_CAPACITY = 4096;

  private final RingArea area;
  private final RankPages pages;
  private final int rank;
  private final int size;
  private final int capacity;
  private final boolean[] known;
  private int ringsSeen;

  /**
   * Rings in an area.
   *
   * @param area of the job's memory, closed with this
   * @param rank of this process
   * @param size ranks of the job
   * @param capacity bytes of a ring, a power of two, at least 4 KiB
   */
  public RankRings(RingArea area, int rank, int size, int capacity) {
    if (Integer.bitCount(capacity) != 1 || capacity < MIN_CAPACITY) {
      throw new IllegalArgumentException(
          "a ring has a power of two of bytes, at least " + MIN_CAPACITY + ", not " + capacity);
    }
    this.area = area;
    this.rank = rank;
    this.size = size;
    this.capacity = capacity;
    pages = new RankPages(area.pages(), size);
    known = new boolean[size];
  }

  /**
   * Longest payload of a frame, bytes.
   *
   * @param capacity of a ring
   */
  public static int chunk(int capacity) {
    return RingWriter.longestFrame(capacity) - Frames.HEADER;
  }

  /** The ranks' pages. */
  public RankPages pages() {
    return pages;
  }

  /** The memory that they are in. */
  public RingArea area() {
    return area;
  }

  /** Name of the area. */
  public String name() {
    return area.deviceName();
  }

  /**
   * Makes a ring for a peer.
   *
   * @param peer its rank
   */
  public FrameOutput connect(int peer) {
    MemorySegment ring = area.create(rank, peer, RingLayout.bytes(capacity));
    RingLayout.LONG.set(ring, 0L, RingLayout.MAGIC);
    pages.madeRing(rank, peer);
    return new RingWriter(ring, pages, peer);
  }

  /**
   * Looks for rings that others have made.
   *
   * @param peers told of each
   */
  public void discover(Peers peers) {
    int made = pages.ringsMadeFor(rank);
    if (made != ringsSeen) {
      for (int from = 0; from < size; from++) {
        if (!known[from] && pages.hasMadeRing(from, rank)) {
          MemorySegment ring = area.open(from, rank);
          known[from] = true;
          RingLayout.check(ring, from, rank);
          peers.arrived(from, new RingReader(ring, pages, from));
        }
      }
      // Last: where a ring could not be opened, the next round looks again.
      ringsSeen = made;
    }
  }

  /** Announces sleep; the caller looks once more, and does not sleep if there is something. */
  public void arm() {
    pages.announceSleep(rank);
    VarHandle.fullFence();
  }

  /** Whether the announcement still stands: no writer has sent a wake-up. */
  public boolean armed() {
    return pages.announced(rank);
  }

  /** Whether a writer that has published something may still send the wake-up for it. */
  boolean mayBeRung() {
    return pages.mayBeRung(rank);
  }

  /**
   * Sleeps until a writer sends a wake-up or has sent one, or until {@link #disarm}.
   *
   * @param limitNs nanoseconds
   */
  public void sleep(long limitNs) {
    pages.sleep(rank, limitNs);
  }

  /** Takes the announcement back. */
  public void disarm() {
    pages.awake(rank);
  }

  /** Rings this rank; by any thread. */
  public void wake() {
    VarHandle.fullFence();
    pages.ringIfAsleep(rank);
  }

  @Override
  public void close() {
    area.close();
  }
}
