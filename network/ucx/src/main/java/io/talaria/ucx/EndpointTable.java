// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

import io.talaria.ffi.Raw;
import io.talaria.ucx.binding.UcpUpcalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The endpoints of one worker, and for each a cell of native memory whose address UCX keeps as the
 * endpoint's user data:
 *
 * <pre>
 *   0                32      36
 *   +----------------+-------+---------+
 *   | sem_t: failed  | index | padding |   64 bytes
 *   +----------------+-------+---------+
 * </pre>
 *
 * <p>UCX's error handler is {@code sem_post} on that semaphore; {@code ucp_stream_worker_poll}
 * gives the address back. A cell is taken until UCX is done with the endpoint. Confined to the
 * thread that uses the worker.
 */
final class EndpointTable {
  private static final long CELL_BYTES = 64;
  private static final long INDEX = UcpUpcalls.SEMAPHORE_BYTES;
  private static final int SLAB = 64;

  private final Arena arena = Arena.ofAuto();
  private Endpoint[] endpoints = new Endpoint[0];
  private long[] cells = new long[0];
  private int[] free = new int[0];
  private int freeCount;

  /** What was found last by its handle. */
  private Endpoint recent;

  /** Keeps an endpoint; gives its cell. */
  long add(Endpoint endpoint) {
    if (freeCount == 0) {
      grow();
    }
    int index = free[--freeCount];
    endpoints[index] = endpoint;
    long cell = cells[index];
    Raw.word(cell, 0);
    return cell;
  }

  private void grow() {
    int old = endpoints.length;
    MemorySegment slab = arena.allocate(CELL_BYTES * SLAB, CELL_BYTES);
    endpoints = Arrays.copyOf(endpoints, old + SLAB);
    cells = Arrays.copyOf(cells, old + SLAB);
    free = Arrays.copyOf(free, old + SLAB);
    for (int i = SLAB - 1; i >= 0; i--) {
      long cell = slab.address() + i * CELL_BYTES;
      Raw.half(cell + INDEX, old + i);
      cells[old + i] = cell;
      free[freeCount++] = old + i;
    }
  }

  /** Forgets an endpoint with which UCX is done. */
  void remove(long cell) {
    int index = Raw.half(cell + INDEX);
    endpoints[index] = null;
    free[freeCount++] = index;
  }

  /** The endpoint of a cell that UCX gave back. */
  Endpoint of(long cell) {
    return endpoints[Raw.half(cell + INDEX)];
  }

  /** The program's open endpoint with a handle; null: it has none. */
  Endpoint ofHandle(long handle) {
    if (handle == 0) {
      return null;
    }
    if (recent != null && recent.hasHandle(handle)) {
      return recent;
    }
    for (Endpoint endpoint : endpoints) {
      if (endpoint != null && endpoint.hasHandle(handle)) {
        recent = endpoint;
        return endpoint;
      }
    }
    return null;
  }

  /** Whether UCX has reported a failure. */
  static boolean failed(long cell) {
    return Raw.word(cell) != 0;
  }

  /** All endpoints with which UCX is not done. */
  Endpoint[] all() {
    return Arrays.stream(endpoints).filter(endpoint -> endpoint != null).toArray(Endpoint[]::new);
  }

  /** Finds endpoints that have failed and are not closed; gives how many were put. */
  int failed(Endpoint[] found) {
    int count = 0;
    for (int i = 0; i < endpoints.length && count < found.length; i++) {
      Endpoint endpoint = endpoints[i];
      if (endpoint != null && Raw.word(cells[i]) != 0 && endpoint.isOpen()) {
        found[count++] = endpoint;
      }
    }
    return count;
  }
}
