// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;

/** One side's half of an upgrade to shared memory. */
final class ShmUpgrade implements Upgrade {
  private final ShmPeer peer;
  private final ShmStream stream;
  private final ByteBuffer payload;

  ShmUpgrade(ShmPeer peer, ShmStream stream, ByteBuffer payload) {
    this.peer = peer;
    this.stream = stream;
    this.payload = payload;
  }

  @Override
  public ByteBuffer payload() {
    return payload.duplicate();
  }

  @Override
  public void answered(ByteBuffer answer) {
    // Nothing is said there: the peer has mapped the slab.
  }

  @Override
  public TransportStream stream() {
    return stream;
  }

  @Override
  public void cancel(Reason reason) {
    peer.cancel(stream);
  }
}
