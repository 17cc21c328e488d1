// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import java.io.IOException;

/** A connection could not be set up; the message says why, and what the peer says if it does. */
public final class ExchangeException extends IOException {
  private static final long serialVersionUID = 1L;

  ExchangeException(String message) {
    super(message);
  }

  ExchangeException(String message, Throwable cause) {
    super(message, cause);
  }
}
