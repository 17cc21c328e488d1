// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.ring.RankPages;
import mpi.ProcessFailedException;

/** {@code niodev}: all frames go over {@link Links}. */
public final class NioDevice extends FrameDevice implements Peers {
  private final Links links;
  private final RankPages pages;

  /**
   * Opens the device.
   *
   * @param links closed with this
   * @param rank of this process
   * @param size ranks of the job
   * @param options of the links
   * @param eagerBytes longest message sent without being asked for; at most a frame of a link
   * @param pages where this rank says what it waits for, or null
   */
  public NioDevice(
      Links links, int rank, int size, Links.Options options, int eagerBytes, RankPages pages) {
    super(
        rank, size, Math.min(eagerBytes, options.chunk()), options.chunk(), options.creditBytes());
    this.links = links;
    this.pages = pages;
    links.onNews(this::news);
  }

  @Override
  protected FrameOutput connect(int peer) {
    return links.connect(peer);
  }

  @Override
  protected void discover() {
    links.round(this);
  }

  @Override
  public void arrived(int peer, FrameInput input) {
    addInput(peer, input);
  }

  @Override
  public void gone(int peer, ProcessFailedException why) {
    failPeer(peer, why);
  }

  @Override
  protected void broken(int source, String what) {
    links.broken(source, what);
  }

  @Override
  public boolean arm() {
    boolean rest = !somethingToDo();
    links.arm(rest);
    return rest;
  }

  @Override
  public void sleep(long limitNs) {
    links.sleep(limitNs);
  }

  @Override
  public void disarm() {
    links.arm(false);
  }

  @Override
  public void wake() {
    links.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    if (pages != null) {
      pages.describeWait(rank(), call, peer, tag, context);
    }
  }

  @Override
  public String name() {
    return "niodev";
  }

  @Override
  public void close() {
    links.close();
  }
}
