// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.frame;

/** What one rank knows of another: its output, what waits for room on it, and credits. */
final class Peer {
  final int rank;
  final FrameOutput output;

  /** Answers, sent before anything else. */
  final ControlQueue control = new ControlQueue();

  /** Messages not yet sent nor announced, in order. */
  final OperationQueue sends = new OperationQueue();

  /** Messages that the peer wants the data of. */
  final OperationQueue streams = new OperationQueue();

  /** Whether it is in the device's list of peers with something to send. */
  boolean listed;

  long creditUsed;
  long creditSeen;

  Peer(int rank, FrameOutput output) {
    this.rank = rank;
    this.output = output;
  }

  /** Whether a message may go now without overtaking another. */
  boolean nothingWaits() {
    return sends.head == null && control.isEmpty();
  }

  boolean idle() {
    return nothingWaits() && streams.head == null;
  }
}
