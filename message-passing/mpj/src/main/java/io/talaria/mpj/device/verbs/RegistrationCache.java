// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Memory of the program that is registered, kept for the next message from or into it, because
 * registering takes longer than many a transfer. Usable by any thread.
 *
 * <p>A registration serves every range inside it. It is <em>held</em> while a transfer uses it;
 * without holders it stays until others need its place: the one that was not used for the longest
 * time goes first. Kept are at most so many bytes and so many registrations, whatever is held; what
 * finds no place is registered for one use.
 *
 * <p>A registration outlives no memory. That of an automatic arena is kept alive by it. That of an
 * arena that was closed serves nobody any more: it is not found, because its scope is over,
 * although new memory may have the same addresses, and it is closed as soon as it is met.
 *
 * @param <R> what registering makes
 */
final class RegistrationCache<R> {
  /** How memory is registered. */
  interface Registrar<R> {
    /**
     * Registers memory.
     *
     * @param memory native
     * @return a registration
     * @throws RuntimeException if that is not possible
     */
    R register(MemorySegment memory);

    /**
     * Takes a registration back that nothing uses.
     *
     * @param registration what {@link #register} returned, once
     */
    void unregister(R registration);
  }

  /** What the cache has done since the start. */
  record Counts(long hits, long misses, long evictions, long invalidations, long oneTimes) {
    /** The share of uses for which nothing was registered, in percent; 0 if there was no use. */
    long hitPercent() {
      long uses = hits + misses;
      return uses == 0 ? 0 : 100 * hits / uses;
    }

    @Override
    public String toString() {
      return (hits + misses)
          + " uses of registered memory, "
          + hitPercent()
          + " % of them without registering; "
          + evictions
          + " registrations gave way to others, "
          + invalidations
          + " were of freed memory, "
          + oneTimes
          + " were for one use";
    }
  }

  private final Registrar<R> registrar;
  private final long maxBytes;
  private final int maxEntries;

  /** The ends of the list of what is kept: used last, and not used for the longest time. */
  private Entry<R> newest;

  private Entry<R> oldest;
  private int entries;
  private long bytes;
  private long hits;
  private long misses;
  private long evictions;
  private long invalidations;
  private long oneTimes;

  /**
   * Creates it empty.
   *
   * @param registrar how memory is registered
   * @param maxBytes of what is kept
   * @param maxEntries of what is kept
   */
  RegistrationCache(Registrar<R> registrar, long maxBytes, int maxEntries) {
    this.registrar = registrar;
    this.maxBytes = maxBytes;
    this.maxEntries = maxEntries;
  }

  /**
   * A registration.
   *
   * @param <R> what registering makes
   */
  static final class Entry<R> {
    private final MemorySegment memory;
    private final long start;
    private final long end;
    private final boolean readOnly;
    private final R registration;
    private Entry<R> newer;
    private Entry<R> older;
    private int holders;

    /** Whether it is in the list; otherwise it goes with its last holder. */
    private boolean kept;

    private Entry(MemorySegment memory, R registration) {
      this.memory = memory;
      this.registration = registration;
      start = memory.address();
      end = start + memory.byteSize();
      readOnly = memory.isReadOnly();
    }

    /** What was made of it. */
    R registration() {
      return registration;
    }

    /** Where memory of {@link RegistrationCache#hold} begins in it. */
    long offsetOf(MemorySegment part) {
      return Objects.checkFromIndexSize(part.address() - start, part.byteSize(), end - start);
    }

    private boolean serves(MemorySegment wanted) {
      long from = wanted.address();
      return from >= start && from + wanted.byteSize() <= end && (!readOnly || wanted.isReadOnly());
    }
  }

  /**
   * Gives a registration that has the memory in it, to be let go of.
   *
   * @param wanted native memory, alive
   * @return a registration, held
   * @throws RuntimeException if the memory cannot be registered
   */
  synchronized Entry<R> hold(MemorySegment wanted) {
    Entry<R> next;
    for (Entry<R> each = newest; each != null; each = next) {
      next = each.older;
      if (!each.memory.scope().isAlive()) {
        invalidations++;
        drop(each);
      } else if (each.serves(wanted)) {
        hits++;
        each.holders++;
        if (each != newest) {
          unlink(each);
          link(each);
        }
        return each;
      }
    }
    misses++;
    return register(wanted);
  }

  private Entry<R> register(MemorySegment wanted) {
    long length = wanted.byteSize();
    makeRoom(length);
    Entry<R> made;
    try {
      made = new Entry<>(wanted, registrar.register(wanted));
    } catch (RuntimeException e) {
      // The limit of locked memory, most likely: what is kept counts for it.
      if (!dropIdle()) {
        throw e;
      }
      made = new Entry<>(wanted, registrar.register(wanted));
    }
    made.holders = 1;
    if (entries < maxEntries && bytes + length <= maxBytes) {
      link(made);
      made.kept = true;
      entries++;
      bytes += length;
    } else {
      oneTimes++;
    }
    return made;
  }

  /** Lets the oldest go until there is room, if it can be made at all. */
  private void makeRoom(long length) {
    if (length > maxBytes) {
      return;
    }
    Entry<R> next;
    for (Entry<R> each = oldest; each != null; each = next) {
      if (entries < maxEntries && bytes + length <= maxBytes) {
        return;
      }
      next = each.newer;
      if (each.holders == 0) {
        evictions++;
        drop(each);
      }
    }
  }

  private boolean dropIdle() {
    int before = entries;
    Entry<R> next;
    for (Entry<R> each = oldest; each != null; each = next) {
      next = each.newer;
      if (each.holders == 0) {
        evictions++;
        drop(each);
      }
    }
    return entries < before;
  }

  /** Takes it out of the list; what nobody holds is unregistered. */
  private void drop(Entry<R> entry) {
    unlink(entry);
    entry.kept = false;
    entries--;
    bytes -= entry.end - entry.start;
    if (entry.holders == 0) {
      registrar.unregister(entry.registration);
    }
  }

  /**
   * Lets go of a registration.
   *
   * @param entry what {@link #hold} returned, once for each time
   */
  synchronized void release(Entry<R> entry) {
    if (entry.holders <= 0) {
      throw new IllegalStateException("the registration is not held");
    }
    if (--entry.holders == 0 && !entry.kept) {
      registrar.unregister(entry.registration);
    }
  }

  /** Unregisters all that is kept. Nothing is held. */
  synchronized void clear() {
    while (oldest != null) {
      drop(oldest);
    }
  }

  synchronized Counts counts() {
    return new Counts(hits, misses, evictions, invalidations, oneTimes);
  }

  /** How many bytes are kept. */
  synchronized long bytes() {
    return bytes;
  }

  /** How many registrations are kept. */
  synchronized int size() {
    return entries;
  }

  private void link(Entry<R> entry) {
    entry.newer = null;
    entry.older = newest;
    if (newest == null) {
      oldest = entry;
    } else {
      newest.newer = entry;
    }
    newest = entry;
  }

  private void unlink(Entry<R> entry) {
    if (entry.newer == null) {
      newest = entry.older;
    } else {
      entry.newer.older = entry.older;
    }
    if (entry.older == null) {
      oldest = entry.newer;
    } else {
      entry.older.newer = entry.newer;
    }
    entry.newer = null;
    entry.older = null;
  }
}
