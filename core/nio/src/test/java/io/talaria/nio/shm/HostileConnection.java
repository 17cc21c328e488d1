// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * The memory of one connection in the hands of a hostile peer, which writes there what it likes: as
 * a peer should, so that the victim goes on, and as no peer should. All bytes it lets the victim
 * read have their highest bit set. Any one thread.
 */
public final class HostileConnection {
  private static final int[] WORDS = {
    ConnectionLayout.TAIL,
    ConnectionLayout.HEAD,
    ConnectionLayout.DATA_WAIT,
    ConnectionLayout.SPACE_WAIT,
    ConnectionLayout.ACCEPTS,
    ConnectionLayout.SWITCH_AT,
    ConnectionLayout.OUT_END,
    ConnectionLayout.IN_CLOSED,
    ConnectionLayout.IN_SWITCHED,
    ConnectionLayout.READY_SET,
    ConnectionLayout.MOVE_GENERATION,
    ConnectionLayout.MOVE_AT,
    ConnectionLayout.MOVE_AT + 8,
    ConnectionLayout.MOVE_TO,
    ConnectionLayout.MOVE_TO + 8,
    ConnectionLayout.IN_MOVES,
    ConnectionLayout.RING_READY,
    ConnectionLayout.IN_BUFFER
  };
  private static final int TAG = 0x80;
  private static final int MAX_RING = 1 << 16;
  private static final int REMEMBERED = 16;

  private final HostileMemory peer;
  private final ByteBuffer page;
  private final int slot;
  private final int generation;
  private final int ringBytes;
  private final ByteBuffer offer;
  private final ByteBuffer in;
  private final int mine;
  private final int theirs;
  private final long[] oldValues = new long[REMEMBERED];
  private int olds;
  private long tail;
  private long epoch;
  private long rings;
  private long ringsUsed;
  private int outBytes = ConnectionLayout.INLINE_RING_BYTES;

  HostileConnection(
      HostileMemory peer,
      ByteBuffer page,
      int side,
      int slot,
      int generation,
      int ringBytes,
      ByteBuffer offer) {
    this.peer = peer;
    this.page = page;
    this.slot = slot;
    this.generation = generation;
    this.ringBytes = ringBytes;
    this.offer = offer;
    mine = ConnectionLayout.side(side, slot);
    theirs = ConnectionLayout.side(1 - side, slot);
    in = inlineRing(1 - side);
    tail = ConnectionLayout.start(slot);
    tag(inlineRing(side));
    if (side == 1) {
      for (int i = 0; i < in.capacity(); i++) {
        in.put(i, (byte) 0);
      }
    }
  }

  private ByteBuffer inlineRing(int writerSide) {
    return page.slice(ConnectionLayout.inlineRing(writerSide), ConnectionLayout.INLINE_RING_BYTES)
        .order(ByteOrder.nativeOrder());
  }

  static void tag(ByteBuffer memory) {
    for (int i = 0; i < memory.capacity(); i++) {
      memory.put(i, (byte) (TAG | i));
    }
  }

  /** Whether a byte can be one of those that a hostile peer lets its victim read. */
  public static boolean tagged(byte value) {
    return (value & TAG) != 0;
  }

  /** What to send to the victim as an offer. */
  public ByteBuffer offer() {
    return offer.duplicate();
  }

  /** Says that this side's reader is ready for the switch. */
  public void agree() {
    set(mine + ConnectionLayout.ACCEPTS, 1);
  }

  /** The message that tells the victim so. */
  public ByteBuffer accepted() {
    return ShmMessages.accepted(slot, generation);
  }

  /** Whether the victim has said so, too. */
  public boolean victimAgrees() {
    return get(theirs + ConnectionLayout.ACCEPTS) != 0;
  }

  /** Says that this side's output has left TCP after so many bytes. */
  public void switchOut(long tcpBytes) {
    set(mine + ConnectionLayout.SWITCH_AT, tcpBytes + 1);
  }

  /** Whether the victim's output has left TCP. */
  public boolean victimSwitched() {
    return get(theirs + ConnectionLayout.SWITCH_AT) != 0;
  }

