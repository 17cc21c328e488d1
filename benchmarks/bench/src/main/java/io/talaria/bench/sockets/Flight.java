// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.sockets;

/** How echoes are spread over several connections. */
enum Flight {
  /** One connection after the other, one echo at a time. */
  TURN,
  /** One echo in flight on each connection at any time. */
  ALL
}
