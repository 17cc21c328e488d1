// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.transport;

import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;
import java.util.Arrays;

/**
 * The sends of one endpoint that UCX has not completed. UCX completes them in any order; they are
 * taken out in the order in which they were added, so that memory used as a ring can be freed up to
 * a place. Only for the thread that has entered the worker.
 *
 * <p>Each send has a mark, a number of the user, and a slot, a number below the capacity that no
 * other send in flight has.
 */
public final class SendsInFlight {
  private final Worker worker;
  private final int max;
  private long[] requests;
  private long[] marks;
  private int oldest;
  private int size;

  /**
   * Creates an empty queue.
   *
   * @param worker that completes the sends
   * @param capacity number of sends for which memory is taken at first, a power of two
   * @param max the maximum number of sends, a power of two; if it is equal to the capacity, {@link
   *     #add} never allocates
   */
  public SendsInFlight(Worker worker, int capacity, int max) {
    if (Integer.bitCount(capacity) != 1 || Integer.bitCount(max) != 1 || capacity > max) {
      throw new IllegalArgumentException(
          "capacity " + capacity + ", max " + max + ": powers of two in order are needed");
    }
    this.worker = worker;
    this.max = max;
    requests = new long[capacity];
    marks = new long[capacity];
  }

  /**
   * Whether no send is in flight.
   *
   * @return whether there is none
   */
  public boolean isEmpty() {
    return size == 0;
  }

  /**
   * How many sends are in flight.
   *
   * @return their number
   */
  public int size() {
    return size;
  }

  /**
   * Whether further sends may be added.
   *
   * @param sends how many
   * @return whether there is room for all of them
   */
  public boolean hasRoomFor(int sends) {
    return size + sends <= max;
  }

  /**
   * The slot of the send that is added next, if the capacity does not grow for it.
   *
   * @return a number below the capacity
   */
  public int nextSlot() {
    return (oldest + size) & (requests.length - 1);
  }

  /**
   * Adds a send, for which {@link #hasRoomFor there must be room}.
   *
   * @param request what UCX has answered: a request, or 0 if the send is completed
   * @param mark anything
   */
  public void add(long request, long mark) {
    if (size == requests.length) {
      grow();
    }
    int slot = nextSlot();
    requests[slot] = request;
    marks[slot] = mark;
    size++;
  }

  private void grow() {
    if (size == max) {
      throw new IllegalStateException("there are " + max + " sends in flight");
    }
    requests = Arrays.copyOf(requests, size * 2);
    marks = Arrays.copyOf(marks, size * 2);
    // What was before the oldest goes behind the rest.
    System.arraycopy(requests, 0, requests, size, oldest);
    System.arraycopy(marks, 0, marks, size, oldest);
  }

  /**
   * The slot of the oldest send.
   *
   * @return a number below the capacity; undefined if the queue is empty
   */
  public int oldestSlot() {
    return oldest;
  }

  /**
   * The mark of the oldest send.
   *
   * @return the number given to {@link #add}; undefined if the queue is empty
   */
  public long oldestMark() {
    return marks[oldest];
  }

  /**
   * Takes out the oldest send if UCX has completed it. The queue must not be empty.
   *
   * @return {@link Status#IN_PROGRESS}, or the outcome of the send that was taken out
   */
  public int pollOldest() {
    int status = requests[oldest] == 0 ? Status.OK : worker.poll(requests[oldest]);
    if (status != Status.IN_PROGRESS) {
      oldest = (oldest + 1) & (requests.length - 1);
      size--;
    }
    return status;
  }
}
