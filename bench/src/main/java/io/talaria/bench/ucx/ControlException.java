// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import java.io.IOException;

/** The control connection is over, or its peer does not keep to the protocol. */
final class ControlException extends IOException {
  private static final long serialVersionUID = 1L;

  ControlException(String message) {
    super(message);
  }
}
