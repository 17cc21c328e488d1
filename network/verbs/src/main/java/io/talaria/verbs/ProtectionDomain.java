// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import io.talaria.verbs.binding.Ibv;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.TreeSet;

/**
 * What belongs together: memory regions can be used only through queue pairs of the same domain
 * ({@code ibv_pd}). Owns regions, windows, queue pairs, shared receive queues and address handles,
 * which must be closed first. Usable by any thread.
 */
public final class ProtectionDomain extends NativeObject {
  private final Context context;

  /** Serial numbers of queue pairs that are open. Guarded by itself. */
  private final TreeSet<Long> openQueuePairs = new TreeSet<>();

  /** Memory of regions that were closed while queue pairs were open. Guarded by openQueuePairs. */
  private final ArrayDeque<Retired> retired = new ArrayDeque<>();

  private long nextSerial;

  ProtectionDomain(Context context) {
    super("protection domain", context);
    this.context = context;
    long pointer = Ibv.allocPd(context.pointer());
    if (pointer < 0) {
      abandoned();
      throw new VerbsException((int) pointer, "ibv_alloc_pd");
    }
    opened(pointer);
  }

  /**
   * Memory that a device may still have in its hands.
   *
   * @param lastSerial the newest queue pair when its region was closed
   * @param memory kept alive
   */
  private record Retired(long lastSerial, MemorySegment memory) {}

  /**
   * The context it belongs to.
   *
   * @return the context
   */
  public Context context() {
    return context;
  }

  /**
   * Registers memory of the program ({@code ibv_reg_mr}, or {@code ibv_reg_mr_iova2} for flags that
   * not every kernel knows). The memory of an automatic arena is kept alive. An arena that can be
   * closed must stay open until all queue pairs of the domain are closed that were open while the
   * region was: a peer would read or write whatever comes there next.
   *
   * @param memory native memory, not empty; writable if {@link Access#LOCAL_WRITE} is among the
   *     flags
   * @param access who may do what; none: the device may read
   * @return a region, to be closed
   * @throws VerbsException if the library refuses; for the limit of locked memory the message says
   *     how much it is and what to do
   */
  public MemoryRegion register(MemorySegment memory, Access... access) {
    return MemoryRegion.register(this, memory, access);
  }

  /**
   * Allocates zeroed memory, whole pages, and registers it. It lives as long as the region is open,
   * a queue pair of the domain is open that was open before the region was closed, or anything in
   * Java refers to it.
   *
   * @param bytes how much, at least 1
   * @param access who may do what; none: the device may read
   * @return a region, to be closed
   * @throws VerbsException if the library refuses, or the JVM may not have so much direct memory
   */
  public MemoryRegion allocate(long bytes, Access... access) {
    return MemoryRegion.allocate(this, bytes, access);
  }

  /**
   * Makes an address handle ({@code ibv_create_ah}), which datagrams are sent to.
   *
   * @param address of a port
   * @return a handle, to be closed
   * @throws VerbsException if the library refuses, for instance because there is no route
   */
  public AddressHandle addressHandle(AddressVector address) {
    return new AddressHandle(this, address);
  }

  /**
   * Makes a memory window ({@code ibv_alloc_mw}).
   *
   * @param type 1, bound by {@link QueuePair#bind}, or 2, bound by a posted request
   * @return a window, to be closed
   * @throws VerbsException if the device has none
   */
  public MemoryWindow window(int type) {
    return new MemoryWindow(this, type);
  }

  /**
   * Opens a shared receive queue ({@code ibv_create_srq}).
   *
   * @param requests how many it must hold, at least 1
   * @param pieces of memory that each may have, at least 1
   * @return a queue, to be closed
   * @throws VerbsException if the library refuses
   */
  public SharedReceiveQueue sharedReceiveQueue(int requests, int pieces) {
    return SharedReceiveQueue.open(this, requests, pieces);
  }

  /** A queue pair opens; gives its serial number. */
  long queuePairOpened() {
    synchronized (openQueuePairs) {
      long serial = nextSerial++;
      openQueuePairs.add(serial);
      return serial;
    }
  }

  void queuePairClosed(long serial) {
    synchronized (openQueuePairs) {
      openQueuePairs.remove(serial);
      while (!retired.isEmpty()
          && (openQueuePairs.isEmpty()
              || openQueuePairs.first() > retired.peekFirst().lastSerial())) {
        retired.removeFirst();
      }
    }
  }

  /** Keeps the memory of a closed region until no queue pair can have it in its hands. */
  void retire(MemorySegment memory) {
    synchronized (openQueuePairs) {
      if (!openQueuePairs.isEmpty()) {
        retired.addLast(new Retired(openQueuePairs.last(), memory));
      }
    }
  }

  /** How many regions' memory is kept. */
  int retiredRegions() {
    synchronized (openQueuePairs) {
      return retired.size();
    }
  }

  void require(ProtectionDomain other, String what) {
    context.require(other.context, what);
    if (other != this) {
      throw new IllegalArgumentException("the " + what + " is of another protection domain");
    }
  }

  @Override
  int destroy(long address) {
    return Ibv.deallocPd(address);
  }
}
