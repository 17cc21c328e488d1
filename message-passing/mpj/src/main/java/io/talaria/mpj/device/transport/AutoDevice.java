// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.transport;

import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameDevice;
import io.talaria.mpj.device.frame.FrameOutput;
import io.talaria.mpj.device.ring.RankRings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code auto} of a job on several hosts: rings to the ranks of this host, a {@link FrameTransport}
 * to the others. Frames of both are matched by one matcher, so wildcards see all ranks alike. A
 * pair of ranks uses the same one for the whole job.
 *
 * <p>A rank sleeps in the transport. Ranks of its host send wake-ups to its sleep word; while it
 * sleeps, a thread waits on that word and wakes the rank.
 */
public final class AutoDevice extends FrameDevice {
  private final RankRings rings;
  private final FrameTransport between;
  private final boolean[] here;
  private final Thread doorbell = new Thread(this::ring, "talaria-mpj-doorbell");
  private volatile boolean asleep;
  private volatile boolean closed;

  /** What has ended {@link #doorbell}, without which no rank of this host wakes this one. */
  private volatile Throwable failure;

  /**
   * Opens the device.
   *
   * @param rings closed with this
   * @param between to the ranks of other hosts; closed with this
   * @param rank of this process
   * @param here for each rank whether it is on this host
   * @param ringBytes of a ring
   * @param eagerBytes longest message sent without being asked for
   * @param creditBytes early messages that a peer may have here
   */
  public AutoDevice(
      RankRings rings,
      FrameTransport between,
      int rank,
      boolean[] here,
      int ringBytes,
      int eagerBytes,
      long creditBytes) {
    super(
        rank,
        here.length,
        Math.min(eagerBytes, Math.min(RankRings.chunk(ringBytes), between.longestPayload())),
        RankRings.chunk(ringBytes),
        creditBytes);
    this.rings = rings;
    this.between = between;
    this.here = here.clone();
    between.onNews(this::news);
    doorbell.setDaemon(true);
    doorbell.start();
  }

  @Override
  protected FrameOutput connect(int peer) {
    return here[peer] ? rings.connect(peer) : between.connect(peer);
  }

  @Override
  protected int discover() {
    rings.discover(this);
    return between.round(this);
  }

  @Override
  protected void broken(int source, String what) {
    if (here[source]) {
      super.broken(source, what);
    } else {
      between.broken(source, what);
    }
  }

  @Override
  public void ended(int peer, String why) {
    if (!here[peer]) {
      between.ended(peer, why);
      return;
    }
    while (progress(Integer.MAX_VALUE) > 0) {
      continue; // What it has sent comes first.
    }
    gone(peer, new RankGoneException(peer, "rank " + peer + " is gone: " + why));
  }

  @Override
  public boolean arm() {
    if (failure != null) {
      throw new CommunicationException(
          CommunicationException.Kind.THREAD,
          "the thread that wakes rank " + rank() + " failed: " + failure,
          failure);
    }
    rings.arm();
    return !somethingToDo() && between.arm();
  }

  @Override
  public void sleep(long limitNs) {
    asleep = true;
    LockSupport.unpark(doorbell);
    between.sleep(limitNs);
    asleep = false;
  }

  /** Waits on the sleep word while the rank sleeps; a wake-up that was sent before counts. */
  private void ring() {
    try {
      passWakeUps();
    } catch (RuntimeException | Error e) {
      failure = e;
      between.wake();
    }
  }

  private void passWakeUps() {
    while (!closed) {
      if (!asleep) {
        LockSupport.park(this);
      } else if (rings.armed()) {
        rings.sleep(50_000_000);
      } else {
        between.wake();
        // Lets the sleeper return first, so that one wake-up rarely wakes it twice.
        LockSupport.parkNanos(100_000);
      }
    }
  }

  @Override
  public void disarm() {
    between.disarm();
    // Sends a wake-up to the word, so that the doorbell thread does not wait on it.
    rings.wake();
    rings.disarm();
  }

  @Override
  public void wake() {
    between.wake();
  }

  @Override
  public void describeWait(int call, int peer, int tag, int context) {
    rings.pages().describeWait(rank(), call, peer, tag, context, numbered(), notReceived());
  }

  @Override
  public boolean sharesMemoryWith(int peer) {
    return here[peer];
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
    return "auto: shmdev inside a host, " + between.name() + " between hosts";
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(doorbell);
    try {
      // It looks at the memory that goes now.
      rings.wake();
      doorbell.join(5_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    closePeers();
    between.close();
    rings.close();
  }
}
