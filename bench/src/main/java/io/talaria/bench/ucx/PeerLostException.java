// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

/** Whoever waits for the other side over UCX need not wait any longer. */
final class PeerLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PeerLostException(String message) {
    super(message);
  }
}
