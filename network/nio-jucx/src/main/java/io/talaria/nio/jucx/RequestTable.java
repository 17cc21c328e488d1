// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import io.talaria.nio.ucx.binding.BoundWorker;
import java.util.Arrays;
import org.openucx.jucx.ucp.UcpRequest;

/**
 * The requests of one worker by number, with whatever has to stay while they are under way. JUCX
 * frees its native requests by itself. Obeys the worker's rule of threads.
 */
final class RequestTable {
  /** The first number; smaller ones say that an operation is done, or has failed. */
  private static final int FIRST = 2;

  private UcpRequest[] requests = new UcpRequest[16];
  private Object[] kept = new Object[16];
  private long[] lengths = new long[16];
  private long[] tags = new long[16];
  private int[] free = new int[16];
  private int freeCount;
  private int used;

  /**
   * Makes sure of a place for the next request. To be called before UCX gets the operation: behind
   * it nothing may need memory, or nobody would keep what UCX has.
   *
   * @throws OutOfMemoryError if there is none; the table is as before
   */
  void reserve() {
    if (freeCount > 0 || used < requests.length) {
      return;
    }
    int more = used * 2;
    UcpRequest[] moreRequests = Arrays.copyOf(requests, more);
    Object[] moreKept = Arrays.copyOf(kept, more);
    long[] moreLengths = Arrays.copyOf(lengths, more);
    long[] moreTags = Arrays.copyOf(tags, more);
    int[] moreFree = Arrays.copyOf(free, more);
    requests = moreRequests; // all or none
    kept = moreKept;
    lengths = moreLengths;
    tags = moreTags;
    free = moreFree;
  }

  /**
   * Takes a request in, for which a place is {@linkplain #reserve reserved}.
   *
   * @param keep what UCX has until the request is done
   * @return what the data path answers: 0, a number, or a negative status
   */
  long posted(UcpRequest request, Object keep) {
    return request.isCompleted() ? request.getStatus() : put(request, keep, 0, 0);
  }

  /** As {@link #posted}, also one that is done. */
  long put(UcpRequest request, Object keep, long length, long tag) {
    int index = freeCount > 0 ? free[--freeCount] : used++;
    requests[index] = request;
    kept[index] = keep;
    lengths[index] = length;
    tags[index] = tag;
    return index + (long) FIRST;
  }

  private int index(long number) {
    long index = number - FIRST;
    if (index < 0 || index >= used || requests[(int) index] == null) {
      throw new IllegalArgumentException("no request: " + number);
    }
    return (int) index;
  }

  int status(long number) {
    UcpRequest request = requests[index(number)];
    return request.isCompleted() ? request.getStatus() : BoundWorker.IN_PROGRESS;
  }

  long length(long number) {
    return lengths[index(number)];
  }

  long tag(long number) {
    return tags[index(number)];
  }

  /** What was to stay. */
  Object kept(long number) {
    return kept[index(number)];
  }

  void release(long number) {
    int index = index(number);
    requests[index] = null;
    kept[index] = null;
    free[freeCount++] = index;
  }
}
