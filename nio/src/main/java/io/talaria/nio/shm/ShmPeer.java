// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.getAcquire;
import static io.talaria.nio.shm.ConnectionLayout.getOpaque;
import static io.talaria.nio.shm.ConnectionLayout.setBitsVolatile;
import static io.talaria.nio.shm.ConnectionLayout.setRelease;
import static io.talaria.nio.shm.ConnectionLayout.takeBitsVolatile;

import io.talaria.nio.Reason;
import io.talaria.nio.bell.BellAddress;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.Home.ReadySink;
import io.talaria.nio.fabric.Peer;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.shm.RingGrowth.Grown;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What this process shares with one peer process: ready bits, sleep words, and a segment per slot.
 * The side that dialled owns the slots: it makes, reuses and drops segments; the other side maps
 * what it is told. Negotiation thread, except what is marked.
 */
final class ShmPeer {
  /** Segments kept for the next connections of this pair of processes. */
  static final int POOLED_SEGMENTS = 64;

  private final Peer session;
  private final ShmFabric fabric;
  private final SharedFiles files;

  /** What is looked at by who comes late, when nothing is shared any more. */
  private static final ByteBuffer NOBODYS_REGION = zeros();

  /**
   * Unmapped by the collector: a selecting thread may look at it at any time. Replaced by zeros
   * when it is gone, and when nothing is shared any more: somebody may hold a stream for long, such
   * as a selector that sleeps with a cancelled key.
   */
  private ByteBuffer shared;

  private boolean regionLost;

  private final int side;
  private final int otherSide;

  /** By slot. Changed by the negotiation thread, read by selecting threads; replaced to grow. */
  private volatile AtomicReferenceArray<ShmStream> streams = new AtomicReferenceArray<>(64);

  /**
   * By home of the peer's: the sleep for which this process has written a bell. Set after the bell
   * is written, so whoever finds it set may stay silent. A late or torn-back value costs a bell.
   */
  private final AtomicLongArray rung = new AtomicLongArray(PeerLayout.HOMES);

  private final ShmBells bells;
  private final Set<Long> named = new HashSet<>();
  private Segment[] segments = new Segment[16];
  private final ArrayDeque<Segment> pool = new ArrayDeque<>();
  private final ArrayDeque<Integer> freeSlots = new ArrayDeque<>();
  private int slotsUsed;

  /** Number of segments. */
  private int mapped;

  private boolean gone;

  /** One slot's memory. */
  private static final class Segment {
    final int slot;
    final Mapping mapping;
    final int ringBytes;
    int generation;
    long fileId;
    boolean mappedThere;
    boolean releasedHere;
    boolean releasedThere;
    boolean lost;
    RingGrowth growth;

    Segment(int slot, Mapping mapping, int ringBytes) {
      this.slot = slot;
      this.mapping = mapping;
      this.ringBytes = ringBytes;
    }
  }

  ShmPeer(Peer session, ShmFabric fabric, SharedFiles files, ByteBuffer region, long regionFile) {
    this.session = session;
    this.fabric = fabric;
    this.files = files;
    this.shared = region;
    side = session.initiator() ? 0 : 1;
    otherSide = 1 - side;
    bells = new ShmBells(session, SharedFiles.name(regionFile));
    if (session.initiator()) {
      named.add(regionFile);
    }
  }

  ShmFabric fabric() {
    return fabric;
  }

  void execute(Runnable task) {
    session.execute(task);
  }

  // ---- ready bits and sleep words: any thread

