// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.examples;

import io.talaria.verbs.CompletionQueue;
import io.talaria.verbs.Completions;
import io.talaria.verbs.Context;
import io.talaria.verbs.DeviceList;
import io.talaria.verbs.Path;
import io.talaria.verbs.Status;
import java.util.concurrent.TimeoutException;

/**
 * The device that an example runs on, and what all of them need.
 *
 * @param device its name; empty for the first
 */
record Here(String device) {
  private static final long LIMIT_NS = 60_000_000_000L;

  Context open() {
    try (DeviceList devices = DeviceList.open()) {
      return (device.isEmpty() ? devices.first() : devices.named(device)).open();
    }
  }

  /** By port 1, from the GID that is best: version 2 of RoCE, with an address. */
  static Path path(Context context) {
    int gid = context.preferredGid(1).orElseThrow().index();
    return Path.by(1, gid).withReads(1, 1);
  }

  /** Polls until there is a completion, which must have succeeded; gives its place. */
  static int await(CompletionQueue queue, Completions done) throws TimeoutException {
    long endNs = System.nanoTime() + LIMIT_NS;
    int count = queue.poll(done);
    while (count == 0) {
      if (System.nanoTime() > endNs) {
        throw new TimeoutException("no completion came in a minute");
      }
      Thread.onSpinWait();
      count = queue.poll(done);
    }
    for (int i = 0; i < count; i++) {
      check(done.status(i) == Status.SUCCESS, "a request: " + Status.text(done.status(i)));
    }
    return count;
  }

  /** A status of post: 0, or what is wrong. */
  static void posted(int status) {
    check(status == 0, "posting: " + status);
  }

  static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException("not as it should be: " + what);
    }
  }
}
