// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.LONG;

import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.memory.Mapping;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One connection over two rings in shared memory.
 *
 * <p>Fields are confined to the writer (holder of the channel's write lock), to the reader (holder
 * of the read lock), or published as their comment says. What the peer wrote is checked: a position
 * outside its range fails this stream, and nothing else.
 */
final class ShmStream implements FabricStream {
  private static final VarHandle TAIL;
  private static final VarHandle HEAD;
  private static final VarHandle EPOCH;
  private static final VarHandle OUT_END_AT;
  private static final VarHandle PUBLISHED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAIL = lookup.findVarHandle(ShmStream.class, "tail", long.class);
      HEAD = lookup.findVarHandle(ShmStream.class, "head", long.class);
      EPOCH = lookup.findVarHandle(ShmStream.class, "epoch", long.class);
      OUT_END_AT = lookup.findVarHandle(ShmStream.class, "outEndAt", long.class);
      PUBLISHED = lookup.findVarHandle(ShmStream.class, "published", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What released streams look at, by side and place in the page, see {@link #leaveMemory}. */
  private static final ByteBuffer[] NOBODYS = new ByteBuffer[2 * ConnectionLayout.PLACES];

  private static final ByteBuffer NO_RING = ByteBuffer.allocateDirect(0);

  /** A position before all others. */
  private static final long NOWHERE = -1;

  final ShmPeer peer;
  final int slot;

  /** The control page; once that is gone, a private one that says so: see {@link #bury}. */
  private ByteBuffer control;

  private ByteBuffer out;
  private ByteBuffer in;
  private Object attachment;

  private final int mine;
  private final int theirs;
  private final ByteBuffer firstOut;
  private final ByteBuffer firstIn;
  private final RingGrowth growth;

  /** SO_SNDBUF as the program has set it, or 0. Written before the stream is used. */
  private int sendBuffer;

  private StreamOwner owner;

  // Writer's, with out. The tail is read by others, opaquely.
  private long tail;
  private long headCache;
  private int outAt;
  private int outBytes;

  /** Count of moves of the output, and where the last was made. */
  private long outMoves;

  private long outMovedAt;
  private long handledDataWait;
  private boolean wroteToClosed;

  // Reader's, with in. The head is read by others, opaquely.
  private long head;
  private long tailCache;
  private int inAt;
  private int inBytes;
  private long handledSpaceWait;
  private long moves;
  private long moveAt = -1;

  /** What a read says for good, once it has said it: END or RESET. Seen by others, opaquely. */
  private int inOver;

  // Any thread's.
  @SuppressWarnings("UnusedVariable") // by EPOCH
  private long epoch;

  /** Whether the output ends, or has. Who writes beside looks here after it has published. */
  private volatile boolean outEnding;

  /**
   * How many bytes stand before the end of the output, as a position; {@link #NOWHERE} until that
   * is decided, by whoever ends it or by the write beside.
   */
  @SuppressWarnings("UnusedVariable") // by OUT_END_AT
  private long outEndAt = NOWHERE;

  /** The tail that the peer sees already. Writer's; whoever ends the output reads it. */
  @SuppressWarnings("UnusedVariable") // by PUBLISHED
  private long published;

  /** Whether DATA_WAIT asks for a hint for each message. Changed by the selecting thread. */
  private volatile boolean watchedForEvery;

  private volatile boolean accepted;
  private volatile boolean established;
  private volatile boolean ended;
  private volatile boolean outputLost;
  private volatile boolean reset;
  private volatile ShmHome home;

  ShmStream(
      ShmPeer peer, int slot, int side, ByteBuffer segment, int ringBytes, RingGrowth growth) {
    this.peer = peer;
    this.slot = slot;
    this.growth = growth;
    control = ConnectionSegment.control(segment);
    mine = ConnectionLayout.side(side, slot);
    theirs = ConnectionLayout.side(1 - side, slot);
    long start = ConnectionLayout.start(slot);
    tail = start;
    published = start;
    headCache = start;
    head = start;
    tailCache = start;
    firstOut = ConnectionSegment.firstRing(segment, ringBytes, side);
    firstIn = ConnectionSegment.firstRing(segment, ringBytes, 1 - side);
    out = control; // and no view of its own: a thousand connections are short of cache lines
    in = control;
    outAt = ConnectionLayout.inlineRing(side);
    inAt = ConnectionLayout.inlineRing(1 - side);
    outBytes = ConnectionLayout.INLINE_RING_BYTES;
    inBytes = ConnectionLayout.INLINE_RING_BYTES;
  }

  @Override
  public Fabric fabric() {
    return peer.fabric();
  }

  @Override
  public void owner(StreamOwner owner, Object attachment) {
    this.owner = owner;
    this.attachment = attachment;
  }

  /** Whether a channel uses this stream, or has. Negotiation thread. */
  boolean owned() {
    return owner != null;
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  // ---- agreeing and switching

  @Override
  public void buffers(int sendBytes, int receiveBytes) {
    sendBuffer = sendBytes;
    ConnectionLayout.set(control, mine + ConnectionLayout.IN_BUFFER, receiveBytes);
  }

  /**
   * What the output ring may grow to: what TCP would buffer on both sides, if both programs have
   * said how much that is to be.
   */
  int mostOutBytes(int maxBytes) {
    long theirBytes = ConnectionLayout.get(control, theirs + ConnectionLayout.IN_BUFFER);
    if (sendBuffer <= 0 || theirBytes <= 0) {
      return maxBytes;
    }
    long both = sendBuffer + Math.min(theirBytes, ConnectionLayout.MAX_RING_BYTES);
    long ring = Long.highestOneBit(both - 1) << 1;
    return (int) Math.min(maxBytes, Math.max(ring, ConnectionLayout.MIN_RING_BYTES));
  }

  @Override
  public void acceptInput() {
    accepted = true;
    ConnectionLayout.set(control, mine + ConnectionLayout.ACCEPTS, 1);
    VarHandle.fullFence();
    if (established()) {
      peer.tellEstablished(this);
    }
  }

  /** The peer says that it has accepted as well. Negotiation thread. */
  void peerAccepted() {
    if (established()) {
      owner.woken();
    }
  }

  @Override
  public void wakePeerBySession() {
    peer.tellEstablished(this);
  }

  /** The peer has released its side. Negotiation thread. */
  void peerReleased() {
    owner.released();
  }

  @Override
  public boolean established() {
    return established || establishedNow();
  }

  private boolean establishedNow() {
    if (ConnectionLayout.get(control, mine + ConnectionLayout.ACCEPTS) == 0
        || ConnectionLayout.get(control, theirs + ConnectionLayout.ACCEPTS) == 0) {
      return false;
    }
    established = changePhase(ConnectionLayout.PHASE_ESTABLISHED);
    return established;
  }

  @Override
  public boolean withdraw() {
    return !established && changePhase(ConnectionLayout.PHASE_WITHDRAWN);
  }

  @Override
  public boolean withdrawn() {
    return !established
        && ConnectionLayout.get(control, ConnectionLayout.PHASE_OFFSET)
            == ConnectionLayout.PHASE_WITHDRAWN;
  }

  /** Moves the phase on, or finds it moved. Whoever comes first decides for both sides. */
  private boolean changePhase(long phase) {
    long before = ConnectionLayout.get(control, ConnectionLayout.PHASE_OFFSET);
    Faults.take();
    if (before != ConnectionLayout.PHASE_NEGOTIATING) {
      return before == phase;
    }
    long found =
        (long)
            LONG.compareAndExchange(
                control, ConnectionLayout.PHASE_OFFSET, ConnectionLayout.PHASE_NEGOTIATING, phase);
    return found == ConnectionLayout.PHASE_NEGOTIATING || found == phase;
  }

  @Override
  public void switchOut(long tcpBytes) {
    ConnectionLayout.set(control, mine + ConnectionLayout.SWITCH_AT, tcpBytes + 1);
  }

  @Override
  public long peerSwitchAt() {
    return ConnectionLayout.get(control, theirs + ConnectionLayout.SWITCH_AT) - 1;
  }

  @Override
  public void inputSwitched() {
    ConnectionLayout.set(control, mine + ConnectionLayout.IN_SWITCHED, 1);
  }

  @Override
  public boolean peerInputSwitched() {
    return ended || ConnectionLayout.get(control, theirs + ConnectionLayout.IN_SWITCHED) != 0;
  }

  @Override
  public void inputTaken(long tcpBytes) {
    ConnectionLayout.set(control, mine + ConnectionLayout.IN_TAKEN, tcpBytes);
  }

  @Override
  public long peerInputTaken() {
    return ConnectionLayout.get(control, theirs + ConnectionLayout.IN_TAKEN);
  }

  // ---- writing

  @Override
  public int write(ByteBuffer src) {
    int at = src.position();
    long start = tail;
    try {
      int length = src.remaining();
      int room = room(length);
      if (room <= 0) {
        return room;
      }
      int n = Math.min(length, room);
      copyIn(start, src, at, n);
      publishTail(start + n);
      if (outEnding && !beforeTheEnd()) {
        return BROKEN;
      }
      src.position(at + n);
      return n;
    } catch (InternalError e) {
      src.position(at + (int) taken(start));
      publishAgain();
      throw e;
    }
  }

  /** After a {@linkplain Faults late} error: how much this write has taken; the tail tells. */
  private long taken(long start) {
    return outEnding && !beforeTheEnd() ? 0 : tail - start;
  }

  /** After an error that came anywhere in a write: whatever the tail and the ring's state tell. */
  private void publishAgain() {
    long position = tail;
    if (outMoves > 0) {
      ConnectionLayout.set(control, mine + ConnectionLayout.moveAt(outMoves - 1), outMovedAt);
      ConnectionLayout.set(control, mine + ConnectionLayout.MOVE_GENERATION, outMoves);
    }
    LONG.setRelease(control, mine + ConnectionLayout.TAIL, position);
    PUBLISHED.setRelease(this, position);
    wakePeer();
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) {
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
      copyIn(position, src, src.position(), n);
      position += n;
      room -= n;
      if (n < bytes) {
        break;
      }
    }
    long total = position - tail;
    if (total > 0) {
      publishTail(position);
      if (outEnding && !beforeTheEnd()) {
        return BROKEN;
      }
      advance(srcs, offset, length, total);
    }
    return total;
  }

  private static void advance(ByteBuffer[] srcs, int offset, int length, long bytes) {
    long left = bytes;
    for (int i = offset; i < offset + length && left > 0; i++) {
      int n = (int) Math.min(left, srcs[i].remaining());
      srcs[i].position(srcs[i].position() + n);
      left -= n;
    }
  }

  /**
   * Somebody ends the output beside this write: whether what it has published stands before the
   * end. If that is not decided yet, it does.
   */
  private boolean beforeTheEnd() {
    long decided = (long) OUT_END_AT.compareAndExchange(this, NOWHERE, tail);
    return decided == NOWHERE || decided >= tail;
  }

  private static long remaining(ByteBuffer[] srcs, int offset, int length) {
    long bytes = 0;
    for (int i = offset; i < offset + length; i++) {
      bytes += srcs[i].remaining();
    }
    return bytes;
  }

  /**
   * Space behind the tail, if anyone is there to read it; asks for a larger ring if it is short.
   */
  private int room(int wanted) {
    if (wanted == 0) {
      return 0;
    }
    if (gone()) {
      return writeToGone(wanted);
    }
    int room = roomFor(wanted);
    return room < wanted && room >= 0 ? shortOfRoom(room, wanted) : room;
  }

  /** Space behind the tail; who finds too little leaves the inline ring. */
  private int roomFor(int wanted) {
    int room = roomBehind(tail, wanted);
    if (room < wanted && room >= 0 && inlineOut()) {
      moveOutputTo(firstOut, firstOut.capacity(), ConnectionLayout.FIRST_RING);
      room = roomBehind(tail, wanted);
    }
    return room;
  }

  private int shortOfRoom(int found, int wanted) {
    int room = found;
    if (growth.moveOutput(this)) {
      room = roomBehind(tail, wanted);
    }
    if (room >= 0 && room < wanted) {
      owner.stalled();
      growth.wanted(this);
    }
    return room;
  }

  private boolean inlineOut() {
    return outBytes == ConnectionLayout.INLINE_RING_BYTES;
  }

  private int roomBehind(long position, int wanted) {
    long room = outBytes - (position - headCache);
    if (room < wanted) {
      long seen = ConnectionLayout.get(control, theirs + ConnectionLayout.HEAD);
      if (seen < headCache || seen > tail) {
        fail();
        return BROKEN;
      }
      headCache = seen;
      room = outBytes - (position - seen);
    }
    return (int) room;
  }

  private boolean gone() {
    return ended
        || outputLost
        || outEnding
        || (long) LONG.getOpaque(control, theirs + ConnectionLayout.IN_CLOSED) != 0;
  }

  /** As TCP: after the peer's clean end one write succeeds, later ones break. */
  private int writeToGone(int bytes) {
    if (wroteToClosed || outEnding || reset || peerOutEnd() == ConnectionLayout.OUT_ABORTED) {
      return BROKEN;
    }
    wroteToClosed = true;
    int room = roomFor(bytes);
    return room > 0 ? room : BROKEN;
  }

  private void copyIn(long position, ByteBuffer src, int at, int n) {
    int index = (int) position & (outBytes - 1);
    int first = Math.min(n, outBytes - index);
    out.put(outAt + index, src, at, first);
    if (first < n) {
      out.put(outAt, src, at + first, n - first);
    }
  }

  private void publishTail(long position) {
    TAIL.setOpaque(this, position);
    LONG.setRelease(control, mine + ConnectionLayout.TAIL, position);
    PUBLISHED.setRelease(this, position); // behind the other: an end that counts it comes later
    VarHandle.fullFence();
    long wait = (long) LONG.getAcquire(control, theirs + ConnectionLayout.DATA_WAIT);
    if (wait != handledDataWait || (wait & ConnectionLayout.WAIT_EVERY) != 0) {
      notifyPeer(wait);
      handledDataWait = wait; // not before: if this ring fails, the next write has to ring
    }
  }

  private void notifyPeer(long wait) {
    if ((wait & ConnectionLayout.WAIT_BELL) != 0) {
      boolean unused = owner.ring();
    } else if ((wait & ConnectionLayout.WAIT_HINT) != 0) {
      peer.hint(this, owner);
    }
  }

  /** Number of the home in which the peer has this stream, or -1. */
  long peerHome() {
    return ConnectionLayout.get(control, theirs + ConnectionLayout.HOME);
  }

  // ---- reading

  @Override
  public int read(ByteBuffer dst) {
    int at = dst.position();
    long start = head;
    try {
      return readAt(dst, at);
    } catch (InternalError e) { // late, perhaps: the head is what counts
      dst.position(at + (int) (head - start));
      LONG.setRelease(control, mine + ConnectionLayout.HEAD, head);
      wakePeer();
      throw e;
    }
  }

  private int readAt(ByteBuffer dst, int at) {
    int wanted = dst.remaining();
    if (wanted == 0) {
      return 0;
    }
    long available = tailCache - head;
    if (available < wanted) {
      if (inOver != 0) {
        return inOver;
      }
      available = refresh();
      if (available == 0) {
        int end = end();
        available = tailCache - head;
        if (end < 0 || available <= 0) { // below 0 if the stream has just been buried
          return end;
        }
      } else if (available < 0) {
        return RESET;
      }
    }
    int n = (int) Math.min(available, wanted);
    copyOut(head, dst, at, n);
    publishHead(head + n);
    dst.position(at + n);
    return n;
  }

  /**
   * Looks how far the peer has written. Returns bytes that can be read now, negative on failure.
   */
  private long refresh() {
    long seen = ConnectionLayout.get(control, theirs + ConnectionLayout.TAIL);
    long known = ConnectionLayout.get(control, theirs + ConnectionLayout.MOVE_GENERATION);
    while (moveAt >= 0 || known != moves) {
      if (moveAt < 0 && !learnMove(known)) {
        fail();
        return RESET;
      }
      if (moveAt != head) {
        break;
      }
      if (moves == 0) {
        moveInputTo(firstIn, firstIn.capacity());
      } else if (!growth.moveInput(this)) {
        fail();
        return RESET;
      }
    }
    if (seen < tailCache || (moveAt < 0 && seen - head > inBytes)) {
      fail();
      return RESET;
    }
    if (moveAt >= 0 && seen > moveAt) {
      seen = moveAt;
    }
    tailCache = seen;
    return seen - head;
  }

  /** Learns where the writer left the ring that is read now. */
  private boolean learnMove(long known) {
    if (known < moves || known > ConnectionLayout.MOST_MOVES) {
      return false;
    }
    long at = ConnectionLayout.get(control, theirs + ConnectionLayout.moveAt(moves));
    boolean ready = moves == 0 || growth.inputReady();
    if (at < tailCache || at - head > inBytes || !ready) {
      return false;
    }
    moveAt = at;
    return true;
  }

  /**
   * What an empty ring means: 0 for nothing yet, END or RESET. May find bytes that came meanwhile.
   */
  private int end() {
    boolean last = ended;
    long outEnd = peerOutEnd();
    if (!last && outEnd == ConnectionLayout.OUT_OPEN) {
      return 0;
    }
    // Nothing is written after these words, so one more look shows all there is.
    if (refresh() != 0) {
      return 0;
    }
    if (outEnd == ConnectionLayout.OUT_ABORTED) {
      reset = true;
    }
    inOver = reset && outEnd != ConnectionLayout.OUT_FINISHED ? RESET : END;
    return inOver;
  }

  private void copyOut(long position, ByteBuffer dst, int at, int n) {
    int index = (int) position & (inBytes - 1);
    int first = Math.min(n, inBytes - index);
    dst.put(at, in, inAt + index, first);
    if (first < n) {
      dst.put(at + first, in, inAt, n - first);
    }
  }

  private void publishHead(long position) {
    HEAD.setOpaque(this, position);
    LONG.setRelease(control, mine + ConnectionLayout.HEAD, position);
    long unread = tailCache - position;
    if (unread == 0 || unread <= inBytes - (inBytes >> 2)) {
      VarHandle.fullFence();
      long wait = (long) LONG.getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT);
      if (wait != handledSpaceWait) {
        notifyPeer(wait);
        handledSpaceWait = wait; // not before, as in publishTail
      }
    }
  }

  // ---- looking and waiting

  @Override
  public int readiness(int ops) {
    int ready = 0;
    if ((ops & READ) != 0 && readable()) {
      ready |= READ;
    }
    if ((ops & WRITE) != 0 && writable()) {
      ready |= WRITE;
    }
    return ready;
  }

  private boolean readable() {
    return unread() || ended || peerOutEnd() != ConnectionLayout.OUT_OPEN;
  }

  @Override
  public int available() {
    if (inOver != 0) {
      return 0;
    }
    long unread =
        ConnectionLayout.get(control, theirs + ConnectionLayout.TAIL) - (long) HEAD.getOpaque(this);
    return (int) Math.max(0, Math.min(unread, inBytes)); // whatever the peer says
  }

  @Override
  public boolean unread() {
    return inOver == 0
        && ConnectionLayout.get(control, theirs + ConnectionLayout.TAIL)
            != (long) HEAD.getOpaque(this);
  }

  private boolean writable() {
    long used =
        (long) TAIL.getOpaque(this) - ConnectionLayout.get(control, theirs + ConnectionLayout.HEAD);
    int bytes = outBytes;
    return used <= bytes - (bytes >> 2) || writableWhenShort();
  }

  private boolean writableWhenShort() {
    if (inlineOut() || growth.outputReady(this) || gone()) {
      return true;
    }
    growth.wanted(this); // who waits for readiness will not come and find too little room
    return false;
  }

  @Override
  public boolean watch(int ops) {
    watchedForEvery = false;
    return announce(ops, ConnectionLayout.WAIT_HINT);
  }

  @Override
  public boolean watchEvery(int ops) {
    if (ops != READ) {
      return watch(ops);
    }
    if (watchedForEvery) {
      return true; // what came since the last look has set the bit after it was cleared
    }
    watchedForEvery = true;
    return announce(ops, ConnectionLayout.WAIT_HINT | ConnectionLayout.WAIT_EVERY);
  }

  @Override
  public void unwatch() {
    if (watchedForEvery) {
      watchedForEvery = false;
      awake(READ);
    }
  }

  @Override
  public boolean await(int ops) {
    return announce(ops, ConnectionLayout.WAIT_BELL);
  }

  private boolean announce(int ops, long flag) {
    long word = (((long) EPOCH.getAndAdd(this, 1L) + 1) << ConnectionLayout.WAIT_FLAG_BITS) | flag;
    if ((ops & READ) != 0) {
      LONG.setRelease(control, mine + ConnectionLayout.DATA_WAIT, word); // after HOME
    }
    if ((ops & WRITE) != 0) {
      LONG.setRelease(control, mine + ConnectionLayout.SPACE_WAIT, word); // after HOME
    }
    VarHandle.fullFence();
    return readiness(ops) == 0;
  }

  @Override
  public void awake(int ops) {
    if ((ops & READ) != 0) {
      LONG.setOpaque(control, mine + ConnectionLayout.DATA_WAIT, 0L);
    }
    if ((ops & WRITE) != 0) {
      LONG.setOpaque(control, mine + ConnectionLayout.SPACE_WAIT, 0L);
    }
  }

  // ---- ending

  @Override
  public void finishOutput() {
    endOutput(ConnectionLayout.OUT_FINISHED);
  }

  @Override
  public void abort() {
    endOutput(ConnectionLayout.OUT_ABORTED);
  }

  /**
   * Ends the output where it is, also beside a writer that stands still in the middle of its copy:
   * that one finds out when it has published, and either its bytes stand before the end or it
   * reports that they reach nobody.
   */
  private void endOutput(long how) {
    if (ConnectionLayout.get(control, mine + ConnectionLayout.OUT_END)
        == ConnectionLayout.OUT_OPEN) {
      outEnding = true;
      VarHandle.fullFence(); // between the flag and the tail, as the writer's between its two
      long unused =
          (long) OUT_END_AT.compareAndExchange(this, NOWHERE, (long) PUBLISHED.getAcquire(this));
      ConnectionLayout.set(control, mine + ConnectionLayout.OUT_END, how);
    }
    wakePeer();
  }

  @Override
  public void abandonInput() {
    ConnectionLayout.set(control, mine + ConnectionLayout.IN_CLOSED, 1);
  }

  /** Wakes whoever waits at the peer, whatever for. */
  void wakePeer() {
    VarHandle.fullFence();
    long data = (long) LONG.getAcquire(control, theirs + ConnectionLayout.DATA_WAIT);
    long space = (long) LONG.getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT);
    notifyPeer(data);
    if (space != data) {
      notifyPeer(space);
    }
  }

