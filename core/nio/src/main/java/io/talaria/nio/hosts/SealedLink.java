// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.Reason;
import io.talaria.nio.authentication.Seal;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.negotiation.MalformedFrameException;
import io.talaria.nio.negotiation.SessionLink;
import io.talaria.nio.transport.TransportProvider;
import java.nio.ByteBuffer;
import java.security.SignatureException;

/**
 * A session between hosts whose ends have proved themselves.
 *
 * @param hosts remembers what became of it
 * @param address what this side has called; null on the side that was called
 * @param seal what guards its frames
 * @param ends the addresses of its own connection, which both sides have proved to see
 */
record SealedLink(HostNegotiation hosts, RendezvousAddress address, Seal seal, ConnectionKey ends)
    implements SessionLink {
  @Override
  public String name() {
    return address.name();
  }

  @Override
  public boolean joins(ConnectionKey connection) {
    return ends.client().getAddress().equals(connection.client().getAddress())
        && ends.server().getAddress().equals(connection.server().getAddress());
  }

  @Override
  public int sealBytes() {
    return Seal.TAG_BYTES;
  }

  @Override
  public ByteBuffer seal(ByteBuffer frame) {
    return seal.close(frame);
  }

  @Override
  public ByteBuffer open(ByteBuffer frame) throws MalformedFrameException {
    try {
      return seal.open(frame);
    } catch (SignatureException e) {
      throw new MalformedFrameException(e.getMessage());
    }
  }

  @Override
  public TransportProvider transport(String transportName) {
    return hosts.usable(transportName);
  }

  @Override
  public void failed(Reason reason) {
    hosts.remember(address, reason);
  }
}