  /**
   * Tells the peer's selector that a stream is ready, and wakes it if it sleeps. The caller has
   * published what the stream is ready with, and a full fence stands behind that.
   *
   * <p>A ready bit that is set already is no proof of a bell: who set it may not have come to ring
   * yet, or may have rung where nobody listens. So the sleep word is looked at all the same.
   *
   * @param bell rings on the stream's control connection, if the selector's own bell does not serve
   * @return false if the selector sleeps and nobody could ring: the caller must try again
   */
  boolean hint(ShmStream stream, StreamOwner bell) {
    int slot = stream.slot;
    long bit = 1L << slot;
    int ready = PeerLayout.ready(otherSide, slot >>> 6);
    if ((getAcquire(shared, ready) & bit) == 0) {
      setBitsVolatile(shared, ready, bit);
      // Which home, whether it sleeps or wants a summary: who changes that looks at all bits then.
      VarHandle.fullFence();
    }
    long home = stream.peerHomeAcquire();
    if (home < 0 || home >= PeerLayout.HOMES) {
      return true;
    }
    int index = (int) home;
    long word = getAcquire(shared, PeerLayout.sleep(otherSide, index));
    if ((word & PeerLayout.SUMMARIZED) != 0 && index < PeerLayout.SUMMARIES) {
      summarize(index, slot >>> 6);
    }
    long sleep = word & ~PeerLayout.SUMMARIZED;
    // Its bell is heard if the stream was still there after the sleep began: whoever takes a stream
    // out of a home ends the sleep of that home afterwards.
    if (sleep == 0 || rung.getAcquire(index) == sleep || stream.peerHomeAcquire() != home) {
      return true;
    }
    if (bells.ring(index, sleep)) {
      bell.rung();
    } else if (!bell.ring()) {
      return false;
    }
    rung.setRelease(index, sleep);
    return true;
  }

  private void summarize(int home, int word) {
    int summary = PeerLayout.summary(otherSide, home, word);
    if ((getOpaque(shared, summary) & 1L << word) == 0) {
      setBitsVolatile(shared, summary, 1L << word);
    }
  }

  /** Has the peer know the bell of a home of ours before it can find a sleep there. */
  void tellBell(int home, int opened, BellAddress bell) {
    if (bells.toBeTold(home, opened)) {
      session.execute(
          () -> {
            if (!gone) {
              session.send(ShmMessages.bell(home, opened, bell));
            }
          });
    }
  }

  /** What a home says of itself: the number of its sleep or 0, and whether it wants a summary. */
  void setSleepWordRelease(int home, long sleep, boolean summarized) {
    long flag = summarized ? PeerLayout.SUMMARIZED : 0;
    setRelease(shared, PeerLayout.sleep(side, home), sleep | flag);
  }

