// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** What a frame of the control connection says; the records of {@link Messages} are its payload. */
enum FrameType {
  /** The client's first: who it is. */
  HELLO(1),
  /** The server's answer. */
  WELCOME(2),
  /** The client asks the server to follow an operation. */
  SETUP(3),
  /** The server follows from now on. */
  READY(4),
  /** The client has done its last operation. */
  STOP(5),
  /** The server has seen it. */
  STOPPED(6),
  /** Both close what they have of UCX. */
  CLOSE(7),
  /** The server has; another {@link #SETUP} may come. */
  CLOSED(8),
  /** The client asks for a server of {@code ucx_perftest}. */
  BASELINE(9),
  /** There it is. */
  BASELINE_READY(10),
  /** Whoever sends it gives up, and says why. */
  FAILED(11);

  private final byte code;

  FrameType(int code) {
    this.code = (byte) code;
  }

  /** Returns the number on the wire. */
  byte code() {
    return code;
  }

  /** Returns the type of a number, or null. */
  static FrameType of(byte code) {
    for (FrameType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    return null;
  }
}
