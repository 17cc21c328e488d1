// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** What the frames of the control connection carry. */
final class Messages {
  private Messages() {}

  /**
   * Of {@link FrameType#HELLO}.
   *
   * @param program {@link ControlLink#PROGRAM}
   * @param version {@link ControlLink#VERSION}
   * @param token what the server's user has given the client's
   */
  record Hello(String program, int version, String token) {}

  /**
   * Of {@link FrameType#WELCOME}.
   *
   * @param java the server's JVM
   * @param ucx the server's UCX
   */
  record Welcome(String java, String ucx) {}

  /**
   * Of {@link FrameType#SETUP}.
   *
   * @param operation what to follow
   * @param kind in which way
   * @param sizeBytes of how many bytes
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param yields whether to leave the core to others when there is nothing to do
   * @param client how to reach the client
   */
  record Setup(
      Operation operation,
      Kind kind,
      int sizeBytes,
      String transports,
      boolean yields,
      Credentials client) {
    /** Returns what a side needs for it. */
    Side.Needs needs() {
      return new Side.Needs(operation.feature(sizeBytes), sizeBytes, transports, yields);
    }
  }

  /**
   * Of {@link FrameType#READY}.
   *
   * @param server how to reach the server
   */
  record Ready(Credentials server) {}

  /**
   * Of {@link FrameType#STOP}.
   *
   * @param expected how many operations the server must have seen; 0 if it sees none
   */
  record Stop(long expected) {}

  /**
   * Of {@link FrameType#STOPPED}.
   *
   * @param count how many operations the server has seen
   */
  record Stopped(long count) {}

  /**
   * Of {@link FrameType#BASELINE}.
   *
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   */
  record Baseline(String transports) {}

  /**
   * Of {@link FrameType#BASELINE_READY}.
   *
   * @param port where {@code ucx_perftest} listens
   */
  record BaselineReady(int port) {}

  /**
   * Of {@link FrameType#FAILED}.
   *
   * @param message why
   */
  record Failed(String message) {}

  /** Of {@link FrameType#CLOSE} and {@link FrameType#CLOSED}. */
  record Nothing() {}
}
