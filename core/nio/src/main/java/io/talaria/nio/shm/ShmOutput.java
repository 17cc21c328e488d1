// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.getAcquire;
import static io.talaria.nio.shm.ConnectionLayout.getOpaque;
import static io.talaria.nio.shm.ConnectionLayout.setRelease;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.memory.SleepWord;
import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.TransportStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One direction's writing side: copies into the ring, publishes the tail, and wakes the reader.
 *
 * <p>Fields are the writer's (holder of the channel's write lock), except as their comments say.
 * The tail is what counts: it moves before it is published and before the source does, and where an
 * error breaks a write off ({@link Faults}) the two follow it. A thread that ends the output waits
 * for no writer: which bytes stand before the end is settled by {@link #END_AT}.
 */
final class ShmOutput {
  /** A position before all others. */
  private static final long NOWHERE = -1;

  /** Bytes of a cache line. */
  private static final int LINE = 64;

  /** The most bytes whose cache lines are fetched ahead; measured. */
  private static final int MAX_FETCHED = 16 << 10;

  private static final VarHandle TAIL;
  private static final VarHandle PUBLISHED;
  private static final VarHandle END_AT;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(ShmOutput.class, "tail", long.class);
      PUBLISHED = lookup.findVarHandle(ShmOutput.class, "published", long.class);
      END_AT = lookup.findVarHandle(ShmOutput.class, "endAt", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ShmStream stream;
  private final EndState ends;
  private final RingGrowth growth;
  private final int inlineRing;
  private final int mine;
  private final int theirs;

  /** The control page, see {@link ShmStream#lookAt}. */
  private ByteBuffer control;

  private ByteBuffer ring;
  private int ringAt;
  private int ringBytes;

  /** Read by others, opaquely. */
  private long tail;

  private long headCache;

  /** How far the program had read at the last write whose next lines might have been fetched. */
  private long readBefore;

  /** The reader's wait for which a doorbell has been rung, or was not needed. */
  private long handledWait;

  /** Count of moves to another ring; where the last was made, and to which. */
  private long moves;

  private long movedAt;
  private long movedTo;

  /** The tail that the peer sees already. The thread that ends the output reads it. */
  @SuppressWarnings("UnusedVariable") // by PUBLISHED
  private long published;

  /**
   * How many bytes stand before the end of the output, as a position; {@link #NOWHERE} until that
   * is decided, by the thread that ends it or by the concurrent write.
   */
  @SuppressWarnings("UnusedVariable") // by END_AT
  private long endAt = NOWHERE;

  /** Where the tail was at the last look whether it rests. Negotiation thread's. */
  private long restedAt = NOWHERE;

  /** SO_SNDBUF as the program has set it, or 0. Written before the stream is used. */
  private int sendBuffer;

  ShmOutput(ShmStream stream, int side, ByteBuffer control) {
    this.stream = stream;
    this.control = control;
    ends = stream.ends();
    growth = stream.growth();
    mine = ConnectionLayout.side(side, stream.slot);
    theirs = ConnectionLayout.side(1 - side, stream.slot);
    tail = ConnectionLayout.start(stream.slot);
    published = tail;
    headCache = tail;
    ring = control; // and no view of its own: a thousand connections are short of cache lines
    inlineRing = ConnectionLayout.inlineRing(side);
    ringAt = inlineRing;
    ringBytes = ConnectionLayout.INLINE_RING_BYTES;
  }

  /** Has it look at another control page. Negotiation thread, or at the release. */
  void lookAt(ByteBuffer page) {
    control = page;
  }

  void sendBuffer(int bytes) {
    sendBuffer = bytes;
  }

  /** Size of the ring. Any thread. */
  int bytes() {
    return ringBytes;
  }

  /**
   * What the ring may grow to: what TCP would buffer on both sides, if both programs have said how
   * much that is to be.
   */
  int maxBytes(int maxBytes) {
    long theirBytes = getAcquire(control, theirs + ConnectionLayout.IN_BUFFER);
    if (sendBuffer <= 0 || theirBytes <= 0) {
      return maxBytes;
    }
    long both = sendBuffer + Math.min(theirBytes, ConnectionLayout.MAX_RING_BYTES);
    long wanted = Long.highestOneBit(both - 1) << 1;
    return (int) Math.min(maxBytes, Math.max(wanted, ConnectionLayout.MIN_RING_BYTES));
  }

  // ---- writing

  @NotInlined
  int write(ByteBuffer src) {
    int at = src.position();
    long start = tail;
    try {
      int length = src.remaining();
      int room = room(length);
      if (room <= 0) {
        return room;
      }
      int n = Math.min(length, room);
      copy(start, src, at, n);
      publish(start + n);
      if (ends.ownOutputEnded() && !beforeTheEnd()) {
        return TransportStream.BROKEN;
      }
      src.position(at + n);
      return n;
    } catch (InternalError e) {
      src.position(at + (int) taken(start));
      publishAgain();
      throw e;
    }
  }

  @NotInlined
  long write(ByteBuffer[] srcs, int offset, int length) {
    long wanted = remaining(srcs, offset, length);
    long start = tail;
    try {
      int room = room((int) Math.min(wanted, Integer.MAX_VALUE));
      return room <= 0 ? room : gather(srcs, offset, length, room);
    } catch (InternalError e) {
      long left = wanted - taken(start);
      advance(srcs, offset, length, remaining(srcs, offset, length) - left);
      publishAgain();
      throw e;
    }
  }

  private long gather(ByteBuffer[] srcs, int offset, int length, int found) {
    int room = found;
    long position = tail;
    for (int i = offset; i < offset + length; i++) {
      ByteBuffer src = srcs[i];
      int bytes = src.remaining();
      if (bytes > room) {
        room = roomBehind(position, bytes); // the reader may have gone on
      }
      int n = Math.min(bytes, room);
      if (n <= 0 && bytes > 0) {
        break;
      }
      copy(position, src, src.position(), n);
      position += n;
      room -= n;
      if (n < bytes) {
        break;
      }
    }
    long total = position - tail;
    if (total > 0) {
      publish(position);
      if (ends.ownOutputEnded() && !beforeTheEnd()) {
        return TransportStream.BROKEN;
      }
      advance(srcs, offset, length, total);
    }
    return total;
  }

  private static long remaining(ByteBuffer[] srcs, int offset, int length) {
    long bytes = 0;
    for (int i = offset; i < offset + length; i++) {
      bytes += srcs[i].remaining();
    }
    return bytes;
  }

  private static void advance(ByteBuffer[] srcs, int offset, int length, long bytes) {
    long left = bytes;
    for (int i = offset; i < offset + length && left > 0; i++) {
      int n = (int) Math.min(left, srcs[i].remaining());
      srcs[i].position(srcs[i].position() + n);
      left -= n;
    }
  }

  /** After a late error: how much this write has taken; the tail tells. */
  private long taken(long start) {
    return ends.ownOutputEnded() && !beforeTheEnd() ? 0 : tail - start;
  }

  /** After an error that came anywhere in a write: whatever the tail and the ring's state tell. */
  private void publishAgain() {
    long position = tail;
    if (moves > 0) {
      publishMove();
    }
    setRelease(control, mine + ConnectionLayout.TAIL, position);
    PUBLISHED.setRelease(this, position);
    stream.wakePeer();
  }

  /**
   * Space behind the tail, if anyone is there to read it; asks for a larger ring if it is short.
   */
  private int room(int wanted) {
    if (wanted == 0) {
      return 0;
    }
    if (nobodyReads()) {
      return writeToNobody(wanted);
    }
    int room = roomFor(wanted);
    return room < wanted && room >= 0 ? shortOfRoom(room, wanted) : room;
  }

  /**
   * Space behind the tail; a writer that finds too little leaves the inline ring, if a slab has
   * one.
   */
  private int roomFor(int wanted) {
    int room = roomBehind(tail, wanted);
    if (room < wanted && room >= 0 && inline() && growth.takeSlabRing(this)) {
      room = roomBehind(tail, wanted);
    }
    return room;
  }

  private int shortOfRoom(int found, int wanted) {
    int room = found;
    if (growth.moveOutput(stream, this)) {
      room = roomBehind(tail, wanted);
    }
    if (room >= 0 && room < wanted) {
      stream.owner().stalled();
      growth.wanted(stream, this);
    }
    return room;
  }

  /** Whether it writes into its page. Writer, or a thread to which an old answer does no harm. */
  boolean inline() {
    return ringBytes == ConnectionLayout.INLINE_RING_BYTES;
  }

  private int roomBehind(long position, int wanted) {
    long room = ringBytes - (position - headCache);
    if (room < wanted) {
      long seen = getAcquire(control, theirs + ConnectionLayout.HEAD);
      if (seen < headCache || seen > tail) {
        ends.fail();
        return TransportStream.BROKEN;
      }
      headCache = seen;
      room = ringBytes - (position - seen);
    }
    return (int) room;
  }

  private boolean nobodyReads() {
    return ends.nobodyReads() || getOpaque(control, theirs + ConnectionLayout.IN_CLOSED) != 0;
  }

  private int writeToNobody(int bytes) {
    // In this order: a peer that has finished its output says so before it leaves bytes unread.
    if (getAcquire(control, theirs + ConnectionLayout.IN_CLOSED)
        == ConnectionLayout.IN_LEFT_UNREAD) {
      ends.peerReadsNoMore(true);
    }
    stream.lookHowPeerEnds();
    int how = ends.writeToNobody();
    if (how < 0) {
      return how;
    }
    int room = roomFor(bytes);
    return room > 0 ? room : TransportStream.BROKEN;
  }

  private void copy(long position, ByteBuffer src, int at, int n) {
    int index = (int) position & (ringBytes - 1);
    int first = Math.min(n, ringBytes - index);
    ring.put(ringAt + index, src, at, first);
    if (first < n) {
      ring.put(ringAt, src, at + first, n - first);
    }
  }

  private void publish(long position) {
    int bytes = (int) (position - tail);
    TAIL.setOpaque(this, position);
    setRelease(control, mine + ConnectionLayout.TAIL, position);
    PUBLISHED.setRelease(this, position); // behind the other: an end that counts it comes later
    SleepWord.publishBeforeLook();
    long wait = getAcquire(control, theirs + ConnectionLayout.DATA_WAIT);
    if ((wait != handledWait || (wait & ConnectionLayout.WAIT_EVERY) != 0)
        && stream.notifyPeer(wait)) {
      handledWait = wait; // not before: if this ring fails, the next write has to ring
    }
    if (bytes > LINE && bytes <= MAX_FETCHED) {
      fetchNextLines(bytes);
    }
  }

  /**
   * Fetches the cache lines of the next message, which is likely as long as this one, from the core
   * that read them last, while the peer reads this one: a round trip of 4 KiB takes half as long.
   * Only for a program that reads between its writes, to a peer that had read all before this one:
   * of messages that are sent one after the other, this would slow each down by a quarter.
   */
  private void fetchNextLines(int bytes) {
    long read = stream.readPosition();
    if (read == readBefore) {
      return;
    }
    readBefore = read;
    long seen = getAcquire(control, theirs + ConnectionLayout.HEAD);
    if (seen < tail - bytes || seen > tail) {
      return;
    }
    headCache = seen;
    if (ringBytes - (tail - seen) <= bytes) {
      return; // The lines are not free.
    }
    for (int i = LINE; i <= bytes; i += LINE) {
      ring.put(ringAt + ((int) (tail + i) & (ringBytes - 1)), (byte) 0);
    }
  }

  // ---- another ring

  /** Whether there is a word for one more move, which the reader has not to look at any more. */
  boolean mayMove() {
    return moves - getAcquire(control, theirs + ConnectionLayout.IN_MOVES) < ConnectionLayout.MOVES;
  }

  /**
   * Writes to another ring from now on. Writer.
   *
   * @param at where the ring begins in the buffer
   * @param to what the reader is told, see {@link ConnectionLayout#ring}
   */
  void moveTo(ByteBuffer next, int at, int bytes, long to) {
    ring = next;
    ringAt = at;
    ringBytes = bytes;
    movedAt = tail;
    movedTo = to;
    moves++;
    publishMove();
    stream.ringsChanged();
  }

  private void publishMove() {
    setRelease(control, mine + ConnectionLayout.moveAt(moves - 1), movedAt);
    setRelease(control, mine + ConnectionLayout.moveTo(moves - 1), movedTo);
    setRelease(control, mine + ConnectionLayout.MOVE_GENERATION, moves);
  }

  /** Writes to the page from now on. Writer, when all before has been read. */
  void moveToPage() {
    moveTo(control, inlineRing, ConnectionLayout.INLINE_RING_BYTES, ConnectionLayout.RING_INLINE);
  }

  // ---- resting

  /**
   * Returns to the page if nothing has been written since the last time, all is read, and no thread
   * is writing. An output that stays in the page for want of a ring asks for one again. Negotiation
   * thread.
   *
   * @return whether it is to be looked at again
   */
  boolean rest() {
    if (ends.ownOutputEnded()) {
      return false;
    }
    if (growth.asked() && stuckInPage()) {
      growth.askAgain(stream, this);
      return true;
    }
    if (nothingOutside()) {
      return growth.unusedOutput();
    }
    long at = (long) TAIL.getOpaque(this);
    if (at != restedAt) {
      restedAt = at;
    } else if (getAcquire(control, theirs + ConnectionLayout.HEAD) == at) {
      stream.owner().whileNobodyWrites(this::returnToPage);
    }
    return !inline() || growth.unusedOutput();
  }

  /** Whether it has neither a ring outside the page nor one that waits for it. */
  private boolean nothingOutside() {
    return inline() && !growth.outputReady(stream);
  }

  /** Whether it is in the page and has less room than a writer that waits for room is told of. */
  boolean stuckInPage() {
    return inline() && !roomy(ConnectionLayout.INLINE_RING_BYTES) && !nobodyReads();
  }

  /** As the writer. */
  private void returnToPage() {
    long seen = getAcquire(control, theirs + ConnectionLayout.HEAD);
    if (seen != tail || tail != restedAt || nothingOutside()) {
      return;
    }
    headCache = seen;
    boolean fromFile = growth.returnToPage(stream, this);
    SleepWord.publishBeforeLook();
    long wait = getAcquire(control, theirs + ConnectionLayout.DATA_WAIT);
    if (fromFile && (wait & ConnectionLayout.WAIT_DOORBELL) != 0) {
      stream.notifyPeer(wait); // it sleeps in a read, and is to follow
    }
  }

  /** Where the last move was made. Writer. */
  long movedAt() {
    return movedAt;
  }

  /** How far the reader has read, as far as the writer has seen it. Writer. */
  long readTo() {
    return headCache;
  }

  // ---- looking: any thread

  boolean writable() {
    return roomy(ringBytes) || writableWhenShort();
  }

  /** Whether a quarter of a ring is free. */
  private boolean roomy(int bytes) {
    long used = (long) TAIL.getOpaque(this) - getAcquire(control, theirs + ConnectionLayout.HEAD);
    return used <= bytes - (bytes >> 2);
  }

  private boolean writableWhenShort() {
    if (nobodyReads() || (mayMove() && ringWaits())) {
      return true;
    }
    growth.wanted(stream, this); // a writer that waits will not come and find too little room
    return false;
  }

  /** Whether there is another ring for the writer. */
  private boolean ringWaits() {
    return growth.outputReady(stream) || (inline() && growth.slabRingFree());
  }

  /** Whether the peer has left bytes unread. */
  boolean leftUnread() {
    return (long) TAIL.getOpaque(this) != getAcquire(control, theirs + ConnectionLayout.HEAD);
  }

  // ---- ending

  /**
   * Ends the output where it is, also while a writer stands still in the middle of its copy: that
   * writer finds out when it has published, and either its bytes stand before the end or it reports
   * that no reader gets them. Any thread, one at a time.
   */
  void end(long how) {
    if (getAcquire(control, mine + ConnectionLayout.OUT_END) == ConnectionLayout.OUT_OPEN) {
      ends.outputEnded();
      VarHandle.fullFence(); // between the flag and the tail, as the writer's between its two
      long unused = (long) END_AT.compareAndExchange(this, NOWHERE, PUBLISHED.getAcquire(this));
      setRelease(control, mine + ConnectionLayout.OUT_END, how);
    }
  }

  /**
   * Another thread ends the output during this write: whether what the write has published stands
   * before the end. If that is not decided yet, it does.
   */
  private boolean beforeTheEnd() {
    long decided = (long) END_AT.compareAndExchange(this, NOWHERE, tail);
    return decided == NOWHERE || decided >= tail;
  }
}
