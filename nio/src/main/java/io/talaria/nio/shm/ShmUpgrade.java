// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Upgrade;
import java.nio.ByteBuffer;

/** One side's half of an upgrade to shared memory. */
final class ShmUpgrade implements Upgrade {
  private final ShmPeer peer;
  private final ShmStream stream;
  private final ByteBuffer payload;
  private final boolean newSegment;

  ShmUpgrade(ShmPeer peer, ShmStream stream, ByteBuffer payload) {
    this(peer, stream, payload, false);
  }

  ShmUpgrade(ShmPeer peer, ShmStream stream, ByteBuffer payload, boolean newSegment) {
    this.peer = peer;
    this.stream = stream;
    this.payload = payload;
    this.newSegment = newSegment;
  }

  @Override
  public ByteBuffer payload() {
    return payload.duplicate();
  }

  @Override
  public void answered(ByteBuffer answer) {
    peer.answered(stream);
  }

  @Override
  public FabricStream stream() {
    return stream;
  }

  @Override
  public void cancel(Reason reason) {
    peer.cancel(stream, newSegment);
  }
}