  boolean anyReadyOpaque(long[] mask) {
    for (int i = 0; i < mask.length; i++) {
      if ((getOpaque(shared, PeerLayout.ready(side, i)) & mask[i]) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Looks at all words of ready bits. */
  int drainAll(long[] mask, ReadySink sink, int max) {
    int drained = 0;
    for (int i = 0; i < mask.length && drained < max; i++) {
      drained += drainWord(i, mask[i], sink);
    }
    return drained;
  }

  /** Looks at the words that the summary names. */
  int drainSummarized(int home, long[] mask, ReadySink sink, int max) {
    int drained = 0;
    for (int first = 0; first < mask.length && drained < max; first += Long.SIZE) {
      int summary = PeerLayout.summary(side, home, first);
      long words = getOpaque(shared, summary);
      while (words != 0 && drained < max) {
        long word = Long.lowestOneBit(words);
        words ^= word;
        long unused = takeBitsVolatile(shared, summary, word);
        VarHandle.fullFence(); // what is set from now on is summarized again
        int i = first + Long.numberOfTrailingZeros(word);
        drained += i < mask.length ? drainWord(i, mask[i], sink) : 0;
      }
    }
    return drained;
  }

  private int drainWord(int word, long mask, ReadySink sink) {
    int offset = PeerLayout.ready(side, word);
    int drained = 0;
    if ((getOpaque(shared, offset) & mask) != 0) {
      long bits = takeBitsVolatile(shared, offset, mask);
      while (bits != 0) {
        ShmStream stream = stream((word << 6) + Long.numberOfTrailingZeros(bits));
        bits &= bits - 1;
        if (stream != null) {
          sink.ready(stream);
          drained++;
        }
      }
    }
    return drained;
  }

  // ---- offering and answering

  ShmUpgrade offer(int ringBytes, int maxRingBytes) throws FabricException {
    Segment segment = pool.poll();
    while (segment != null && !segment.mapping.intact()) {
      giveBack(segment);
      segment = pool.poll();
    }
    if (segment == null) {
      segment = newSegment(ringBytes);
    }
    segment.generation++;
    segment.lost = false;
    segment.releasedHere = false;
    segment.releasedThere = false;
    ConnectionLayout.reset(
        ConnectionSegment.control(segment.mapping.buffer()), segment.slot, segment.ringBytes);
    ShmStream stream = newStream(segment, maxRingBytes);
    ByteBuffer payload = ByteBuffer.allocate(ShmMessages.OFFER_BYTES);
    payload.putInt(segment.slot).putInt(segment.generation);
    payload.putLong(segment.mappedThere ? 0 : segment.fileId).putInt(segment.ringBytes).flip();
    return new ShmUpgrade(this, stream, payload);
  }

  private Segment newSegment(int ringBytes) throws FabricException {
    if (gone) {
      throw new FabricException(Reason.PEER_LOST, "the peer process has ended");
    }
    Integer free = freeSlots.poll();
    if (free == null && slotsUsed == PeerLayout.SLOTS) {
      throw new FabricException(
          Reason.LIMIT, "more than " + PeerLayout.SLOTS + " connections between two processes");
    }
    int slot = free != null ? free : slotsUsed;
    SharedFiles.Created<Mapping> file;
    try {
      file = files.create(ConnectionLayout.segmentBytes(ringBytes));
    } catch (FabricException e) {
      if (free != null) {
        freeSlots.push(free);
      }
      throw e;
    }
    if (free == null) {
      slotsUsed++;
    }
    Segment segment = new Segment(slot, file.mapping(), ringBytes);
    segment.fileId = file.id();
    named.add(file.id());
    keep(segment);
    return segment;
  }

  private void keep(Segment segment) {
    if (segment.slot >= segments.length) {
      segments = Arrays.copyOf(segments, Math.max(segments.length * 2, segment.slot + 1));
    }
    segments[segment.slot] = segment;
    mapped++;
  }

  private Segment segment(int slot) {
    return slot >= 0 && slot < segments.length ? segments[slot] : null;
  }

  private ShmStream newStream(Segment segment, int maxRingBytes) {
    segment.growth = new RingGrowth(this, maxRingBytes);
    ShmStream stream =
        new ShmStream(
            this, segment.slot, side, segment.mapping.buffer(), segment.ringBytes, segment.growth);
    setStream(segment.slot, stream);
    return stream;
  }

  private ShmStream stream(int slot) {
    AtomicReferenceArray<ShmStream> now = streams;
    return slot >= 0 && slot < now.length() ? now.get(slot) : null;
  }

  private void setStream(int slot, ShmStream stream) {
    AtomicReferenceArray<ShmStream> now = streams;
    if (slot >= now.length()) {
      AtomicReferenceArray<ShmStream> larger =
          new AtomicReferenceArray<>(Math.max(now.length() * 2, slot + 1));
      for (int i = 0; i < now.length(); i++) {
        larger.setPlain(i, now.getPlain(i));
      }
      streams = larger;
      now = larger;
    }
    now.set(slot, stream);
  }

  ShmUpgrade answer(ByteBuffer payload, int maxRingBytes) throws FabricException {
    if (payload.remaining() != ShmMessages.OFFER_BYTES || session.initiator()) {
      throw protocol("an offer of " + payload.remaining() + " bytes");
    }
    int slot = payload.getInt();
    int generation = payload.getInt();
    long fileId = payload.getLong();
    int ringBytes = payload.getInt();
    Segment known = segment(slot);
    if (slot < 0
        || slot >= PeerLayout.SLOTS
        || !ConnectionLayout.validRing(ringBytes)
        || stream(slot) != null
        || (fileId == 0) != (known != null)
        || (known != null && known.ringBytes != ringBytes)) {
      throw protocol("an offer of slot " + slot + " with rings of " + ringBytes + " bytes");
    }
    Segment segment = known;
    if (segment == null) {
      Mapping mapping = files.open(fileId, ConnectionLayout.segmentBytes(ringBytes), session.pid());
      ByteBuffer memory = mapping.buffer();
      if (getAcquire(memory, ConnectionLayout.MAGIC_OFFSET) != ConnectionLayout.MAGIC
          || getAcquire(memory, ConnectionLayout.RING_BYTES_OFFSET) != ringBytes) {
        mapping.close();
        throw protocol("a segment without its header");
      }
      segment = new Segment(slot, mapping, ringBytes);
      keep(segment);
    }
    segment.generation = generation;
    segment.lost = false;
    segment.releasedHere = false;
    segment.releasedThere = false;
    ShmStream stream = newStream(segment, maxRingBytes);
    return new ShmUpgrade(this, stream, ByteBuffer.allocate(0), known == null);
  }

  /** The peer has mapped the segment of a slot. */
  void answered(ShmStream stream) {
    Segment segment = segments[stream.slot];
    segment.mappedThere = true;
    forget(segment.fileId);
  }

  /** Gives up an upgrade that never reached a channel; the peer has kept nothing of it. */
  void cancel(ShmStream stream, boolean forgetSegment) {
    Segment segment = segments[stream.slot];
    setStream(stream.slot, null);
    segment.releasedHere = true;
    segment.releasedThere = true;
    if (session.initiator()) {
      recycle(segment);
    } else if (forgetSegment || gone) {
      drop(segment);
    }
  }

  // ---- releasing

  /** Any thread; nobody uses the stream any more. */
  void release(ShmStream stream, RingGrowth growth) {
    session.execute(() -> released(stream, growth));
  }

  private void released(ShmStream stream, RingGrowth growth) {
    growth.close();
    Segment segment = segments[stream.slot];
    setStream(stream.slot, null);
    segment.releasedHere = true;
    if (gone) {
      drop(segment);
      return;
    }
    session.send(ShmMessages.released(segment.slot, segment.generation));
    if (session.initiator() && segment.releasedThere) {
      recycle(segment);
    }
  }

  private void recycle(Segment segment) {
    if (gone || !segment.mappedThere) {
      drop(segment);
      freeSlots.push(segment.slot);
    } else if (pool.size() < POOLED_SEGMENTS && segment.mapping.intact()) {
      pool.push(segment);
    } else {
      giveBack(segment);
    }
  }

  private void giveBack(Segment segment) {
    session.send(ShmMessages.drop(segment.slot));
    drop(segment);
    freeSlots.push(segment.slot);
  }

  private void drop(Segment segment) {
    if (segments[segment.slot] == segment) {
      segments[segment.slot] = null;
      forget(segment.fileId);
      segment.mapping.close();
      mapped--;
      forgetIfUnused();
    }
  }

  private void forgetIfUnused() {
    if (gone && mapped == 0) {
      shared = NOBODYS_REGION;
      fabric.closed(this);
    }
  }

  /** Unmaps an old ring; the negotiation thread does it. Any thread. */
  void retire(long mappedFile, Grown old) {
    session.execute(
        () -> {
          if (mappedFile != 0) {
            forget(mappedFile);
          }
          if (old != null) {
            old.mapping().close();
          }
        });
  }

  /** Takes the name from a file of ours, if it still has one. */
  void forget(long fileId) {
    if (fileId != 0 && named.remove(fileId)) {
      files.remove(fileId);
    }
  }

  // ---- growing

  void growOutput(ShmStream stream, long generation, int bytes) {
    Segment segment = segment(stream.slot);
    if (gone || stream(stream.slot) != stream || segment == null) {
      return;
    }
    RingGrowth growth = segment.growth;
    if (growth.unmade(generation)) {
      try {
        SharedFiles.Created<Mapping> file = fabric.createRing(bytes);
        named.add(file.id());
        growth.offered(new Grown(file.id(), generation, bytes, file.mapping()));
      } catch (FabricException e) {
        // The ring stays as it is: slower under load, still right.
        // It stalls more often, which is counted; the writer asks again.
        return;
      }
    }
    Grown next = growth.unused(generation);
    if (next != null) {
      session.send(
          ShmMessages.grow(
              segment.slot, segment.generation, generation, next.fileId(), next.bytes()));
    }
  }

  private void growInput(int slot, int generation, long ringGeneration, long fileId, int bytes)
      throws FabricException {
    Segment segment = segment(slot);
    ShmStream stream = segment == null ? null : stream(slot);
    if (!ConnectionLayout.validRing(bytes)) {
      throw protocol("a ring of " + bytes + " bytes");
    }
    if (stream == null || segment.generation != generation) {
      return; // released here while the message was on its way; its maker unlinks the file
    }
    if (!stream.owned()) {
      throw protocol("a ring for slot " + slot + ", which has not been answered");
    }
    if (segment.growth.knows(ringGeneration)) {
      return; // asked for twice, because this side was slow
    }
    Grown grown;
    try {
      grown = new Grown(0, ringGeneration, bytes, files.open(fileId, bytes, session.pid()));
    } catch (FabricException e) {
      // The peer's writer stalls more often, which is counted; it asks again.
      return;
    }
    if (!segment.growth.mapped(stream, grown)) {
      grown.mapping().close();
      throw protocol("more rings for slot " + slot + " than are in use");
    }
  }

  // ---- messages and the end

  void received(ByteBuffer message) throws FabricException {
    int code = message.remaining() > 0 ? message.get() : -1;
    int length = message.remaining();
    if (code == ShmMessages.RELEASED && length == ShmMessages.RELEASED_BYTES) {
      releasedThere(message.getInt(), message.getInt());
    } else if (code == ShmMessages.ACCEPTED && length == ShmMessages.ACCEPTED_BYTES) {
      acceptedThere(message.getInt(), message.getInt());
    } else if (code == ShmMessages.DROP && length == ShmMessages.DROP_BYTES) {
      dropped(message.getInt());
    } else if (code == ShmMessages.GROW && length == ShmMessages.GROW_BYTES) {
      growInput(
          message.getInt(),
          message.getInt(),
          message.getLong(),
          message.getLong(),
          message.getInt());
    } else if (code == ShmMessages.BELL && length == ShmMessages.BELL_BYTES) {
      bells.told(
          message.getInt(), message.getInt(), new BellAddress(message.getInt(), message.getLong()));
    } else {
      throw protocol("a message of kind " + code + " and " + length + " bytes");
    }
  }

  private void releasedThere(int slot, int generation) throws FabricException {
    Segment segment = segment(slot);
    if (segment == null || segment.generation != generation) {
      throw protocol("a release of slot " + slot);
    }
    if (!segment.releasedThere) {
      segment.releasedThere = true;
      ShmStream stream = stream(slot);
      if (stream != null && stream.owned()) {
        stream.peerReleased();
      }
      if (session.initiator() && segment.releasedHere) {
        recycle(segment);
      }
    }
  }

  /**
   * Any thread: there is news of an established stream, which the peer's side may not have noticed.
   */
  void tellEstablished(ShmStream stream) {
    session.execute(
        () -> {
          Segment segment = segment(stream.slot);
          if (!gone && segment != null && stream(stream.slot) == stream) {
            session.send(ShmMessages.accepted(segment.slot, segment.generation));
          }
        });
  }

  private void acceptedThere(int slot, int generation) {
    Segment segment = segment(slot);
    ShmStream stream = stream(slot);
    if (stream != null && stream.owned() && segment.generation == generation) {
      stream.peerAccepted();
    }
  }

  private void dropped(int slot) throws FabricException {
    Segment segment = segment(slot);
    if (session.initiator() || segment == null || !segment.releasedHere) {
      throw protocol("a drop of slot " + slot);
    }
    drop(segment);
  }

  void regionMapped() {
    // Only the region's name can be left of what was made before the first offer.
    for (Long id : Set.copyOf(named)) {
      forget(id);
    }
  }

  /** The peer process has ended: nothing is reused, and what nobody uses is unmapped now. */
  void gone() {
    gone = true;
    bells.close();
    for (Long id : Set.copyOf(named)) {
      forget(id);
    }
    for (Segment segment : segments) {
      if (segment != null && segment.releasedHere) {
        drop(segment);
      }
    }
    pool.clear();
    forgetIfUnused();
  }

  // ---- memory that somebody has taken away: see Faults

  /**
   * Fails the streams whose memory is gone; all of them, and the session, if the region is.
   *
   * @return whether any memory of this peer is gone, since now or before
   */
  boolean examine() {
    if (!regionLost && !Mapping.intact(shared)) {
      regionLost = true;
      shared = zeros();
      session.drop("the memory shared with it has been cut short");
    }
    boolean found = regionLost;
    for (Segment segment : segments) {
      ShmStream stream = segment == null ? null : stream(segment.slot);
      if (stream != null) {
        if (!segment.lost
            && (regionLost || !segment.mapping.intact() || !segment.growth.intact())) {
          segment.lost = true;
          stream.bury();
        }
        found |= segment.lost;
      }
    }
    return found;
  }

  private static ByteBuffer zeros() {
    return ByteBuffer.allocateDirect(PeerLayout.BYTES).order(ByteOrder.nativeOrder());
  }

  private static FabricException protocol(String what) {
    return new FabricException(Reason.PROTOCOL, "the peer sent " + what);
  }
}
