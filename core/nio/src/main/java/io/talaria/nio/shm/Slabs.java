// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.Reason;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;

/**
 * The slabs of a pair of processes. The side that dialled makes them, gives out their pages, lowest
 * slot first, and drops a slab that is not in use if as many pages are free elsewhere; the other
 * side maps what it is told. Those with rings stay, because a connection of any slab may use them.
 * Negotiation thread.
 */
final class Slabs {
  /** Pages that are kept for the next connections, if they were there once. */
  static final int KEPT_PAGES = 64;

  private final Peer session;
  private final SharedFiles files;
  private final SlabRings rings;
  private final int side;
  private final Slab[] slabs = new Slab[SlabLayout.SLABS];

  /** Where this side could not map what it was told of: why. */
  private final TransportException[] failures = new TransportException[SlabLayout.SLABS];

  /** Size of the rings in all slabs; 0 on the side that does not make them until it is told. */
  private int ringBytes;

  private int mapped;
  private int streams;
  private boolean anyLost;
  private boolean gone;

  Slabs(Peer session, SharedFiles files, SlabRings rings, int side) {
    this.session = session;
    this.files = files;
    this.rings = rings;
    this.side = side;
  }

  int ringBytes() {
    return ringBytes;
  }

  /** Number of slabs that are mapped. */
  int mapped() {
    return mapped;
  }

  /** Pages of this side's with a stream. */
  int streams() {
    return streams;
  }

  /** The slab of a slot, or null. */
  Slab of(int slot) {
    return slot >= 0 && slot < PeerLayout.SLOTS ? slabs[SlabLayout.slab(slot)] : null;
  }

  // ---- the side that dialled

  /** The first slab with a free page, or null if one is to be {@linkplain #make made}. */
  Slab withRoom() throws TransportException {
    if (gone) {
      throw new TransportException(Reason.PEER_LOST, "the peer process has ended");
    }
    for (Slab slab : slabs) {
      if (slab != null && slab.usable() && !slab.full() && slab.intact()) {
        return slab;
      }
      if (slab != null && slab.lost) {
        anyLost = true;
        rings.lost(slab.index);
        dropIfUnused(slab);
      }
    }
    return null;
  }

  /** How many bytes the next slab will have. */
  int nextBytes(int bytes) throws TransportException {
    return SlabLayout.bytes(next(), ringBytes == 0 ? bytes : ringBytes);
  }

  private int next() throws TransportException {
    for (int i = 0; i < SlabLayout.SLABS; i++) {
      if (slabs[i] == null) {
        return i;
      }
    }
    throw new TransportException(
        Reason.LIMIT, "more than " + PeerLayout.SLOTS + " connections between two processes");
  }

  /** Is told of a file that has a name. */
  @FunctionalInterface
  interface Named {
    void named(long fileId);
  }

  /**
   * Makes one more slab, and tells the peer.
   *
   * @param bytes size of the rings, if it is the first
   * @param named told of its file
   */
  Slab make(int bytes, Named named) throws TransportException {
    int index = next();
    if (ringBytes == 0) {
      ringBytes = bytes;
    }
    SharedFiles.Created<Mapping> file = files.create(SlabLayout.bytes(index, ringBytes));
    named.named(file.id());
    Slab slab = new Slab(index, file.mapping(), file.id());
    keep(slab);
    session.send(ShmMessages.slab(index, file.id(), ringBytes));
    return slab;
  }

  private void keep(Slab slab) {
    slabs[slab.index] = slab;
    mapped++;
    rings.mapped(slab.mapping.buffer(), slab.index, side, ringBytes);
  }

  /**
   * The peer has mapped a slab, or could not.
   *
   * @return the slab
   */
  Slab answered(int index, boolean there, Uses uses) throws TransportException {
    Slab slab = index >= 0 && index < SlabLayout.SLABS ? slabs[index] : null;
    if (!session.initiator() || slab == null || slab.mappedThere || slab.refused) {
      throw protocol("an answer to slab " + index);
    }
    if (!there) {
      rings.forget(index); // no reader follows the peer there from now on
      if ((uses.rings() & SlabRings.bits(index)) != 0) {
        throw protocol("that it cannot map slab " + index + ", in which it writes");
      }
    }
    slab.mappedThere = there;
    slab.refused = !there;
    if (there && !slab.lost) {
      rings.open(index, ringBytes);
    }
    dropIfUnused(slab);
    return slab;
  }

  /** Takes back a page that neither side uses any more. */
  void recycle(int slot) {
    if (!gone) {
      Slab slab = of(slot);
      slab.giveBack(slot);
      dropIfUnused(slab);
    }
  }

