// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx.transport;

import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.Worker;
import java.util.function.BiConsumer;

/**
 * Finds a worker's endpoints that have failed. UCX reports a failure without an event, and finding
 * it takes a look at each endpoint, so that is done once in many rounds of progress, and before a
 * thread sleeps. Only for the thread that has entered the worker.
 */
public final class FailureCheck {
  private static final int EVERY = 1 << 12;
  private static final int FAILED_AT_FIRST = 64;

  private final Worker worker;
  private final BiConsumer<Object, String> onFailure;

  /** Room for those that have failed; grows, so that none is left out. */
  private Endpoint[] failed = new Endpoint[FAILED_AT_FIRST];

  private int rounds;

  /**
   * Creates a check.
   *
   * @param worker whose endpoints are checked
   * @param onFailure gets the attachment of a failed endpoint and the reason, again in each check
   *     until it has closed the endpoint
   */
  public FailureCheck(Worker worker, BiConsumer<Object, String> onFailure) {
    this.worker = worker;
    this.onFailure = onFailure;
  }

  /** Counts a round of progress, and checks in one of 4,096. */
  public void round() {
    if ((++rounds & (EVERY - 1)) == 0) {
      now();
    }
  }

  /** Checks now. */
  public void now() {
    int count = worker.pollFailures(failed);
    while (count == failed.length) {
      failed = new Endpoint[2 * count];
      count = worker.pollFailures(failed);
    }
    for (int i = 0; i < count; i++) {
      Endpoint endpoint = failed[i];
      failed[i] = null;
      // Unless it was closed on the failure of another one.
      if (endpoint.isOpen()) {
        onFailure.accept(endpoint.attachment(), reason(endpoint.failure()));
      }
    }
  }

  /**
   * The reason why a connection has ended, for people.
   *
   * @param status with which an operation or an endpoint has failed
   * @return a sentence with UCX's words
   */
  public static String reason(int status) {
    return "UCX says: " + Status.text(status);
  }
}
