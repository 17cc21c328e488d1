// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.road;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;

/** The way to the own node: what goes in comes out. */
public final class LoopTrack extends Track {
  private final TrackOwner owner;
  private final RingProducer[] out = new RingProducer[Lane.COUNT];
  private final RingConsumer[] in = new RingConsumer[Lane.COUNT];

  /**
   * Makes both rings.
   *
   * @param capacity of each lane, in bytes
   */
  public LoopTrack(TrackOwner owner, int... capacity) {
    this.owner = owner;
    for (int lane = 0; lane < Lane.COUNT; lane++) {
      MemorySegment memory = Arena.ofAuto().allocate(RingLayout.bytes(capacity[lane]), 128);
      out[lane] = new RingProducer(memory, capacity[lane]);
      in[lane] = new RingConsumer(memory, capacity[lane]);
    }
  }

  @Override
  public String road() {
    return "loop";
  }

  @Override
  public String reason() {
    return "this node itself";
  }

  @Override
  public RingProducer out(int lane) {
    return out[lane];
  }

  @Override
  public Inlet in(int lane) {
    return in[lane];
  }

  @Override
  public SocketChannel session() {
    return null;
  }

  @Override
  public void wakePeer() {
    owner.wakePoller();
  }

  @Override
  public boolean push() {
    return false;
  }

  @Override
  public boolean pull() {
    return false;
  }

  @Override
  public void published(int lane) {
    if (in[lane].mustWake()) {
      owner.wakeWaiters();
    }
  }

  @Override
  public void arm(int lane) {
    in[lane].arm();
  }

  @Override
  public void disarm(int lane) {
    in[lane].disarm();
  }

  @Override
  public boolean over() {
    return in[Lane.BULK].ended() && in[Lane.EXPRESS].ended();
  }

  @Override
  public void close() {
    // The collector takes the memory.
  }
}
