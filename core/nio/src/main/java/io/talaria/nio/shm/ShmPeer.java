// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.getAcquire;
import static io.talaria.nio.shm.ConnectionLayout.getOpaque;
import static io.talaria.nio.shm.ConnectionLayout.setBitsVolatile;
import static io.talaria.nio.shm.ConnectionLayout.setRelease;
import static io.talaria.nio.shm.ConnectionLayout.takeBitsVolatile;

import io.talaria.nio.Reason;
import io.talaria.nio.doorbell.DoorbellAddress;
import io.talaria.nio.doorbell.DoorbellPool;
import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SharedFiles;
import io.talaria.nio.memory.SleepWord;
import io.talaria.nio.shm.RingGrowth.Grown;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.ReadySet.ReadySink;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What this process shares with one peer process: ready bits, sleep words, and a control page per
 * slot, in {@link Slabs}. The side that dialled owns the slots and uses them again; the other side
 * takes what it is offered. Negotiation thread, except what is marked.
 */
final class ShmPeer {
  /**
   * What a thread that comes late looks at, when the region is lost or nothing is shared any more.
   * All such peers have this one: what one writes there, others may read, and do nothing with it.
   */
  private static final ByteBuffer NOBODYS_REGION =
      ByteBuffer.allocateDirect(PeerLayout.BYTES).order(ByteOrder.nativeOrder());

  private final Peer session;
  private final ShmTransport transport;
  private final SharedFiles files;

  /**
   * Unmapped by the collector: a selecting thread may look at it at any time. Replaced by {@link
   * #NOBODYS_REGION} when it is gone, and when nothing is shared any more: some thread may hold a
   * stream for long, such as a selector that sleeps with a cancelled key.
   */
  private ByteBuffer shared;

  private boolean regionLost;

  private final int side;
  private final int otherSide;

  /** By slot. Changed by the negotiation thread, read by selecting threads; replaced to grow. */
  private volatile AtomicReferenceArray<ShmStream> streams = new AtomicReferenceArray<>(64);

  /**
   * By ready set of the peer's: the sleep for which this process has written a doorbell. Set after
   * the doorbell is written, so a thread that finds it set need not ring. A late or torn-back value
   * costs a doorbell.
   */
  private final AtomicLongArray rung = new AtomicLongArray(PeerLayout.READY_SETS);

  private final ShmDoorbells doorbells;

  /**
   * Which doorbells of the peer's threads can be rung here, by number: what the region says, too.
   */
  private final long[] openedThere = new long[PeerLayout.THREAD_DOORBELLS / Long.SIZE];

  private final Set<Long> named = new HashSet<>();
  private final Slabs slabs;
  private final SlabRings rings;

  /** By slot. */
  private Page[] pages = new Page[16];

  /** Streams that have asked for a ring while they had their page alone, and may still have. */
  private final Set<ShmStream> askers = new HashSet<>();

  /** The last connection's; each has its own. */
  private int generation;

  private boolean gone;

  /** One slot's page, and its present user. */
  private static final class Page {
    int generation;
    boolean releasedHere = true;
    boolean releasedThere = true;
    boolean lost;
    RingGrowth growth;
  }

  ShmPeer(
      Peer session, ShmTransport transport, SharedFiles files, ByteBuffer region, long regionFile) {
    this.session = session;
    this.transport = transport;
    this.files = files;
    this.shared = region;
    side = session.initiator() ? 0 : 1;
    otherSide = 1 - side;
    doorbells = new ShmDoorbells(session, SharedFiles.name(regionFile));
    rings = new SlabRings(() -> transport.outside(session), () -> session.execute(this::ringsBack));
    slabs = new Slabs(session, files, rings, side);
    if (session.initiator()) {
      named.add(regionFile);
    }
  }

  ShmTransport transport() {
    return transport;
  }

  void execute(Runnable task) {
    session.execute(task);
  }

  // ---- ready bits and sleep words: any thread

