// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.authentication.Seal;
import java.nio.ByteBuffer;
import java.security.SignatureException;

/**
 * What a session between hosts has that one on a host has not.
 *
 * @param where whom this side has called; null on the side that was called
 * @param seal what guards its frames
 * @param ends the addresses of its own connection, which both sides have proved to see
 */
record HostLink(Where where, Seal seal, ConnectionKey ends) {
  /** Whether a connection is between the same two hosts, as far as addresses tell. */
  boolean joins(ConnectionKey connection) {
    return ends.client().getAddress().equals(connection.client().getAddress())
        && ends.server().getAddress().equals(connection.server().getAddress());
  }

  ByteBuffer close(ByteBuffer frame) {
    return seal.close(frame);
  }

  ByteBuffer open(ByteBuffer frame) throws MalformedFrameException {
    try {
      return seal.open(frame);
    } catch (SignatureException e) {
      throw new MalformedFrameException(e.getMessage());
    }
  }
}