  private long peerOutEnd() {
    return ConnectionLayout.get(control, theirs + ConnectionLayout.OUT_END);
  }

  @Override
  public boolean flushed() {
    return true; // written bytes are in memory that the peer has mapped
  }

  @Override
  public boolean controlEnded(boolean byReset) {
    if (!ended) {
      if (byReset || (!outputLost && leftOurs())) {
        reset = true;
      }
      ended = true;
    }
    return reset;
  }

  /** Whether the peer has left bytes of ours unread. */
  private boolean leftOurs() {
    return (long) TAIL.getOpaque(this)
        != ConnectionLayout.get(control, theirs + ConnectionLayout.HEAD);
  }

  @Override
  public void outputLost() {
    if (leftOurs()) {
      reset = true;
    }
    outputLost = true;
  }

  private void fail() {
    reset = true;
    ended = true;
  }

  /**
   * The memory is gone: from now on this stream looks at a page of its own, in which the peer has
   * reset the connection, or withdrawn it if it cannot have switched. What others read of {@link
   * #control} in a race faults once more. Negotiation thread.
   */
  void bury() {
    if (owner != null) {
      abortIfControlIsLeft();
    }
    control = resetPage(mine, theirs, accepted || established);
    tailCache = 0; // what is behind head cannot be read any more
    fail();
    if (owner != null) {
      owner.lost();
    }
  }

