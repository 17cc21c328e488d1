// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.transport;

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

  /** An endpoint that is being closed. */
  private static final class Closing {
    private final BooleanSupplier sending;

    /** UCX's request to close; 0 or less once it is complete. */
    private long request;

    private int rounds;

    Closing(long request, BooleanSupplier sending) {
      this.request = request;
      this.sending = sending;
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
   * Checks all after a round of progress.
   *
   * @return whether UCX has not yet released some of them
   */
  public boolean poll() {
    for (int i = closing.size() - 1; i >= 0; i--) {
      if (isReleased(closing.get(i))) {
        closing.remove(i);
      }
    }
    return !closing.isEmpty();
  }

  private boolean isReleased(Closing one) {
    boolean sending = one.sending.getAsBoolean();
    if (one.request > 0 && worker.poll(one.request) != Status.IN_PROGRESS) {
      one.request = 0;
    }
    return !sending && one.request <= 0 && ++one.rounds >= ROUNDS;
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
