// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.ring.RingWays;
import java.util.concurrent.locks.LockSupport;
import mpi.ProcessFailedException;

/**
 * {@code auto} of a job on several hosts: rings to the ranks of this host, connections to the
 * others. Both bring frames to one matching, so wildcards see all ranks alike. A pair of ranks has
 * one way for the whole job.
 *
 * <p>A rank sleeps in the selector. Ranks of its host ring its sleep word; while it sleeps, a
 * thread waits for that word and wakes the selector.
 */
public final class AutoDevice extends FrameDevice implements Peers {
  private final RingWays rings;
  private final Links links;
  private final boolean[] here;
  private final Thread bell = new Thread(this::ring, "talaria-mpj-bell");
  private volatile boolean asleep;
  private volatile boolean closed;

  /**
   * Opens the device.
   *
   * @param rings closed with this
   * @param links closed with this
   * @param rank of this process
   * @param here for each rank whether it is on this host
   * @param ringBytes of a ring
   * @param options of the links
   * @param eagerBytes longest message sent without being asked for
   */
  public AutoDevice(
      RingWays rings,
      Links links,
      int rank,
      boolean[] here,
      int ringBytes,
      Links.Options options,
      int eagerBytes) {
    super(
        rank,
        here.length,
        Math.min(eagerBytes, Math.min(RingWays.chunk(ringBytes), options.chunk())),
        RingWays.chunk(ringBytes),
        options.creditBytes());
    this.rings = rings;
    this.links = links;
    this.here = here.clone();
    links.onNews(this::news);
    bell.setDaemon(true);
    bell.start();
  }

  @Override
  protected FrameOutput connect(int peer) {
    return here[peer] ? rings.connect(peer) : links.connect(peer);
  }

  @Override
  protected void discover() {
    rings.discover(this);
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
    if (here[source]) {
      super.broken(source, what);
    } else {
      links.broken(source, what);
    }
  }

  @Override
  public boolean arm() {
    rings.arm();
    boolean rest = !somethingToDo();
    links.arm(rest);
    return rest;
  }

  @Override
  public void sleep(long limitNs) {
    asleep = true;
    LockSupport.unpark(bell);
    links.sleep(limitNs);
    asleep = false;
  }

  /** Waits for the sleep word while the rank sleeps; a word that was rung before counts. */
  private void ring() {
    while (!closed) {
      if (!asleep) {
        LockSupport.park(this);
      } else if (rings.armed()) {
        rings.sleep(50_000_000);
      } else {
        links.wake();
        // The sleeper comes back, and is not woken twice for one ring but by chance.
        LockSupport.parkNanos(100_000);
      }
    }
  }

  @Override
  public void disarm() {
    links.arm(false);
    // Rings the word, so that the thread of the bell does not wait on it.
    rings.wake();
    rings.disarm();
  }

  @Override
  public void wake() {
    links.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    rings.pages().describeWait(rank(), call, peer, tag, context);
  }

  @Override
  public String name() {
    return "auto: shmdev inside a host, niodev between hosts";
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(bell);
    try {
      // It looks at the memory that goes now.
      rings.wake();
      bell.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closeWays();
    links.close();
    rings.close();
  }
}
