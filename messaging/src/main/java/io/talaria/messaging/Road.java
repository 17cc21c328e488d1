// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

/** How the bytes of a connection travel. */
public enum Road {
  /** Shared memory, between processes of one user on one host. */
  SHM("shm"),
  /** A TCP connection; accelerated if Talaria's agent is there. */
  STREAM("stream");

  private final String code;

  Road(String code) {
    this.code = code;
  }

  /** Its name in messages and reports. */
  public String code() {
    return code;
  }
}
