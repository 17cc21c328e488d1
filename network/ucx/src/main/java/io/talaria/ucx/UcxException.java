// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.ucx;

/** UCX refused a call; the message has UCX's words. */
public final class UcxException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What UCX answered. */
  private final int status;

  /**
   * Makes the exception.
   *
   * @param status what UCX answered; negative
   * @param what the call
   */
  public UcxException(int status, String what) {
    super(what + ": " + Status.text(status) + " (" + status + ")");
    this.status = status;
  }

  /**
   * What UCX answered.
   *
   * @return one of the constants of {@link Status}
   */
  public int status() {
    return status;
  }
}
