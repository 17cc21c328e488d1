// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportStream;

/**
 * Where a stream lives: in the ready set of the one selector that waits for it, or nowhere, while
 * doorbells serve several selectors or a blocking thread. Any thread.
 *
 * <p>A selector that has the channel but has never been interested in reading or writing is none of
 * them: programs that read and write by different threads register a channel with two selectors,
 * and the second waits only when there is no room.
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
   * A selector that waits for the stream, or is the only one that has it, gives it its place. Under
   * one lock for all of them: of two that begin to wait at the same time, one sees the other.
   *
   * @param key the selector's
   * @param readySet the selector's, or null if it has none
   */
  synchronized void settle(TalariaSelectionKey key, ReadySet readySet) {
    key.waited |= key.waits();
    shared = readySet == null || othersWait(key);
    if (!leftForGood) {
      stream.moveTo(shared ? null : readySet);
    }
  }

  private static boolean othersWait(TalariaSelectionKey key) {
    for (TalariaSelectionKey other : key.socket.keys().all()) {
      if (other != key && (other.waited || other.waits())) {
        return true;
      }
    }
    return false;
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