  /** Perhaps only rings are gone, and the peer can be told. */
  private void abortIfControlIsLeft() {
    try {
      if (Mapping.intact(control)) {
        abandonInput();
        abort();
        Faults.take();
      }
    } catch (InternalError e) {
      // It has just gone, too.
    }
  }

  @Override
  public synchronized void leave(Home left) {
    if (home == left) {
      moveTo(null);
    }
  }

  @Override
  public synchronized void moveTo(Home next) {
    ShmHome target = (ShmHome) next;
    unwatch();
    ShmHome before = home;
    if (target == before) {
      return;
    }
    if (target != null) {
      target.add(peer, slot);
    }
    home = target;
    try {
      ConnectionLayout.set(
          control, mine + ConnectionLayout.HOME, target == null ? -1 : target.index());
      if (target != null) {
        target.added();
      }
      Faults.take();
    } catch (InternalError e) {
      // The memory is gone, so the peer is told nothing; whoever reads or writes finds out.
    }
    if (before != null) { // not earlier: its number may be given away once nothing names it
      before.remove(peer, slot);
    }
  }

  @Override
  public void release() {
    if (home != null) {
      moveTo(null);
    }
    leaveMemory();
    peer.release(this, growth);
  }

  /**
   * From now on this stream looks at a page of nobody's, in which the peer has reset the
   * connection: who comes late finds that, and not memory that is unmapped or has its next user.
   */
  private void leaveMemory() {
    fail();
    control = nobodys(mine, theirs);
    in = NO_RING;
    out = NO_RING;
    inOver = RESET;
    tailCache = 0;
  }

