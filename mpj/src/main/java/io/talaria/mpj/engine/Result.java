// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

import io.talaria.mpj.device.Operation;

/** How a receive ended. */
public final class Result {
  /** See {@link Operation#error}. */
  public int error;

  /** Rank in the job that sent the message. */
  public int source;

  /** Its tag. */
  public int tag;

  /** Payload bytes received. */
  public long bytes;

  /** Payload bytes sent. */
  public long sentBytes;

  /** Base type sent. */
  public int type;

  /** Why it failed, or null. */
  public RuntimeException failure;

  /** An empty result. */
  public Result() {}

  /**
   * Copies what an operation has.
   *
   * @param op one that is over
   */
  public void take(Operation op) {
    error = op.error;
    source = op.fromSource;
    tag = op.fromTag;
    bytes = op.bytes;
    sentBytes = op.sentBytes;
    type = op.fromType;
    failure = op.failure;
  }
}
