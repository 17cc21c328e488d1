// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.bell;

import io.talaria.nio.privileged.Privileged;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The bells of this process. Those that are given back are leased again; none is ever closed. Any
 * thread.
 *
 * <p>Selectors lease for their lives, threads for one sleep in a blocking call: the one that the
 * caller had last if that is free, because its peer knows it; else the first that is free, so that
 * few are made.
 */
public final class BellPool {
  /** So many for threads at most: their numbers are below that. */
  public static final int MAX_FOR_THREADS = 256;

  private static final int MOST = 1280;

  /** Of the descriptors that the process may have, bells are one in so many at most, twice. */
  private static final int SHARE = 16;

  /**
   * After a search in vain there is none for a moment; after a refusal of the system for longer.
   */
  private static final long NONE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final long REFUSED_NS = TimeUnit.SECONDS.toNanos(1);

  private static final BellPool OF_PROCESS =
      new BellPool((int) Math.min(MOST, OpenDescriptors.limit() / SHARE));

  private final int most;
  private final int maxForThreads;

  // Guarded by this.
  private final ArrayDeque<Bell> free = new ArrayDeque<>();
  private int made;

  /** By number. Grows, under this lock. */
  private final AtomicReferenceArray<ThreadBell> forThreads;

  /** How many of them there are; changed under this lock, behind the former. */
  private volatile int madeForThreads;

  /** Before that time it is no use to look for another. */
  private volatile long noneBeforeNs = System.nanoTime();

  BellPool(int most) {
    this.most = most;
    maxForThreads = Math.min(MAX_FOR_THREADS, most / 2);
    forThreads = new AtomicReferenceArray<>(maxForThreads);
  }

  /** The one pool of this process. */
  public static BellPool ofProcess() {
    return OF_PROCESS;
  }

  /** A bell for a selector, or null if there are too many, or the system gives none. */
  public synchronized Bell lease() {
    Bell bell = free.poll();
    if (bell == null && made < most) {
      try {
        bell = Privileged.call(Bell::make);
        made++;
      } catch (IOException | RuntimeException | OutOfMemoryError e) {
        return null; // no descriptors, or no /proc: bells come over TCP
      }
    }
    return bell;
  }

  /** Takes a bell back from its lessee, who does not touch it any more. */
  public synchronized void giveBack(Bell bell) {
    free.push(bell);
  }

  /**
   * A bell for one sleep of the calling thread.
   *
   * @param last what the caller had last, and wants most; or null
   * @return null if all are leased and there are too many, or the system gives none
   */
  public ThreadBell lease(ThreadBell last) {
    return last != null && last.take() ? last : another();
  }

  private ThreadBell another() {
    long now = System.nanoTime();
    if (now - noneBeforeNs < 0) {
      return null;
    }
    for (int i = 0; i < madeForThreads; i++) {
      ThreadBell bell = forThreads.get(i);
      if (bell.take()) {
        return bell;
      }
    }
    return oneMore(now);
  }

  private synchronized ThreadBell oneMore(long now) {
    int number = madeForThreads;
    Bell bell = number == maxForThreads ? null : lease(); // one that selectors left, or a new one
    if (bell == null) {
      noneBeforeNs = now + (number == maxForThreads || made >= most ? NONE_NS : REFUSED_NS);
      return null;
    }
    try {
      ThreadBell forThread = Privileged.call(() -> ThreadBell.of(number, bell));
      forThreads.set(number, forThread);
      madeForThreads = number + 1;
      return forThread;
    } catch (IOException | RuntimeException | OutOfMemoryError e) {
      giveBack(bell);
      noneBeforeNs = now + REFUSED_NS;
      return null;
    }
  }

  /**
   * Whether there are so many left that who has leased this one may keep it without sleeping on it,
   * so that others are told to peers meanwhile.
   */
  public boolean plenty(ThreadBell leased) {
    return leased.number() < maxForThreads / 2;
  }

  /**
   * A bell that a thread has leased, or had.
   *
   * @param number below {@link #madeForThreads}
   */
  public ThreadBell forThreads(int number) {
    return forThreads.get(number);
  }

  /** How many bells for threads there are. */
  int madeForThreads() {
    return madeForThreads;
  }

  /** How many descriptors of this process the pool holds, for those who count them. */
  public synchronized int descriptors() {
    return 2 * made + madeForThreads;
  }
}
