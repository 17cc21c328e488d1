// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages.objects;

import io.talaria.messaging.Dispatch;
import java.util.concurrent.atomic.LongAdder;

/**
 * Adds up what has come from one node, each thread of which numbers its objects apart: the lowest
 * bits of a number are the thread's.
 */
public abstract class Receipt {
  private static final int WORKER_BITS = 4;

  /** How many threads a node may send with. */
  public static final int MAX_WORKERS = 1 << WORKER_BITS;

  private final long[] next = new long[MAX_WORKERS];

  /** The number of the thread's next object. */
  public static long number(int worker, long before) {
    return before << WORKER_BITS | worker;
  }

  /** Made for a way of receiving. */
  public static Receipt of(Dispatch dispatch) {
    return dispatch == Dispatch.INLINE ? new Plain() : new Shared(dispatch);
  }

  /**
   * Takes an object.
   *
   * @param number of it
   * @param mask what of its number it has
   * @param sum of its fields
   */
  public abstract void take(long number, long mask, long sum);

  /** Takes an object that has all of its number. */
  public final void take(long number, long sum) {
    take(number, -1, sum);
  }

  /** What has come so far. */
  public abstract Tally tally();

  /** Whether an object is its thread's next. */
  final boolean inOrder(long number, long mask) {
    int worker = (int) number & MAX_WORKERS - 1;
    return ((number ^ number(worker, next[worker]++)) & mask) == 0;
  }

  /** Of one thread, the poller. */
  private static final class Plain extends Receipt {
    private long count;
    private long sum;
    private long wrong;

    @Override
    public void take(long number, long mask, long fields) {
      if (!inOrder(number, mask)) {
        wrong++;
      }
      count++;
      sum += fields;
    }

    @Override
    public Tally tally() {
      return new Tally(count, sum, wrong);
    }
  }

  /** Of several: at once if they have no order, else one after the other. */
  private static final class Shared extends Receipt {
    private final boolean ordered;
    private final LongAdder count = new LongAdder();
    private final LongAdder sum = new LongAdder();
    private final LongAdder wrong = new LongAdder();

    Shared(Dispatch dispatch) {
      ordered = dispatch == Dispatch.ORDERED || dispatch == Dispatch.SERIAL;
    }

    @Override
    public void take(long number, long mask, long fields) {
      if (ordered && !inOrder(number, mask)) {
        wrong.increment();
      }
      sum.add(fields);
      count.increment(); // last: who sees it sees the rest
    }

    @Override
    public Tally tally() {
      long came = count.sum();
      return new Tally(came, sum.sum(), wrong.sum());
    }
  }
}
