// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportStream;

/**
 * Where a stream lives: in the ready set of the one selector that has its channel, or nowhere,
 * while doorbells serve several selectors or a blocking thread. Any thread.
 */
final class Membership {
  private final TransportStream stream;
  private volatile boolean shared;

  /** Whether the stream has left its last ready set. */
  private boolean leftForGood;

  Membership(TransportStream stream) {
    this.stream = stream;
  }

  /** Whether several selectors, or none with a ready set, look at it: doorbells serve them all. */
  boolean shared() {
    return shared;
  }

  /**
   * A selector gives the stream its place.
   *
   * @param readySet the selector's, or null if doorbells are to serve it and others
   */
  synchronized void moveTo(ReadySet readySet) {
    shared = readySet == null;
    if (!leftForGood) {
      stream.moveTo(readySet);
    }
  }

  /** A selector no longer has the channel. */
  synchronized void leave(ReadySet readySet) {
    if (!leftForGood) {
      stream.leave(readySet);
    }
  }

  /**
   * The control connection is about to be heard by no selector. The caller ends the selectors'
   * sleep afterwards: see {@link ConnectionPath#leaveReadySet}.
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
