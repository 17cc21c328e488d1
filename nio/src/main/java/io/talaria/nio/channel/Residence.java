// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.transport.Home;
import io.talaria.nio.transport.TransportStream;

/**
 * Where a stream lives: in the home of the one selector that has its channel, or nowhere, while
 * doorbells serve several selectors or a blocking thread. Any thread.
 */
final class Residence {
  private final TransportStream stream;
  private volatile boolean shared;

  /** Whether the stream has left its last home. */
  private boolean leftForGood;

  Residence(TransportStream stream) {
    this.stream = stream;
  }

  /** Whether several selectors, or none with a home, look at it: doorbells serve them all. */
  boolean shared() {
    return shared;
  }

  /**
   * A selector gives the stream its place.
   *
   * @param home the selector's, or null if doorbells are to serve it and others
   */
  synchronized void moveTo(Home home) {
    shared = home == null;
    if (!leftForGood) {
      stream.moveTo(home);
    }
  }

  /** A selector has the channel no more. */
  synchronized void leave(Home home) {
    if (!leftForGood) {
      stream.leave(home);
    }
  }

  /**
   * The control connection is about to be heard by no selector. The caller ends the selectors'
   * sleep afterwards: see {@link Lane#leaveHome}.
   *
   * @param forGood whether the channel closes: no selector gives the stream a place again, and none
   *     touches it
   */
  synchronized void leave(boolean forGood) {
    if (!leftForGood) {
      leftForGood = forGood;
      stream.moveTo(null);
    }
  }
}
