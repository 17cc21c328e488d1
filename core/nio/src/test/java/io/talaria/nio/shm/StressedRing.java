// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.transport.StreamOwner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Both ends of a connection over memory that no session knows: cheap enough to be made some hundred
 * thousand times a second. Nothing here needs a negotiation thread: rings do not grow beyond that
 * of the slab, which is a connection's own. The memory goes round, so there must not be more than
 * {@link #PLACES} at a time.
 */
final class StressedRing {
  static final int PLACES = 4096;
  static final int RING = ConnectionLayout.MIN_RING_BYTES;

  private static final ByteBuffer MEMORY =
      ByteBuffer.allocateDirect(PLACES * SlabLayout.bytes(0, RING));
  private static final AtomicInteger NEXT = new AtomicInteger();

  final ShmStream client;
  final ShmStream server;
  final Doorbells clientDoorbells = new Doorbells();
  final Doorbells serverDoorbells = new Doorbells();

  /** Counts the doorbells that an end rings. */
  static final class Doorbells implements StreamOwner {
    volatile int rung;

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one end, one thread
    public boolean ring() {
      rung++;
      return true;
    }

    @Override
    public void woken() {}

    @Override
    public void released() {}

    @Override
    public void whileNobodyWrites(Runnable work) {
      work.run(); // the caller is the writer
    }

    @Override
    public void stalled() {}

    @Override
    public void buffersChanged(int inBytes, int outBytes) {}
  }

  StressedRing() {
    int slot = nextSlot();
    ConnectionLayout.reset(memory(slot), slot, 1, RING);
    client = new ShmStream(null, slot, 0, memory(slot), growth(slot, 0));
    server = new ShmStream(null, slot, 1, memory(slot), growth(slot, 1));
    client.owner(clientDoorbells, null);
    server.owner(serverDoorbells, null);
  }

  private static RingGrowth growth(int slot, int side) {
    SlabRings rings = new SlabRings(() -> {}, () -> {});
    rings.mapped(slab(slot), 0, side, RING);
    rings.open(0, RING);
    return new RingGrowth(null, rings, RING, RING);
  }

  private static ByteBuffer slab(int slot) {
    int bytes = SlabLayout.bytes(0, RING);
    return MEMORY.slice(slot * bytes, bytes).order(ByteOrder.nativeOrder());
  }

  private static int nextSlot() {
    return Math.floorMod(NEXT.getAndIncrement(), PLACES);
  }

  /** The control page of a connection. */
  static ByteBuffer memory(int slot) {
    return slab(slot).slice(0, ConnectionLayout.CONTROL_BYTES).order(ByteOrder.nativeOrder());
  }

  /** Numbered bytes. */
  static ByteBuffer bytes(int first, int n) {
    ByteBuffer bytes = ByteBuffer.allocate(n);
    for (int i = 0; i < n; i++) {
      bytes.put(i, (byte) (first + i));
    }
    return bytes;
  }

  /** Writes numbered bytes until no more fit; returns how many. */
  int fillFromClient() {
    int total = 0;
    int n;
    while ((n = client.write(bytes(total, RING))) > 0) {
      total += n;
    }
    return total;
  }
}