  /**
   * Tells the peer's selector that a stream is ready, and wakes it if it sleeps. The caller has
   * published what the stream is ready with, and a full fence stands behind that.
   *
   * <p>A ready bit that is set already is no proof of a doorbell: the thread that set it may not
   * have rung yet, or may have rung where no thread listens. So the sleep word is looked at all the
   * same.
   *
   * @param doorbell rings on the stream's control connection, if the selector's own doorbell does
   *     not serve
   * @return false if the selector sleeps and no doorbell could be rung: the caller must try again
   */
  @NotInlined
  boolean hint(ShmStream stream, StreamOwner doorbell) {
    int slot = stream.slot;
    long bit = 1L << slot;
    int ready = PeerLayout.ready(otherSide, slot >>> 6);
    if ((getAcquire(shared, ready) & bit) == 0) {
      setBitsVolatile(shared, ready, bit);
      // Which ready set, whether it sleeps or wants a summary: a thread that changes that looks at
      // all bits then.
      SleepWord.publishBeforeLook();
    }
    long readySet = stream.peerReadySetAcquire();
    if (readySet < 0 || readySet >= PeerLayout.READY_SETS) {
      return true;
    }
    int index = (int) readySet;
    long word = getAcquire(shared, PeerLayout.sleep(otherSide, index));
    if ((word & PeerLayout.SUMMARIZED) != 0 && index < PeerLayout.SUMMARIES) {
      summarize(index, slot >>> 6);
    }
    long sleep = word & ~PeerLayout.SUMMARIZED;
    // Its doorbell is heard if the stream was still there after the sleep began: the thread that
    // takes a stream out of a ready set ends the sleep of that ready set afterwards.
    if (sleep == 0 || rung.getAcquire(index) == sleep || stream.peerReadySetAcquire() != readySet) {
      return true;
    }
    if (doorbells.ring(index, sleep)) {
      doorbell.rung();
    } else if (!doorbell.ring()) {
      return false;
    }
    rung.setRelease(index, sleep);
    return true;
  }

  private void summarize(int readySet, int word) {
    int summary = PeerLayout.summary(otherSide, readySet, word);
    if ((getOpaque(shared, summary) & 1L << word) == 0) {
      setBitsVolatile(shared, summary, 1L << word);
    }
  }

  /** Has the peer know the doorbell of a ready set of ours before it can find a sleep there. */
  void tellDoorbell(int readySet, int opened, DoorbellAddress doorbell) {
    if (doorbells.markAnnounced(readySet, opened)) {
      session.execute(
          () -> {
            if (!gone) {
              session.send(ShmMessages.doorbell(readySet, opened, doorbell));
            }
          });
    }
  }

  /** Whether the peer opens doorbells of this process's threads. */
  boolean isRungByDoorbells() {
    return !doorbells.closed() && getAcquire(shared, PeerLayout.refused(side)) == 0;
  }

  /** Whether the peer can ring a doorbell of this process's threads; else it is told of it. */
  boolean isRungBy(int doorbell) {
    if (doorbells.closed()) {
      return false;
    }
    if ((getAcquire(shared, PeerLayout.opened(side, doorbell)) & 1L << doorbell) != 0) {
      return true;
    }
    if (doorbells.markThreadAnnounced(doorbell)) {
      session.execute(
          () -> {
            if (!gone) {
              DoorbellAddress address = DoorbellPool.ofProcess().forThreads(doorbell).address();
              session.send(ShmMessages.threadDoorbell(doorbell, address));
            }
          });
    }
    return false;
  }

  /** Rings a doorbell of the peer's threads; false if that cannot be rung. */
  boolean ringThread(int doorbell) {
    return doorbells.ringThread(doorbell);
  }

  /** The peer has told of a doorbell of its threads: lets them sleep on it if it can be opened. */
  private void toldOfThreadDoorbell(int doorbell, DoorbellAddress address)
      throws TransportException {
    if (doorbells.threadAnnounced(doorbell, address)) {
      int word = PeerLayout.opened(otherSide, doorbell);
      openedThere[doorbell >>> 6] |= 1L << doorbell;
      setRelease(shared, word, openedThere[doorbell >>> 6]); // behind the doorbell itself
    } else {
      setRelease(shared, PeerLayout.refused(otherSide), 1);
    }
  }