  private static ByteBuffer nobodys(int mine, int theirs) {
    int index = Math.min(mine, theirs) / ConnectionLayout.PLACE_BYTES * 2 + (mine < theirs ? 0 : 1);
    synchronized (NOBODYS) {
      index %= NOBODYS.length;
      ByteBuffer page = NOBODYS[index];
      if (page == null) {
        page = resetPage(mine, theirs, true);
        NOBODYS[index] = page;
      }
      return page;
    }
  }

  /** A private page in which the peer has reset the connection, or withdrawn it if it is unused. */
  private static ByteBuffer resetPage(int mine, int theirs, boolean used) {
    ByteBuffer page =
        ByteBuffer.allocateDirect(ConnectionLayout.CONTROL_BYTES).order(ByteOrder.nativeOrder());
    if (used) {
      ConnectionLayout.set(page, mine + ConnectionLayout.ACCEPTS, 1);
      ConnectionLayout.set(page, theirs + ConnectionLayout.ACCEPTS, 1);
      ConnectionLayout.set(page, theirs + ConnectionLayout.SWITCH_AT, 1);
    }
    ConnectionLayout.set(
        page,
        ConnectionLayout.PHASE_OFFSET,
        used ? ConnectionLayout.PHASE_ESTABLISHED : ConnectionLayout.PHASE_WITHDRAWN);
    ConnectionLayout.set(page, theirs + ConnectionLayout.IN_CLOSED, 1);
    ConnectionLayout.set(page, theirs + ConnectionLayout.OUT_END, ConnectionLayout.OUT_ABORTED);
    ConnectionLayout.set(page, theirs + ConnectionLayout.TAIL, NOWHERE);
    ConnectionLayout.set(page, theirs + ConnectionLayout.HEAD, NOWHERE);
    ConnectionLayout.set(page, theirs + ConnectionLayout.HOME, -1);
    return page;
  }

