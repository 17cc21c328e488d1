// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ways;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.ring.RankPages;

/** {@code niodev} and {@code ucxdev}: all frames go over the same {@link Ways}. */
public final class WaysDevice extends FrameDevice {
  private final Ways ways;
  private final RankPages pages;

  /**
   * Opens the device.
   *
   * @param ways closed with this
   * @param rank of this process
   * @param size ranks of the job
   * @param eagerBytes longest message sent without being asked for; at most a frame
   * @param creditBytes early messages that a peer may have here
   * @param pages where this rank says what it waits for, or null
   */
  public WaysDevice(
      Ways ways, int rank, int size, int eagerBytes, long creditBytes, RankPages pages) {
    super(
        rank,
        size,
        Math.min(eagerBytes, ways.longestPayload()),
        ways.longestPayload(),
        creditBytes);
    this.ways = ways;
    this.pages = pages;
    ways.onNews(this::news);
  }

  @Override
  protected FrameOutput connect(int peer) {
    return ways.connect(peer);
  }

  @Override
  protected void discover() {
    ways.round(this);
  }

  @Override
  protected void broken(int source, String what) {
    ways.broken(source, what);
  }

  @Override
  public boolean arm() {
    return !somethingToDo() && ways.arm();
  }

  @Override
  public void sleep(long limitNs) {
    ways.sleep(limitNs);
  }

  @Override
  public void disarm() {
    ways.disarm();
  }

  @Override
  public void wake() {
    ways.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    if (pages != null) {
      pages.describeWait(rank(), call, peer, tag, context);
    }
  }

  @Override
  public String name() {
    return ways.name();
  }

  @Override
  public void close() {
    ways.close();
  }
}
