// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import io.talaria.nio.jdk.JdkNio;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A doorbell on which a platform thread sleeps in a blocking call. It is {@linkplain
 * DoorbellPool#lease leased} for one sleep and given back afterwards; its lessee alone calls {@link
 * #sleep} and {@link #giveBack}, any thread the others.
 *
 * <p>The thread reads the pipe through a descriptor of its own, which blocks, so that a sleep and
 * the draining of what ended it are one call of the system. Neither an interrupt nor a signal ends
 * that: a thread that has news for the sleeper rings. The pipe's own channel would not do: an
 * interrupt would close it.
 */
public final class ThreadDoorbell {
  private final int number;
  private final Doorbell doorbell;
  private final FileInputStream in;
  private final byte[] drained = new byte[Doorbell.DRAINED_BYTES];
  private final AtomicBoolean taken = new AtomicBoolean();

  /** How many sleeps there were. The lessee's. */
  private long sleeps;

  /** Of the sleep that lasts. Written before {@link #asleep}. */
  private Sleeper sleeper;

  private int waitsFor;

  /** The number of the sleep that lasts, or 0. */
  private volatile long asleep;

  /** The thread that sleeps, as the {@link DoorbellAudit} sees it. */
  public interface Sleeper {
    /** The one that looks after it. */
    DoorbellAudit audit();

    /**
     * Looks whether it sleeps for nothing. Called by its audit's thread; the sleep may have ended.
     *
     * @param waitsFor what was given to {@link ThreadDoorbell#sleep}
     * @return whether what it waits for is there
     */
    boolean ready(int waitsFor);
  }

  private ThreadDoorbell(int number, Doorbell doorbell, FileInputStream in) {
    this.number = number;
    this.doorbell = doorbell;
    this.in = in;
  }

  /** Makes one of a doorbell that no other thread has, leased; any thread, interrupted or not. */
  static ThreadDoorbell of(int number, Doorbell doorbell) throws IOException {
    FileInputStream in = new FileInputStream(OpenDescriptors.ownPath(doorbell.source()).toString());
    ThreadDoorbell made = new ThreadDoorbell(number, doorbell, in);
    made.taken.set(true);
    return made;
  }

  /** Its place among the doorbells of this process's threads: from 0 on. */
  public int number() {
    return number;
  }

  /** What a peer needs to know to ring it. */
  public DoorbellAddress address() {
    return doorbell.address();
  }

  /** Leases it; false if another thread has it. */
  boolean take() {
    return !taken.getOpaque() && taken.compareAndSet(false, true);
  }

  /** Takes it back from its lessee. */
  public void giveBack() {
    taken.setRelease(false);
  }

  /**
   * Sleeps until a thread rings, or for a time, and takes what was rung. To be followed by a look
   * for news: what was rung may be of an earlier sleep.
   *
   * @param who is looked after meanwhile
   * @param waitsFor for {@link Sleeper#ready}
   * @param limitNs nanoseconds, or 0 for no limit; a sleep with a limit takes two calls of the
   *     system
   * @return whether it was rung
   */
  public boolean sleep(Sleeper who, int waitsFor, long limitNs) throws IOException {
    sleeper = who;
    this.waitsFor = waitsFor;
    asleep = ++sleeps;
    try {
      who.audit().asleep();
      if (limitNs == 0) {
        return in.read(drained) > 0;
      }
      JdkNio.park(doorbell.selectable(), JdkNio.READABLE, limitNs);
      return doorbell.take();
    } finally {
      sleeper = null;
      asleep = 0;
    }
  }

  /** Rings it from inside this process; does not block. */
  public void ring() {
    doorbell.ring();
  }

  /** The number of the sleep that lasts, or 0. */
  long asleep() {
    return asleep;
  }

  /** The sleeper, if {@link #asleep} says so before and after. */
  Sleeper sleeper() {
    return sleeper;
  }

  int waitsFor() {
    return waitsFor;
  }

  /** Whether it is rung and no thread has taken that yet. */
  boolean rung() throws IOException {
    return in.available() > 0;
  }
}