  @Override
  public String transport() {
    return "ring " + kib(outBytes) + "/" + kib(inBytes);
  }

  @Override
  public int inBytes() {
    return inBytes;
  }

  @Override
  public int outBytes() {
    return outBytes;
  }

  private static String kib(int bytes) {
    return (bytes >> 10) + " KiB";
  }

  // ---- moving to a larger ring, under the writer's or the reader's lock

  void moveOutputTo(ByteBuffer ring, int bytes, long generation) {
    out = ring;
    outAt = 0;
    outBytes = bytes;
    outMovedAt = tail;
    outMoves = generation;
    ConnectionLayout.set(control, mine + ConnectionLayout.moveAt(generation - 1), tail);
    ConnectionLayout.set(control, mine + ConnectionLayout.MOVE_GENERATION, generation);
    owner.buffersChanged(inBytes, bytes);
  }

  void moveInputTo(ByteBuffer ring, int bytes) {
    in = ring;
    inAt = 0;
    inBytes = bytes;
    moves++;
    moveAt = -1;
    owner.buffersChanged(bytes, outBytes);
  }

  /** Tells the peer's writer that its larger ring is mapped here. Negotiation thread or reader. */
  void announceRing(long generation) {
    ConnectionLayout.set(control, mine + ConnectionLayout.RING_READY, generation);
    VarHandle.fullFence();
    notifyPeer((long) LONG.getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT));
  }

  /** How often the input has moved. Reader. */
  long moves() {
    return moves;
  }

  long peerRingReady() {
    return ConnectionLayout.get(control, theirs + ConnectionLayout.RING_READY);
  }
}