  /** Says that this side has taken so many bytes from TCP. */
  public void take(long tcpBytes) {
    set(mine + ConnectionLayout.IN_TAKEN, tcpBytes);
  }

  /** Says that this side's reader sleeps, and is to be woken by a doorbell. */
  public void awaitDoorbell() {
    set(
        mine + ConnectionLayout.DATA_WAIT,
        ConnectionLayout.waitWord(
            ++epoch, TransportStream.NO_DOORBELL, ConnectionLayout.WAIT_DOORBELL));
  }

  /** Whether a ring that the victim writes holds a byte below a limit, other than 0. */
  public boolean holdsByteBelow(int limit) {
    for (int i = 0; i < in.capacity(); i++) {
      byte value = in.get(i);
      if (value > 0 && value < limit) {
        return true;
      }
    }
    return peer.holdsByteBelow(limit);
  }

  // ---- as a peer should

  /** Sends, receives, waits or moves on, as a peer should, or nearly. */
  public void behave(Random random, long tcpBytes) {
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> send(random);
      case 3, 4 -> takeAll();
      case 5 -> switchOut(tcpBytes);
      case 6 -> set(mine + ConnectionLayout.IN_SWITCHED, 1);
      case 7 -> set(mine + ConnectionLayout.RING_READY, 1 + random.nextInt(3));
      case 8 ->
          set(
              mine
                  + (random.nextBoolean()
                      ? ConnectionLayout.DATA_WAIT
                      : ConnectionLayout.SPACE_WAIT),
              ++epoch << ConnectionLayout.WAIT_FLAG_BITS | random.nextInt(8));
      default -> agree();
    }
  }

  /** Says that all that the victim has written has been read. */
  public void takeAll() {
    set(mine + ConnectionLayout.HEAD, get(theirs + ConnectionLayout.TAIL));
  }

  /** Sends some bytes, without telling anybody. */
  public void sendSome() {
    tail += 100;
    set(mine + ConnectionLayout.TAIL, tail);
  }

  private void send(Random random) {
    int size = outBytes;
    long room = size - (tail - get(theirs + ConnectionLayout.HEAD));
    if (room > 0) {
      tail += 1 + random.nextInt((int) Math.min(room, size));
      set(mine + ConnectionLayout.TAIL, tail);
    }
  }

  /** Ends its output, or its input. */
  public void end(Random random) {
    if (random.nextBoolean()) {
      set(mine + ConnectionLayout.OUT_END, 1 + random.nextInt(2));
    } else {
      set(mine + ConnectionLayout.IN_CLOSED, 1);
    }
  }

  // ---- as no peer should

  /** Writes something into a word that a peer can reach. */
  public void scribble(Random random) {
    int offset =
        switch (random.nextInt(12)) {
          case 0 -> ConnectionLayout.PHASE_OFFSET;
          case 1 -> Long.BYTES * random.nextInt(ConnectionLayout.INLINE_RINGS_OFFSET / Long.BYTES);
          case 2 -> theirs + WORDS[random.nextInt(WORDS.length)];
          default -> mine + WORDS[random.nextInt(WORDS.length)];
        };
    long before = get(offset);
    oldValues[olds++ % REMEMBERED] = before;
    switch (random.nextInt(8)) {
      case 0 -> set(offset, before ^ 1L << random.nextInt(Long.SIZE));
      case 1 -> // half of a word, as by two stores
          page.putInt(offset + Integer.BYTES * random.nextInt(2), (int) value(random, before));
      default -> set(offset, value(random, before));
    }
  }

  private long value(Random random, long before) {
    return switch (random.nextInt(14)) {
      case 0 -> 0;
      case 1 -> random.nextInt(4);
      case 2 -> -1 - random.nextInt(3);
      case 3 -> Long.MIN_VALUE + random.nextInt(3);
      case 4 -> Long.MAX_VALUE - random.nextInt(3);
      case 5 -> Integer.MAX_VALUE + (long) random.nextInt(3) - 1;
      case 6 -> Integer.MIN_VALUE + (long) random.nextInt(3) - 1;
      case 7 -> before + random.nextInt(3) - 1;
      case 8 -> before + outBytes + random.nextInt(3) - 1;
      case 9 -> get(theirs + ConnectionLayout.TAIL) - outBytes + random.nextInt(3) - 1;
      case 10 -> get(theirs + ConnectionLayout.HEAD) + outBytes + random.nextInt(3) - 1;
      case 11 -> oldValues[random.nextInt(REMEMBERED)];
      case 12 -> get(theirs + WORDS[random.nextInt(WORDS.length)]);
      default -> random.nextLong();
    };
  }

  // ---- what it says about the memory

  /** A message about this connection, as a peer should send it, or not. */
  public ByteBuffer message(Random random) throws IOException {
    int of = random.nextInt(8) == 0 ? random.nextInt() : generation;
    int at = random.nextInt(8) == 0 ? random.nextInt(3) : slot;
    return switch (random.nextInt(13)) {
      case 10 -> ShmMessages.slab(random.nextInt(9) - 1, random.nextLong(), ringBytes);
      case 11 -> ShmMessages.mapped(random.nextInt(9) - 1);
      case 12 -> ShmMessages.unmapped(random.nextInt(9) - 1);
      case 0 -> ShmMessages.drop(random.nextInt(9) - 1);
      case 1 -> ShmMessages.released(at, of);
      case 2, 3 -> ShmMessages.accepted(at, of);
      case 4 -> ShmMessages.grow(at, of, random.nextLong(), random.nextLong(), random.nextInt());
      case 5 -> {
        byte[] noise = new byte[random.nextInt(40)];
        random.nextBytes(noise);
        yield ByteBuffer.wrap(noise);
      }
      default -> grow(random);
    };
  }

  /** Offers a larger ring, and at times moves there at once. */
  public ByteBuffer grow(Random random) throws IOException {
    int bytes = Math.min(MAX_RING, ConnectionLayout.MIN_RING_BYTES << random.nextInt(5));
    long ring = peer.makeRing(bytes);
    rings++;
    return ShmMessages.grow(slot, generation, rings, ring, bytes);
  }

  /** That this side has let go of the connection. */
  public ByteBuffer released() {
    return ShmMessages.released(slot, generation);
  }

  /**
   * Moves to its page, to a ring of a slab, or to one that it has offered.
   *
   * @param anyway also if the victim has not mapped it, or has not followed for long
   */
  public void move(Random random, boolean anyway) {
    long moves = get(mine + ConnectionLayout.MOVE_GENERATION);
    long ahead = moves - get(theirs + ConnectionLayout.IN_MOVES);
    if (!anyway && (ahead < 0 || ahead >= ConnectionLayout.MOVES)) {
      return;
    }
    long to = ConnectionLayout.RING_INLINE;
    int bytes = ringBytes;
    switch (random.nextInt(4)) {
      case 0 -> bytes = ConnectionLayout.INLINE_RING_BYTES;
      case 1 ->
          to =
              ConnectionLayout.ring(
                  ConnectionLayout.RING_OF_SLAB, anyway ? random.nextInt(99) - 9 : 0);
      default -> {
        if (!anyway && get(theirs + ConnectionLayout.RING_READY) <= ringsUsed) {
          return;
        }
        ringsUsed++;
        to = ConnectionLayout.ring(ConnectionLayout.RING_OF_FILE, ringsUsed);
      }
    }
    outBytes = bytes;
    set(mine + ConnectionLayout.moveAt(moves), tail);
    set(mine + ConnectionLayout.moveTo(moves), to);
    set(mine + ConnectionLayout.MOVE_GENERATION, moves + 1);
    tail += 100;
    set(mine + ConnectionLayout.TAIL, tail);
  }

  private long get(int offset) {
    return ConnectionLayout.getAcquire(page, offset);
  }

  private void set(int offset, long value) {
    ConnectionLayout.setRelease(page, offset, value);
  }
}
