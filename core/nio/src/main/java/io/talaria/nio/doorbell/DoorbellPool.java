// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The doorbells of this process. Those that are given back are leased again; none is ever closed.
 * Any thread.
 *
 * <p>Selectors lease for their lives, threads for one sleep in a blocking call: the one that the
 * caller had last if that is free, because its peer knows it; else the first that is free, so that
 * few are made.
 */
public final class DoorbellPool {
  /** So many for threads at most: their numbers are below that. */
  public static final int MAX_FOR_THREADS = 256;

  private static final int MAX_DOORBELLS = 1280;

  /** Of the descriptors that the process may have, doorbells are one in so many at most, twice. */
  private static final int SHARE = 16;

  /**
   * After a search in vain there is none for a moment; after a refusal of the system for longer.
   */
  private static final long NONE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final long REFUSED_NS = TimeUnit.SECONDS.toNanos(1);

  private static final DoorbellPool OF_PROCESS =
      new DoorbellPool((int) Math.min(MAX_DOORBELLS, OpenDescriptors.limit() / SHARE));

  private final int most;
  private final int maxForThreads;

  // Guarded by this.
  private final ArrayDeque<Doorbell> free = new ArrayDeque<>();
  private int made;

  /** By number. Grows, under this lock. */
  private final AtomicReferenceArray<ThreadDoorbell> forThreads;

  /** How many of them there are; changed under this lock, behind the former. */
  private volatile int madeForThreads;

  /** Before that time it is no use to look for another. */
  private volatile long noneBeforeNs = System.nanoTime();

  DoorbellPool(int most) {
    this.most = most;
    maxForThreads = Math.min(MAX_FOR_THREADS, most / 2);
    forThreads = new AtomicReferenceArray<>(maxForThreads);
  }

  /** The one pool of this process. */
  public static DoorbellPool ofProcess() {
    return OF_PROCESS;
  }

  /** A doorbell for a selector, or null if there are too many, or the system gives none. */
  public synchronized Doorbell lease() {
    Doorbell doorbell = free.poll();
    if (doorbell == null && made < most) {
      try {
        doorbell = Privileged.call(Doorbell::make);
        made++;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        return null; // no descriptors, or no /proc: doorbells come over TCP
      }
    }
    return doorbell;
  }

  /** Takes a doorbell back from its lessee, which does not touch it any more. */
  public synchronized void giveBack(Doorbell doorbell) {
    free.push(doorbell);
  }

  /**
   * A doorbell for one sleep of the calling thread.
   *
   * @param last what the caller had last, and wants most; or null
   * @return null if all are leased and there are too many, or the system gives none
   */
  public ThreadDoorbell lease(ThreadDoorbell last) {
    return last != null && last.take() ? last : another();
  }

  private ThreadDoorbell another() {
    long now = System.nanoTime();
    if (now - noneBeforeNs < 0) {
      return null;
    }
    for (int i = 0; i < madeForThreads; i++) {
      ThreadDoorbell doorbell = forThreads.get(i);
      if (doorbell.take()) {
        return doorbell;
      }
    }
    return oneMore(now);
  }

  private synchronized ThreadDoorbell oneMore(long now) {
    int number = madeForThreads;
    Doorbell doorbell =
        number == maxForThreads ? null : lease(); // one that selectors left, or a new one
    if (doorbell == null) {
      noneBeforeNs = now + (number == maxForThreads || made >= most ? NONE_NS : REFUSED_NS);
      return null;
    }
    try {
      ThreadDoorbell forThread = Privileged.call(() -> ThreadDoorbell.of(number, doorbell));
      forThreads.set(number, forThread);
      madeForThreads = number + 1;
      return forThread;
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      giveBack(doorbell);
      noneBeforeNs = now + REFUSED_NS;
      return null;
    }
  }

  /**
   * Whether so many are left that the lessee of this one may keep it without sleeping on it, so
   * that others are told to peers meanwhile.
   */
  public boolean plenty(ThreadDoorbell leased) {
    return leased.number() < maxForThreads / 2;
  }

  /**
   * A doorbell that a thread has leased, or had.
   *
   * @param number below {@link #madeForThreads}
   */
  public ThreadDoorbell forThreads(int number) {
    return forThreads.get(number);
  }

  /** How many doorbells for threads there are. */
  int madeForThreads() {
    return madeForThreads;
  }

  /** How many descriptors of this process the pool holds, for those who count them. */
  public synchronized int descriptors() {
    return 2 * made + madeForThreads;
  }
}