  /**
   * What a ready set says of itself: the number of its sleep or 0, and whether it wants a summary.
   */
  void setSleepWordRelease(int readySet, long sleep, boolean summarized) {
    long flag = summarized ? PeerLayout.SUMMARIZED : 0;
    setRelease(shared, PeerLayout.sleep(side, readySet), sleep | flag);
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
  int drainSummarized(int readySet, long[] mask, ReadySink sink, int max) {
    int drained = 0;
    for (int first = 0; first < mask.length && drained < max; first += Long.SIZE) {
      int summary = PeerLayout.summary(side, readySet, first);
      long words = getOpaque(shared, summary);
      while (words != 0 && drained < max) {
        long word = Long.lowestOneBit(words);
        words ^= word;
        takeBitsVolatile(shared, summary, word);
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

  ShmUpgrade offer(int ringBytes, int maxRingBytes) throws TransportException {
    Slab slab = slabs.withRoom();
    int taken = slab == null ? slabs.nextBytes(ringBytes) : 0;
    transport.requireRoom(session, slabs.streams() + 1, taken);
    if (slab == null) {
      slab = slabs.make(ringBytes, named::add);
    }
    int slot = slab.take();
    generation++;
    ByteBuffer control = slab.page(slot);
    ConnectionLayout.reset(control, slot, generation, slabs.ringBytes());
    ShmStream stream = newStream(slot, generation, control, maxRingBytes);
    return new ShmUpgrade(this, stream, ShmMessages.offer(slot, generation));
  }

  /** For tests. */
  void lastGeneration(int last) {
    generation = last;
  }

  private ShmStream newStream(int slot, int use, ByteBuffer control, int maxRingBytes) {
    Page page = page(slot);
    if (page == null) {
      page = new Page();
      if (slot >= pages.length) {
        pages = Arrays.copyOf(pages, Math.max(pages.length * 2, slot + 1));
      }
      pages[slot] = page;
    }
    page.generation = use;
    page.lost = false;
    page.releasedHere = false;
    page.releasedThere = false;
    page.growth = new RingGrowth(this, rings, slabs.ringBytes(), maxRingBytes);
    ShmStream stream = new ShmStream(this, slot, side, control, page.growth);
    setStream(slot, stream);
    slabs.entered(slot);
    return stream;
  }

  private Page page(int slot) {
    return slot >= 0 && slot < pages.length ? pages[slot] : null;
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

  ShmUpgrade answer(ByteBuffer payload, int maxRingBytes) throws TransportException {
    if (payload.remaining() != ShmMessages.OFFER_BYTES || session.initiator()) {
      throw protocol("an offer of " + payload.remaining() + " bytes");
    }
    int slot = payload.getInt();
    int use = payload.getInt();
    Slab slab = slabs.offered(slot);
    if (stream(slot) != null) {
      throw protocol("an offer of slot " + slot + ", which is in use");
    }
    ByteBuffer control = slab.page(slot);
    if (!ConnectionLayout.ready(control, use, slabs.ringBytes())) {
      throw protocol("a page without its header, for slot " + slot);
    }
    ShmStream stream = newStream(slot, use, control, maxRingBytes);
    return new ShmUpgrade(this, stream, ByteBuffer.allocate(0));
  }

  /** Gives up an upgrade that never reached a channel; the peer has kept nothing of it. */
  void cancel(ShmStream stream) {
    Page page = pages[stream.slot];
    page.releasedHere = true;
    page.releasedThere = true;
    left(stream.slot, page);
  }

  // ---- releasing

  /** Any thread; no thread uses the stream any more. */
  void release(ShmStream stream) {
    session.execute(() -> released(stream));
  }

  private void released(ShmStream stream) {
    Page page = pages[stream.slot];
    page.releasedHere = true;
    if (!gone) {
      session.send(ShmMessages.released(stream.slot, page.generation));
    }
    left(stream.slot, page);
  }

  private void left(int slot, Page page) {
    page.growth.close();
    askers.remove(stream(slot));
    setStream(slot, null);
    slabs.left(slot);
    releasedByBoth(slot, page);
    if (slabs.anyLost()) {
      slabs.closeLost(this::ringsInUse);
    }
    forgetIfUnused();
  }

  private long ringsInUse() {
    long used = 0;
    for (int slot = 0; slot < pages.length; slot++) {
      used |= stream(slot) == null ? 0 : pages[slot].growth.slabRingsInUse();
    }
    return used;
  }

  /** If so, the page may have its next user, and the ring that this side has written to. */
  private void releasedByBoth(int slot, Page page) {
    if (page.releasedHere && page.releasedThere) {
      page.growth.giveBack();
      page.growth = null;
      if (session.initiator()) {
        slabs.recycle(slot);
      }
    }
  }

  private void forgetIfUnused() {
    if (gone && slabs.mapped() == 0) {
      shared = NOBODYS_REGION;
      transport.closed(this);
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

  private void forget(Slab answered) {
    forget(answered.fileId);
  }

  /** Takes the name from a file of ours, if it still has one. */
  void forget(long fileId) {
    if (fileId != 0 && named.remove(fileId)) {
      files.remove(fileId);
    }
  }

  // ---- growing

  void growOutput(ShmStream stream, long ring, int bytes) {
    Page page = page(stream.slot);
    if (gone || stream(stream.slot) != stream || page == null) {
      return;
    }
    RingGrowth growth = page.growth;
    if (stream.hasPageAlone()) {
      askers.add(stream);
      if (growth.slabRingFree()) { // since its writer has looked; those that asked then were told
        stream.owner().woken();
      }
    }
    Grown next = growth.unused();
    if (next == null && growth.unmade(ring)) {
      next = make(ring, bytes);
      if (next != null) {
        growth.offered(next);
      }
    } else if (next != null && !growth.outputReady(stream) && !files.exists(next.fileId())) {
      next = makeAnew(growth, next);
    }
    if (next != null) {
      session.send(
          ShmMessages.grow(
              stream.slot, page.generation, next.generation(), next.fileId(), next.bytes()));
    }
  }

  /**
   * Makes a ring in a file.
   *
   * @return null if that is impossible now: the ring stays as it is, slower under load, still
   *     right. It stalls more often, which is counted; the writer asks again
   */
  private Grown make(long ring, int bytes) {
    try {
      SharedFiles.Created<Mapping> file = transport.createRing(bytes, bytes > slabs.ringBytes());
      named.add(file.id());
      return new Grown(file.id(), ring, bytes, file.mapping());
    } catch (TransportException e) {
      return null;
    }
  }

  /** The peer has taken the name from a ring's file, and has not mapped it: it gets another. */
  private Grown makeAnew(RingGrowth growth, Grown lost) {
    Grown next = make(lost.generation() + 1, lost.bytes());
    if (next == null) {
      return null;
    }
    if (!growth.offeredAnew(lost, next)) { // it had mapped it, just now
      forget(next.fileId());
      next.mapping().close();
      return null;
    }
    forget(lost.fileId());
    return next;
  }

  private void growInput(int slot, int use, long ring, long fileId, int bytes)
      throws TransportException {
    Page page = page(slot);
    ShmStream stream = stream(slot);
    if (!ConnectionLayout.validRing(bytes)) {
      throw protocol("a ring of " + bytes + " bytes");
    }
    if (stream == null || page.generation != use) {
      return; // released here while the message was on its way; its maker unlinks the file
    }
    if (!stream.owned()) {
      throw protocol("a ring for slot " + slot + ", which has not been answered");
    }
    if (page.growth.knows(ring)) {
      return; // asked for twice, because this side was slow
    }
    Grown grown;
    try {
      grown = new Grown(0, ring, bytes, files.open(fileId, bytes, session.pid()));
    } catch (TransportException e) {
      // The peer's writer stalls more often, which is counted; it asks again.
      return;
    }
    if (!page.growth.mapped(stream, grown)) {
      grown.mapping().close();
      throw protocol("more rings for slot " + slot + " than are in use");
    }
  }

  // ---- resting

  /**
   * Gives back the rings of streams over which nothing has been sent since the last time, and asks
   * again for those that others wait for.
   *
   * @return whether any stream still uses one, or wants one
   */
  boolean rest() {
    boolean outside = false;
    for (int slot = 0; !gone && slot < pages.length; slot++) {
      ShmStream stream = stream(slot);
      outside |= stream != null && stream.owned() && stream.rest();
    }
    return outside;
  }

  /** There are rings for writers that have found none. */
  private void ringsBack() {
    askers.removeIf(asker -> !asker.hasPageAlone());
    for (ShmStream asker : askers) {
      if (asker.wantsRing()) {
        asker.owner().woken();
      }
    }
  }

  // ---- messages and the end

  void received(ByteBuffer message) throws TransportException {
    int code = message.remaining() > 0 ? message.get() : -1;
    int length = message.remaining();
    if (code == ShmMessages.RELEASED && length == ShmMessages.RELEASED_BYTES) {
      releasedThere(message.getInt(), message.getInt());
    } else if (code == ShmMessages.ACCEPTED && length == ShmMessages.ACCEPTED_BYTES) {
      acceptedThere(message.getInt(), message.getInt());
    } else if (code == ShmMessages.DROP && length == ShmMessages.DROP_BYTES) {
      slabs.dropped(message.getInt());
    } else if (code == ShmMessages.GROW && length == ShmMessages.GROW_BYTES) {
      growInput(
          message.getInt(),
          message.getInt(),
          message.getLong(),
          message.getLong(),
          message.getInt());
    } else if (code == ShmMessages.DOORBELL && length == ShmMessages.DOORBELL_BYTES) {
      doorbells.readySetAnnounced(
          message.getInt(),
          message.getInt(),
          new DoorbellAddress(message.getInt(), message.getLong()));
    } else if (code == ShmMessages.SLAB && length == ShmMessages.SLAB_BYTES) {
      slabs.made(message.getInt(), message.getLong(), message.getInt());
    } else if (code == ShmMessages.MAPPED && length == ShmMessages.MAPPED_BYTES) {
      forget(slabs.answered(message.getInt(), true, this::ringsInUse));
    } else if (code == ShmMessages.UNMAPPED && length == ShmMessages.MAPPED_BYTES) {
      forget(slabs.answered(message.getInt(), false, this::ringsInUse));
    } else if (code == ShmMessages.THREAD_DOORBELL && length == ShmMessages.THREAD_DOORBELL_BYTES) {
      toldOfThreadDoorbell(
          message.getInt(), new DoorbellAddress(message.getInt(), message.getLong()));
    } else {
      throw protocol("a message of kind " + code + " and " + length + " bytes");
    }
  }

  private void releasedThere(int slot, int use) throws TransportException {
    Page page = page(slot);
    if (page == null || page.generation != use) {
      throw protocol("a release of slot " + slot);
    }
    if (!page.releasedThere) {
      page.releasedThere = true;
      ShmStream stream = stream(slot);
      if (stream != null && stream.owned()) {
        stream.peerReleased();
      }
      releasedByBoth(slot, page);
    }
  }

  /**
   * Any thread: there is news of an established stream, which the peer's side may not have noticed.
   */
  void tellEstablished(ShmStream stream) {
    session.execute(
        () -> {
          Page page = page(stream.slot);
          if (!gone && page != null && stream(stream.slot) == stream) {
            session.send(ShmMessages.accepted(stream.slot, page.generation));
          }
        });
  }

  private void acceptedThere(int slot, int use) {
    Page page = page(slot);
    ShmStream stream = stream(slot);
    if (stream != null && stream.owned() && page.generation == use) {
      stream.peerAccepted();
    }
  }

  void regionMapped() {
    // Only the region's name can be left of what was made before the first offer.
    for (Long id : Set.copyOf(named)) {
      forget(id);
    }
  }

  /** The peer process has ended: nothing is reused, and what is not in use is unmapped now. */
  void gone() {
    gone = true;
    doorbells.close();
    for (Long id : Set.copyOf(named)) {
      forget(id);
    }
    slabs.gone();
    forgetIfUnused();
  }

  // ---- memory that another process has taken away: see Faults

  /**
   * Fails the streams whose memory is gone; all of them, and the session, if the region is.
   *
   * @return whether any memory of this peer is gone, since now or before
   */
  boolean examine() {
    if (!regionLost && !Mapping.intact(shared)) {
      regionLost = true;
      shared = NOBODYS_REGION;
      session.drop("the memory shared with it has been cut short");
    }
    long lostRings = slabs.examine();
    boolean found = regionLost;
    for (int slot = 0; slot < pages.length; slot++) {
      ShmStream stream = stream(slot);
      if (stream != null) {
        Page page = pages[slot];
        if (!page.lost && (regionLost || slabs.of(slot).lost || !page.growth.intact(lostRings))) {
          page.lost = true;
          stream.bury();
        }
        found |= page.lost;
      }
    }
    return found;
  }

  private static TransportException protocol(String what) {
    return new TransportException(Reason.PROTOCOL, "the peer sent " + what);
  }
}
