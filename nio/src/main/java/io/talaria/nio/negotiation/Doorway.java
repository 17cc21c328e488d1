// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

/** Where sessions come in that are about one listener. Negotiation thread. */
interface Doorway {
  /** Whether a connection with these addresses may have come to the listener. */
  boolean covers(ConnectionKey connection);

  /** Whether the listener has been closed for so long. */
  boolean closedFor(long nowNs, long sinceNs);
}
