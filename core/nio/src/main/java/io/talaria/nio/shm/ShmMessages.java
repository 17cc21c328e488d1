// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.doorbell.DoorbellAddress;
import java.nio.ByteBuffer;

/**
 * What two shared-memory transports tell each other through the negotiation session, big-endian.
 *
 * <pre>
 *   offer     slot:4 generation:4
 *   RELEASED  1 slot:4 generation:4
 *   DROP      2 slab:4
 *   GROW      3 slot:4 generation:4 ringGeneration:8 file:8 bytes:4
 *   ACCEPTED  4 slot:4 generation:4
 *   DOORBELL      5 ready set:4 opened:4 descriptor:4 inode:8
 *   SLAB      6 slab:4 file:8 ringBytes:4
 *   MAPPED    7 slab:4
 *   UNMAPPED  8 slab:4
 *   THREAD_DOORBELL 9 doorbell:4 descriptor:4 inode:8
 *   region    file:8
 * </pre>
 *
 * <p>SLAB comes before the first offer of a slot in it, and is answered by MAPPED or UNMAPPED; the
 * latter means that it could not be mapped, and what is offered there will be refused.
 *
 * <p>ACCEPTED says that a stream is established, or that there is news of an established one.
 * DOORBELL says which pipe of the sender's wakes one of its ready sets, and the how-many-eth ready
 * set that was, THREAD_DOORBELL which one wakes threads that sleep on its doorbell of that number.
 */
final class ShmMessages {
  static final byte RELEASED = 1;
  static final byte DROP = 2;
  static final byte GROW = 3;
  static final byte ACCEPTED = 4;
  static final byte DOORBELL = 5;
  static final byte SLAB = 6;
  static final byte MAPPED = 7;
  static final byte UNMAPPED = 8;
  static final byte THREAD_DOORBELL = 9;

  static final int OFFER_BYTES = 8;
  static final int RELEASED_BYTES = 8;
  static final int DROP_BYTES = 4;
  static final int GROW_BYTES = 28;
  static final int ACCEPTED_BYTES = 8;
  static final int DOORBELL_BYTES = 20;
  static final int SLAB_BYTES = 16;
  static final int MAPPED_BYTES = 4;
  static final int THREAD_DOORBELL_BYTES = 16;
  static final int REGION_BYTES = 8;

  private ShmMessages() {}

  static ByteBuffer released(int slot, int generation) {
    return ByteBuffer.allocate(1 + RELEASED_BYTES)
        .put(RELEASED)
        .putInt(slot)
        .putInt(generation)
        .flip();
  }

  static ByteBuffer accepted(int slot, int generation) {
    return ByteBuffer.allocate(1 + ACCEPTED_BYTES)
        .put(ACCEPTED)
        .putInt(slot)
        .putInt(generation)
        .flip();
  }

  static ByteBuffer doorbell(int readySet, int opened, DoorbellAddress doorbell) {
    return ByteBuffer.allocate(1 + DOORBELL_BYTES)
        .put(DOORBELL)
        .putInt(readySet)
        .putInt(opened)
        .putInt(doorbell.descriptor())
        .putLong(doorbell.inode())
        .flip();
  }

  static ByteBuffer threadDoorbell(int number, DoorbellAddress doorbell) {
    return ByteBuffer.allocate(1 + THREAD_DOORBELL_BYTES)
        .put(THREAD_DOORBELL)
        .putInt(number)
        .putInt(doorbell.descriptor())
        .putLong(doorbell.inode())
        .flip();
  }

  static ByteBuffer offer(int slot, int generation) {
    return ByteBuffer.allocate(OFFER_BYTES).putInt(slot).putInt(generation).flip();
  }

  static ByteBuffer drop(int slab) {
    return ByteBuffer.allocate(1 + DROP_BYTES).put(DROP).putInt(slab).flip();
  }

  static ByteBuffer slab(int slab, long file, int ringBytes) {
    return ByteBuffer.allocate(1 + SLAB_BYTES)
        .put(SLAB)
        .putInt(slab)
        .putLong(file)
        .putInt(ringBytes)
        .flip();
  }

  static ByteBuffer mapped(int slab) {
    return ByteBuffer.allocate(1 + MAPPED_BYTES).put(MAPPED).putInt(slab).flip();
  }

  static ByteBuffer unmapped(int slab) {
    return ByteBuffer.allocate(1 + MAPPED_BYTES).put(UNMAPPED).putInt(slab).flip();
  }

  static ByteBuffer grow(int slot, int generation, long ringGeneration, long file, int bytes) {
    return ByteBuffer.allocate(1 + GROW_BYTES)
        .put(GROW)
        .putInt(slot)
        .putInt(generation)
        .putLong(ringGeneration)
        .putLong(file)
        .putInt(bytes)
        .flip();
  }
}
