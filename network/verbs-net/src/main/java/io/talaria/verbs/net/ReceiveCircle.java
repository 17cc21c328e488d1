// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import io.talaria.verbs.Access;
import io.talaria.verbs.MemoryRegion;
import io.talaria.verbs.ProtectionDomain;
import io.talaria.verbs.ReceiveRequests;
import io.talaria.verbs.SharedReceiveQueue;

/**
 * The receive requests of a receive thread: a circle twice as long as its shared receive queue,
 * each with a slice, prepared once. A run is cut out of it and posted by one call, by two where the
 * circle closes.
 *
 * <pre>{@code
 *         next
 *          |
 * +---+---+---+---+---+---+---+---+
 * | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |   requests, each with the slice of its number
 * +---+---+---+---+---+---+---+---+   at first and as long as slices come back in order
 *   posted  |  free         | with handlers
 * }</pre>
 *
 * <p>Slices that handlers have kept come back later; then a request gets the slice that has been
 * free for longest. Confined to the receive thread.
 */
final class ReceiveCircle {
  final MemoryRegion region;
  private final SharedReceiveQueue queue;
  private final ReceiveRequests requests;
  private final int sliceBytes;
  private final int size;
  private int next;

  /** Which slice each request has. */
  private final int[] sliceOf;

  /** Slices that can be posted, the oldest first. */
  private final int[] free;

  private int freeHead;
  private int freeCount;

  ReceiveCircle(ProtectionDomain domain, SharedReceiveQueue queue, int entries, int sliceBytes) {
    this.queue = queue;
    this.sliceBytes = sliceBytes;
    size = 2 * entries;
    region = domain.allocate((long) size * sliceBytes, Access.LOCAL_WRITE);
    try {
      requests = ReceiveRequests.allocate(domain, size, 1);
    } catch (RuntimeException | Error e) {
      region.close();
      throw e;
    }
    sliceOf = new int[size];
    free = new int[size];
    for (int i = 0; i < size; i++) {
      prepare(i, i);
      free[i] = i;
    }
    freeCount = size;
  }

  private void prepare(int request, int slice) {
    sliceOf[request] = slice;
    requests.request(request).id(slice).local(region, (long) slice * sliceBytes, sliceBytes);
  }

  int slices() {
    return size;
  }

  int available() {
    return freeCount;
  }

  /** A slice can be posted again. */
  void free(int slice) {
    free[(freeHead + freeCount) % size] = slice;
    freeCount++;
  }

  /** Posts so many, as far as slices are free; gives how many were posted. */
  int post(int wanted) {
    int left = Math.min(wanted, freeCount);
    int posted = 0;
    while (left > 0) {
      int run = Math.min(left, size - next);
      for (int i = 0; i < run; i++) {
        int slice = free[(freeHead + i) % size];
        if (sliceOf[next + i] != slice) {
          prepare(next + i, slice);
        }
      }
      int status = queue.post(requests, next, run);
      int done = status == 0 ? run : Math.clamp(requests.failed() - (long) next, 0, run);
      next = (next + done) % size;
      freeHead = (freeHead + done) % size;
      freeCount -= done;
      posted += done;
      if (done < run) {
        return posted;
      }
      left -= run;
    }
    return posted;
  }
}
