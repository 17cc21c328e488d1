// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.compareAndExchangeVolatile;
import static io.talaria.nio.shm.ConnectionLayout.getAcquire;
import static io.talaria.nio.shm.ConnectionLayout.setOpaque;
import static io.talaria.nio.shm.ConnectionLayout.setRelease;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.memory.Mapping;
import io.talaria.nio.memory.SleepWord;
import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One connection over two rings in shared memory: an {@link ShmOutput} and an {@link ShmInput}, and
 * what belongs to both: whether the connection is used at all, which threads wait, how it ends, and
 * in which ready set it is. What belongs to one direction is guarded there; the fields here are
 * published as their comments say.
 */
final class ShmStream implements TransportStream {
  private static final VarHandle EPOCH;

  static {
    try {
      EPOCH = MethodHandles.lookup().findVarHandle(ShmStream.class, "epoch", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** What released streams look at, by side and place in the page. Guarded by itself. */
  private static final ByteBuffer[] NOBODYS = new ByteBuffer[2 * ConnectionLayout.PLACES];

  /** A position before all others. */
  private static final long NOWHERE = -1;

  /** How all streams begin, and what most of thousands are. */
  private static final String IN_PAGES =
      ringText(ConnectionLayout.INLINE_RING_BYTES, ConnectionLayout.INLINE_RING_BYTES);

  final ShmPeer peer;
  final int slot;
  private final int side;
  private final int mine;
  private final int theirs;
  private final RingGrowth growth;
  private final EndState ends = new EndState();
  private final ShmOutput output;
  private final ShmInput input;

  /** The control page; once that is gone or given back, a private one: see {@link #lookAt}. */
  private ByteBuffer control;

  private StreamOwner owner;
  private Object attachment;

  // Any thread's.
  @SuppressWarnings("UnusedVariable") // by EPOCH
  private long epoch;

  /** Whether DATA_WAIT asks for a hint for each message. Changed by the selecting thread. */
  private volatile boolean watchedForEvery;

  private volatile boolean accepted;
  private volatile boolean established;
  private volatile ShmReadySet readySet;

  ShmStream(ShmPeer peer, int slot, int side, ByteBuffer control, RingGrowth growth) {
    this.peer = peer;
    this.slot = slot;
    this.growth = growth;
    this.side = side;
    this.control = control;
    mine = ConnectionLayout.side(side, slot);
    theirs = ConnectionLayout.side(1 - side, slot);
    output = new ShmOutput(this, side, control);
    input = new ShmInput(this, side, control);
  }

  EndState ends() {
    return ends;
  }

  RingGrowth growth() {
    return growth;
  }

  StreamOwner owner() {
    return owner;
  }

  @Override
  public TransportProvider transport() {
    return peer.transport();
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
    output.sendBuffer(sendBytes);
    setRelease(control, mine + ConnectionLayout.IN_BUFFER, receiveBytes);
  }

  @Override
  public void acceptInput() {
    accepted = true;
    setRelease(control, mine + ConnectionLayout.ACCEPTS, 1);
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
    if (getAcquire(control, mine + ConnectionLayout.ACCEPTS) == 0
        || getAcquire(control, theirs + ConnectionLayout.ACCEPTS) == 0) {
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
        && getAcquire(control, ConnectionLayout.PHASE_OFFSET) == ConnectionLayout.PHASE_WITHDRAWN;
  }

  /** Moves the phase on, or finds it moved. The thread that comes first decides for both sides. */
  private boolean changePhase(long phase) {
    long before = getAcquire(control, ConnectionLayout.PHASE_OFFSET);
    Faults.take();
    if (before != ConnectionLayout.PHASE_NEGOTIATING) {
      return before == phase;
    }
    long found =
        compareAndExchangeVolatile(
            control, ConnectionLayout.PHASE_OFFSET, ConnectionLayout.PHASE_NEGOTIATING, phase);
    return found == ConnectionLayout.PHASE_NEGOTIATING || found == phase;
  }

  @Override
  public void switchOut(long tcpBytes) {
    setRelease(control, mine + ConnectionLayout.SWITCH_AT, tcpBytes + 1);
  }

  @Override
  public long peerSwitchAt() {
    return getAcquire(control, theirs + ConnectionLayout.SWITCH_AT) - 1;
  }

  @Override
  public void inputSwitched() {
    setRelease(control, mine + ConnectionLayout.IN_SWITCHED, 1);
  }

  @Override
  public boolean peerInputSwitched() {
    return ends.ended() || getAcquire(control, theirs + ConnectionLayout.IN_SWITCHED) != 0;
  }

  @Override
  public boolean peerInputClosed() {
    return ends.noReaderLeft() || getAcquire(control, theirs + ConnectionLayout.IN_CLOSED) != 0;
  }

  @Override
  public void inputTaken(long tcpBytes) {
    setRelease(control, mine + ConnectionLayout.IN_TAKEN, tcpBytes);
  }

  @Override
  public long peerInputTaken() {
    return getAcquire(control, theirs + ConnectionLayout.IN_TAKEN);
  }

  // ---- bytes

  @Override
  public int write(ByteBuffer src) {
    return output.write(src);
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) {
    return output.write(srcs, offset, length);
  }

  @Override
  public int read(ByteBuffer dst) {
    return input.read(dst);
  }

  /** How far the program has read; any thread. */
  long readPosition() {
    return input.position();
  }

  // ---- looking and waiting

  @Override
  public int readiness(int ops) {
    int ready = 0;
    if ((ops & READ) != 0 && input.readable()) {
      ready |= READ;
    }
    if ((ops & WRITE) != 0 && output.writable()) {
      ready |= WRITE;
    }
    return ready;
  }

  @Override
  public int available() {
    return input.available();
  }

  @Override
  public boolean unread() {
    return input.unread();
  }

  @Override
  public boolean watch(int ops) {
    watchedForEvery = false;
    return announce(ops, NO_DOORBELL, ConnectionLayout.WAIT_HINT);
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
    return announce(ops, NO_DOORBELL, ConnectionLayout.WAIT_HINT | ConnectionLayout.WAIT_EVERY);
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
    return await(ops, NO_DOORBELL);
  }

  @Override
  public boolean await(int ops, int doorbell) {
    return announce(ops, doorbell, ConnectionLayout.WAIT_DOORBELL);
  }

  @Override
  public boolean ringsDoorbells() {
    return peer.isRungByDoorbells();
  }

  @Override
  public boolean rings(int doorbell) {
    return peer.isRungBy(doorbell);
  }

  private boolean announce(int ops, int doorbell, long flags) {
    long word = ConnectionLayout.waitWord((long) EPOCH.getAndAdd(this, 1L) + 1, doorbell, flags);
    if ((ops & READ) != 0) {
      setRelease(control, mine + ConnectionLayout.DATA_WAIT, word); // after READY_SET
    }
    if ((ops & WRITE) != 0) {
      setRelease(control, mine + ConnectionLayout.SPACE_WAIT, word); // after READY_SET
    }
    SleepWord.publishBeforeLook();
    return readiness(ops) == 0;
  }

  @Override
  public void awake(int ops) {
    if ((ops & READ) != 0) {
      setOpaque(control, mine + ConnectionLayout.DATA_WAIT, 0L);
    }
    if ((ops & WRITE) != 0) {
      setOpaque(control, mine + ConnectionLayout.SPACE_WAIT, 0L);
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

  private void endOutput(long how) {
    output.end(how);
    wakePeer();
  }

  @Override
  public void abandonInput(boolean leftUnread) {
    setRelease(
        control,
        mine + ConnectionLayout.IN_CLOSED,
        leftUnread ? ConnectionLayout.IN_LEFT_UNREAD : ConnectionLayout.IN_CLOSED_READ);
  }

  /** Wakes the threads that wait at the peer, whatever for. */
  void wakePeer() {
    SleepWord.publishBeforeLook();
    long data = getAcquire(control, theirs + ConnectionLayout.DATA_WAIT);
    long space = getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT);
    notifyPeer(data);
    if (space != data) {
      notifyPeer(space);
    }
  }

  /**
   * Wakes the threads that wait at the peer, as its wait word says.
   *
   * @return false if that failed, so that this wait must not be taken for rung
   */
  @NotInlined
  boolean notifyPeer(long wait) {
    if ((wait & ConnectionLayout.WAIT_DOORBELL) != 0) {
      int doorbell = ConnectionLayout.doorbell(wait);
      return doorbell == NO_DOORBELL ? owner.ring() : ringThread(doorbell);
    }
    return (wait & ConnectionLayout.WAIT_HINT) == 0 || peer.hint(this, owner);
  }

  private boolean ringThread(int doorbell) {
    if (peer.ringThread(doorbell)) {
      owner.rung();
      return true;
    }
    // A thread that sleeps on a doorbell does not listen to the control connection. The session's
    // message rings it from inside its process; if the session has ended, the control connection is
    // looked after.
    peer.tellEstablished(this);
    return owner.ring();
  }

  /** Number of the ready set in which the peer has this stream, or -1. */
  long peerReadySetAcquire() {
    return getAcquire(control, theirs + ConnectionLayout.READY_SET);
  }

  /** How the peer says that its output ends: OUT_OPEN, or another value of OUT_END. */
  long peerOutEndAcquire() {
    return getAcquire(control, theirs + ConnectionLayout.OUT_END);
  }

  /** The same, and takes note of it. */
  long lookHowPeerEnds() {
    long how = peerOutEndAcquire();
    if (how == ConnectionLayout.OUT_ABORTED) {
      ends.peerAborted();
    } else if (how != ConnectionLayout.OUT_OPEN) {
      ends.peerFinished();
    }
    return how;
  }

  @Override
  public boolean flushed() {
    return true; // written bytes are in memory that the peer has mapped
  }

  @Override
  public boolean controlEnded(boolean byReset) {
    // The first word counts, and a second look would be at memory that may be gone.
    return ends.ended() ? ends.wasReset() : ends.controlEnded(byReset, output.leftUnread());
  }

  @Override
  public void outputLost() {
    ends.outputLost(output.leftUnread());
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
    lookAt(resetPage(mine, theirs, accepted || established));
    ends.fail();
    if (owner != null) {
      owner.lost();
    }
  }

  /** Perhaps only rings are gone, and the peer can be told. */
  private void abortIfControlIsLeft() {
    try {
      if (Mapping.intact(control)) {
        abandonInput(false);
        abort();
        Faults.take();
      }
    } catch (InternalError e) {
      // It has just gone, too.
    }
  }

  @Override
  public synchronized void leave(ReadySet left) {
    if (readySet == left) {
      moveTo(null);
    }
  }

  @Override
  public synchronized void moveTo(ReadySet next) {
    ShmReadySet target = (ShmReadySet) next;
    unwatch();
    ShmReadySet before = readySet;
    if (target == before) {
      return;
    }
    if (target != null) {
      target.add(peer, slot);
    }
    readySet = target;
    try {
      setRelease(control, mine + ConnectionLayout.READY_SET, target == null ? -1 : target.index());
      if (target != null) {
        target.added();
      }
      Faults.take();
    } catch (InternalError e) {
      // The memory is gone, so the peer is told nothing; the next read or write finds out.
    }
    if (before != null) { // not earlier: its number may be given away once nothing names it
      before.remove(peer, slot);
    }
  }

  @Override
  public void release() {
    if (readySet != null) {
      moveTo(null);
    }
    // A thread that comes late finds a connection that was reset, and not memory that is unmapped
    // or has its next user.
    ends.fail();
    ends.report(false);
    lookAt(nobodysPage());
    peer.release(this);
  }

  /** Has all parts of the stream look at another control page. */
  private void lookAt(ByteBuffer page) {
    control = page;
    output.lookAt(page);
    input.lookAt(page);
  }

  private ByteBuffer nobodysPage() {
    int index = 2 * (slot % ConnectionLayout.PLACES) + side;
    synchronized (NOBODYS) {
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
      setRelease(page, mine + ConnectionLayout.ACCEPTS, 1);
      setRelease(page, theirs + ConnectionLayout.ACCEPTS, 1);
      setRelease(page, theirs + ConnectionLayout.SWITCH_AT, 1);
    }
    setRelease(
        page,
        ConnectionLayout.PHASE_OFFSET,
        used ? ConnectionLayout.PHASE_ESTABLISHED : ConnectionLayout.PHASE_WITHDRAWN);
    setRelease(page, theirs + ConnectionLayout.IN_CLOSED, 1);
    setRelease(page, theirs + ConnectionLayout.OUT_END, ConnectionLayout.OUT_ABORTED);
    setRelease(page, theirs + ConnectionLayout.TAIL, NOWHERE);
    setRelease(page, theirs + ConnectionLayout.HEAD, NOWHERE);
    setRelease(page, theirs + ConnectionLayout.READY_SET, -1);
    return page;
  }

  @Override
  public String detail() {
    int outBytes = output.bytes();
    int inBytes = input.bytes();
    boolean inPages =
        outBytes == ConnectionLayout.INLINE_RING_BYTES
            && inBytes == ConnectionLayout.INLINE_RING_BYTES;
    return inPages ? IN_PAGES : ringText(outBytes, inBytes);
  }

  @Override
  public int inBytes() {
    return input.bytes();
  }

  @Override
  public int outBytes() {
    return output.bytes();
  }

  private static String ringText(int outBytes, int inBytes) {
    return "ring " + kib(outBytes) + "/" + kib(inBytes);
  }

  private static String kib(int bytes) {
    return (bytes >> 10) + " KiB";
  }

  // ---- resting

  /**
   * Gives back the output's ring if nothing has been written since the last time and all is read,
   * and lets go of those that the peer's output has left. Negotiation thread.
   *
   * @return whether either direction still uses a ring outside the page, or wants one
   */
  boolean rest() {
    boolean writes = output.rest();
    boolean reads = input.rest();
    return writes || reads;
  }

  /** Whether its writer has no ring outside the page, as far as this thread sees. */
  boolean hasPageAlone() {
    return output.inline();
  }

  /** Whether its writer has neither room in its page nor a ring outside. Negotiation thread. */
  boolean wantsRing() {
    return output.stuckInPage();
  }

  // ---- larger rings

  /** A direction has moved to another ring. */
  void ringsChanged() {
    owner.buffersChanged(input.bytes(), output.bytes());
  }

  /** Tells the peer's writer that its larger ring is mapped here. Negotiation thread or reader. */
  void announceRing(long generation) {
    setRelease(control, mine + ConnectionLayout.RING_READY, generation);
    SleepWord.publishBeforeLook();
    notifyPeer(getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT));
  }

  long peerRingReadyAcquire() {
    return getAcquire(control, theirs + ConnectionLayout.RING_READY);
  }
}
