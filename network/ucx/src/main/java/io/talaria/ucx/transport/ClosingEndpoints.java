// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.transport;

import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A worker's endpoints that are being closed. UCX completes the request to close without an event,
 * and needs {@link #ROUNDS} more rounds of progress to release an endpoint that was closed by
 * force; {@code ClosedEndpointsTest} counts what is held. Only for the thread that has entered the
 * worker.
 */
public final class ClosingEndpoints {
  /** Rounds of progress until UCX has released an endpoint, and armed what the endpoint used. */
  public static final int ROUNDS = 8;

  /**
   * How long the reply of an endpoint that {@link Endpoint#mayOweReply} is waited for, and how many
   * rounds, because this process may have been stopped meanwhile. Then the endpoint is left to UCX,
   * which releases it with the worker.
   */
  private static final long REPLY_NS = 1_000_000_000;

  private static final int REPLY_ROUNDS = 100;

  /** An endpoint that is being closed. */
  private static final class Closing {
    private final BooleanSupplier sending;
    private final long sinceNs = System.nanoTime();

    /** What is not closed yet because it may owe a reply, or null. */
    private Endpoint owing;

    /** Whether it was closed although its reply has not left. */
    private boolean left;

    /** UCX's request to flush what owes a reply, then to close; 0 or less once it is complete. */
    private long request;

    /** While it owes a reply, and again once it was closed. */
    private int rounds;

    Closing(long request, BooleanSupplier sending) {
      this.request = request;
      this.sending = sending;
    }

    private boolean waitsTooLong() {
      return ++rounds > REPLY_ROUNDS && System.nanoTime() - sinceNs > REPLY_NS;
    }

    /** Closes it if it owes no reply any more, or owes it for too long. */
    void closeOwing() {
      if (request > 0 && !waitsTooLong()) {
        return;
      }
      left = owing.isOpen() && owing.mayOweReply();
      request = owing.isOpen() ? owing.closeForced() : 0;
      owing = null;
      rounds = 0;
    }
  }

  private final Worker worker;
  private final List<Closing> closing = new ArrayList<>();

  /**
   * Creates an empty list.
   *
   * @param worker of the endpoints
   */
  public ClosingEndpoints(Worker worker) {
    this.worker = worker;
  }

  /**
   * Adds an endpoint without sends in flight.
   *
   * @param request what the call to close has answered
   */
  public void add(long request) {
    add(request, () -> false);
  }

  /**
   * Adds an endpoint.
   *
   * @param request what the call to close has answered
   * @param sending takes out completed sends of the endpoint, and answers whether others are left
   */
  public void add(long request, BooleanSupplier sending) {
    closing.add(new Closing(request, sending));
  }

  /**
   * Closes an endpoint by force, as soon as it owes its peer no reply.
   *
   * @param endpoint which is open
   * @param sending takes out completed sends of the endpoint, and answers whether others are left
   */
  public void force(Endpoint endpoint, BooleanSupplier sending) {
    if (endpoint.mayOweReply()) {
      Closing later = new Closing(endpoint.flush(), sending);
      later.owing = endpoint;
      closing.add(later);
    } else {
      add(endpoint.closeForced(), sending);
    }
  }

  /**
   * Checks all after a round of progress.
   *
   * @return whether UCX will have released more of them in a moment; those of peers that are
   *     stopped or dead may stay until the worker is closed
   */
  public boolean poll() {
    boolean soon = false;
    for (int i = closing.size() - 1; i >= 0; i--) {
      Closing one = closing.get(i);
      if (isReleased(one)) {
        closing.remove(i);
      } else {
        soon |= one.owing != null || !one.left;
      }
    }
    return soon;
  }

  private boolean isReleased(Closing one) {
    boolean sending = one.sending.getAsBoolean();
    if (one.request > 0 && worker.poll(one.request) != Status.IN_PROGRESS) {
      one.request = 0;
    }
    if (one.owing != null) {
      one.closeOwing();
    }
    return one.owing == null && !sending && one.request <= 0 && ++one.rounds >= ROUNDS;
  }

  /**
   * Makes progress until UCX has released all.
   *
   * @param timeoutNs how long at most, in nanoseconds
   * @return whether it has
   */
  public boolean await(long timeoutNs) {
    long start = System.nanoTime();
    while (poll()) {
      if (System.nanoTime() - start >= timeoutNs) {
        return false;
      }
      worker.progress();
    }
    return true;
  }
}
