// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Frames;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** {@code shmdev} and {@code smdev}: a ring for each ordered pair of ranks, made on first use. */
public final class RingDevice extends FrameDevice {
  private final RingArea area;
  private final RankPages pages;
  private final int capacity;
  private final boolean[] known;
  private int ringsSeen;
  private long lateWakeUps;

  /** Whether this rank slept since it was armed; confined to the thread that makes progress. */
  private boolean slept;

  /**
   * Opens the device.
   *
   * @param area the job's memory, closed with this
   * @param rank of this process
   * @param size ranks of the job
   * @param capacity bytes of a ring, a power of two, at least 4 KiB
   * @param eagerBytes longest message sent without being asked for
   * @param creditBytes early messages that a peer may have here
   */
  public RingDevice(
      RingArea area, int rank, int size, int capacity, int eagerBytes, long creditBytes) {
    super(rank, size, Math.min(eagerBytes, chunk(capacity)), chunk(capacity), creditBytes);
    if (Integer.bitCount(capacity) != 1 || capacity < 4096) {
      throw new IllegalArgumentException(
          "a ring has a power of two of bytes, at least 4096, not " + capacity);
    }
    this.area = area;
    this.capacity = capacity;
    pages = new RankPages(area.pages(), size);
    known = new boolean[size];
  }

  private static int chunk(int capacity) {
    return RingWriter.longestFrame(capacity) - Frames.HEADER;
  }

  @Override
  protected FrameOutput connect(int peer) {
    MemorySegment ring = area.create(rank(), peer, RingLayout.bytes(capacity));
    RingLayout.LONG.set(ring, 0L, RingLayout.MAGIC);
    pages.madeRing(rank(), peer);
    return new RingWriter(ring, pages, peer);
  }

  @Override
  protected void discover() {
    int made = pages.ringsMadeFor(rank());
    if (made != ringsSeen) {
      ringsSeen = made;
      for (int from = 0; from < size(); from++) {
        if (!known[from] && pages.hasMadeRing(from, rank())) {
          known[from] = true;
          MemorySegment ring = area.open(from, rank());
          RingLayout.check(ring, from, rank());
          addInput(from, new RingReader(ring, pages, from));
        }
      }
    }
  }

  @Override
  public boolean arm() {
    pages.announceSleep(rank());
    VarHandle.fullFence();
    return !somethingToDo();
  }

  @Override
  public void sleep(long limitNs) {
    slept = true;
    pages.sleep(rank(), limitNs);
  }

  @Override
  public void disarm() {
    // Without a sleep the frame was seen here, and its writer may rightly have seen no sleeper.
    if (slept && pages.announced(rank()) && somethingToDo() && stillUnrung()) {
      lateWakeUps++;
    }
    slept = false;
    pages.awake(rank());
  }

  /** Whether nobody rings although there is something; a writer may be between the two. */
  private boolean stillUnrung() {
    if (!DIAGNOSE) {
      return false;
    }
    long until = System.nanoTime() + 2_000_000_000;
    while (pages.announced(rank())) {
      if (System.nanoTime() - until > 0) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  private static final boolean DIAGNOSE = Boolean.getBoolean("talaria.mpj.diagnose");

  /**
   * How often a rank slept to its limit although something had come: lost wake-ups. Counted with
   * {@code -Dtalaria.mpj.diagnose=true}.
   */
  public long lateWakeUps() {
    return lateWakeUps;
  }

  @Override
  public void wake() {
    VarHandle.fullFence();
    pages.ringIfAsleep(rank());
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    pages.describeWait(rank(), call, peer, tag, context);
  }

  @Override
  public String name() {
    return area.deviceName();
  }

  @Override
  public void close() {
    closeWays();
    area.close();
  }
}