  private void dropIfUnused(Slab slab) {
    if (!slab.unused()) {
      return;
    }
    if (slab.refused) {
      drop(slab); // the peer knows nothing of it
    } else if (slab.mappedThere
        && slab.index >= SlabLayout.RING_SLABS
        && (slab.lost || freeBeside(slab) >= Math.max(slab.pages, KEPT_PAGES))) {
      session.send(ShmMessages.drop(slab.index));
      drop(slab);
    }
  }

  private int freeBeside(Slab one) {
    int free = 0;
    for (Slab slab : slabs) {
      if (slab != null && slab != one && slab.usable()) {
        free += slab.freePages();
      }
    }
    return free;
  }

  // ---- the other side

  /** The peer has made a slab. */
  void made(int index, long fileId, int bytes) throws TransportException {
    boolean known = index < 0 || index >= SlabLayout.SLABS || slabs[index] != null;
    if (known
        || session.initiator()
        || !ConnectionLayout.validRing(bytes)
        || (ringBytes != 0 && ringBytes != bytes)) {
      throw protocol("slab " + index + " with rings of " + bytes + " bytes");
    }
    Mapping mapping;
    try {
      mapping = files.open(fileId, SlabLayout.bytes(index, bytes), session.pid());
    } catch (TransportException e) {
      failures[index] = e; // what is offered there is refused for this reason
      session.send(ShmMessages.unmapped(index));
      return;
    }
    ringBytes = bytes;
    failures[index] = null;
    Slab slab = new Slab(index, mapping, 0);
    slab.mappedThere = true;
    keep(slab);
    rings.open(index, bytes);
    session.send(ShmMessages.mapped(index));
  }

  /**
   * The slab of a slot that the peer offers.
   *
   * @throws TransportException with the reason, if it could not be mapped
   */
  Slab offered(int slot) throws TransportException {
    Slab slab = of(slot);
    if (slab == null) {
      boolean failed = slot >= 0 && slot < PeerLayout.SLOTS;
      TransportException failure = failed ? failures[SlabLayout.slab(slot)] : null;
      throw failure != null ? failure : protocol("an offer of slot " + slot + ", of no slab");
    }
    return slab;
  }

  /** The peer gives up a slab. */
  void dropped(int index) throws TransportException {
    Slab slab = index >= 0 && index < SlabLayout.SLABS ? slabs[index] : null;
    if (session.initiator() || slab == null || slab.streams > 0 || index < SlabLayout.RING_SLABS) {
      throw protocol("a drop of slab " + index);
    }
    drop(slab);
  }

  // ---- both

  /**
   * Finds out which slabs have lost their memory; nothing of them is given out any more.
   *
   * @return the rings that have been lost with them, a bit for each number
   */
  long examine() {
    for (Slab slab : slabs) {
      if (slab != null && !slab.intact()) {
        anyLost = true;
        rings.lost(slab.index);
      }
    }
    return rings.lost();
  }

  boolean anyLost() {
    return anyLost;
  }

  /** A stream uses a page. */
  void entered(int slot) {
    of(slot).streams++;
    streams++;
  }

  /** The stream has let go of it. */
  void left(int slot) {
    of(slot).streams--;
    streams--;
    if (gone) {
      dropAll();
    }
  }

  /** The peer has ended: what is not in use is unmapped, now or when its last stream lets go. */
  void gone() {
    gone = true;
    dropAll();
  }

  private void dropAll() {
    for (Slab slab : slabs) {
      boolean perhapsUsed = slab != null && slab.index < SlabLayout.RING_SLABS && streams > 0;
      if (slab != null && slab.streams == 0 && !perhapsUsed) {
        drop(slab);
      }
    }
  }

  private void drop(Slab slab) {
    slabs[slab.index] = null;
    close(slab);
  }

  private void close(Slab slab) {
    if (!slab.closed) {
      slab.closed = true;
      mapped--;
      slab.mapping.close();
    }
  }

  /** Is told which rings of slabs are in use here. */
  @FunctionalInterface
  interface Uses {
    /** A bit for each number that a stream writes to, or reads from. */
    long rings();
  }

  /** Unmaps what has lost its memory and is not used here any more. */
  void closeLost(Uses uses) {
    for (Slab slab : slabs) {
      if (slab != null && slab.lost && !slab.closed && slab.streams == 0) {
        rings.forget(slab.index);
        if ((uses.rings() & SlabRings.bits(slab.index)) == 0) {
          close(slab);
        }
      }
    }
  }

  private static TransportException protocol(String what) {
    return new TransportException(Reason.PROTOCOL, "the peer sent " + what);
  }
}
