// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.transport;

import java.io.IOException;

/** What a transport needs is not installed, or of no use here; the message says what to do. */
public final class MissingTransportException extends IOException {
  private static final long serialVersionUID = 1;

  private final String what;

  /**
   * Says what is missing.
   *
   * @param what such as «UCX»
   * @param message why it cannot be used, with the hint
   * @param cause or null
   */
  public MissingTransportException(String what, String message, Throwable cause) {
    super(message, cause);
    this.what = what;
  }

  /** What cannot be used, such as «UCX». */
  public String what() {
    return what;
  }
}
