// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.transport;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.ring.RankPages;

/** {@code niodev} and {@code ucxdev}: all frames go over the same {@link FrameTransport}. */
public final class TransportDevice extends FrameDevice {
  private final FrameTransport transport;
  private final RankPages pages;

  /**
   * Opens the device.
   *
   * @param transport closed with this
   * @param rank of this process
   * @param size ranks of the job
   * @param eagerBytes longest message sent without being asked for; at most a frame
   * @param creditBytes early messages that a peer may have here
   * @param pages where this rank says what it waits for, or null
   */
  public TransportDevice(
      FrameTransport transport,
      int rank,
      int size,
      int eagerBytes,
      long creditBytes,
      RankPages pages) {
    super(
        rank,
        size,
        Math.min(eagerBytes, transport.longestPayload()),
        transport.longestPayload(),
        creditBytes);
    this.transport = transport;
    this.pages = pages;
    transport.onNews(this::news);
  }

  @Override
  protected FrameOutput connect(int peer) {
    return transport.connect(peer);
  }

  @Override
  protected int discover() {
    return transport.round(this);
  }

  @Override
  protected void broken(int source, String what) {
    transport.broken(source, what);
  }

  @Override
  public void ended(int peer, String why) {
    transport.ended(peer, why);
  }

  @Override
  public boolean arm() {
    return !somethingToDo() && transport.arm();
  }

  @Override
  public void sleep(long limitNs) {
    transport.sleep(limitNs);
  }

  @Override
  public void disarm() {
    transport.disarm();
  }

  @Override
  public void wake() {
    transport.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    if (pages != null) {
      pages.describeWait(rank(), call, peer, tag, context, numbered(), notReceived());
    }
  }

  @Override
  public String name() {
    return transport.name();
  }

  @Override
  public void close() {
    transport.close();
  }
}
