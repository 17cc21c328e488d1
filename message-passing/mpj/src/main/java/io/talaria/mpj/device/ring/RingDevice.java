// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameOutput;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** {@code shmdev} and {@code smdev}: a ring for each ordered pair of ranks, made on first use. */
public final class RingDevice extends FrameDevice {
  private static final long LATE_NS = 2_000_000_000L;

  private final RankRings rings;
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
    super(
        rank,
        size,
        Math.min(eagerBytes, RankRings.chunk(capacity)),
        RankRings.chunk(capacity),
        creditBytes);
    rings = new RankRings(area, rank, size, capacity);
  }

  @Override
  protected FrameOutput connect(int peer) {
    return rings.connect(peer);
  }

  @Override
  protected int discover() {
    rings.discover(this);
    return 0;
  }

  @Override
  public void ended(int peer, String why) {
    while (progress(Integer.MAX_VALUE) > 0) {
      continue; // What it has sent comes first.
    }
    gone(peer, new RankGoneException(peer, "rank " + peer + " is gone: " + why));
  }

  @Override
  public boolean arm() {
    rings.arm();
    return !somethingToDo();
  }

  @Override
  public void sleep(long limitNs) {
    slept = true;
    rings.sleep(limitNs);
  }

  @Override
  public void disarm() {
    // Without a sleep the frame was seen here, and its writer may rightly have seen no sleeper.
    if (slept && rings.armed() && somethingToDo() && stillUnrung()) {
      lateWakeUps++;
    }
    slept = false;
    rings.disarm();
  }

  /**
   * Whether no wake-up comes although there is a frame. Waits, because the writer may have written
   * the frame but not yet sent the wake-up. The time counts from when no writer is between the two:
   * one may have lost its core there.
   */
  private boolean stillUnrung() {
    if (!RankPages.DIAGNOSE) {
      return false;
    }
    long until = System.nanoTime() + LATE_NS;
    while (rings.armed()) {
      long now = System.nanoTime();
      if (rings.mayBeRung()) {
        until = now + LATE_NS;
      } else if (now - until > 0) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  /**
   * How often a rank slept to its limit although something had come: lost wake-ups. Counted with
   * {@code -Dtalaria.mpj.diagnose=true}.
   */
  public long lateWakeUps() {
    return lateWakeUps;
  }

  @Override
  public void wake() {
    rings.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    rings.pages().describeWait(rank(), call, peer, tag, context, numbered(), notReceived());
  }

  @Override
  public boolean sharesMemoryWith(int peer) {
    return true;
  }

  @Override
  public MemorySegment createShared(String name, long bytes, Arena arena) throws IOException {
    return rings.area().createShared(name, bytes, arena);
  }

  @Override
  public MemorySegment openShared(String name, Arena arena) throws IOException {
    return rings.area().openShared(name, arena);
  }

  @Override
  public void removeShared(String name) {
    rings.area().removeShared(name);
  }

  @Override
  public String name() {
    return rings.name();
  }

  @Override
  public void close() {
    closePeers();
    rings.close();
  }
}
