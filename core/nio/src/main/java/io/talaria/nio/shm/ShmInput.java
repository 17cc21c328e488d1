// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static io.talaria.nio.shm.ConnectionLayout.getAcquire;
import static io.talaria.nio.shm.ConnectionLayout.setRelease;

import io.talaria.nio.jit.NotInlined;
import io.talaria.nio.memory.SleepWord;
import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.TransportStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One direction's reading side: copies out of the ring, follows the writer from ring to ring,
 * publishes the head, and wakes a writer that waits for space. What the peer wrote is checked: a
 * position outside its range fails this stream.
 *
 * <p>Fields are the reader's (holder of the channel's read lock), except as their comments say. As
 * in {@link ShmOutput}, the head is what counts after an error.
 */
final class ShmInput {
  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(ShmInput.class, "head", long.class);
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
  private long head;

  private long tailCache;

  /** The writer's wait for which a doorbell has been rung, or was not needed. */
  private long handledWait;

  /** Count of moves to another ring; where the next is to be made, or -1, and to which. */
  private long moves;

  private long moveAt = -1;
  private long moveTo;

  ShmInput(ShmStream stream, int side, ByteBuffer control) {
    this.stream = stream;
    this.control = control;
    ends = stream.ends();
    growth = stream.growth();
    mine = ConnectionLayout.side(side, stream.slot);
    theirs = ConnectionLayout.side(1 - side, stream.slot);
    head = ConnectionLayout.start(stream.slot);
    tailCache = head;
    ring = control;
    inlineRing = ConnectionLayout.inlineRing(1 - side);
    ringAt = inlineRing;
    ringBytes = ConnectionLayout.INLINE_RING_BYTES;
  }

  /**
   * Has it look at another control page, in which nothing is to be read. Negotiation thread, or at
   * the release.
   */
  void lookAt(ByteBuffer page) {
    control = page;
    tailCache = 0; // what is behind head cannot be read any more
  }

  /** Size of the ring. Any thread. */
  int bytes() {
    return ringBytes;
  }

  /** How far the program has read; any thread. */
  long position() {
    return (long) HEAD.getOpaque(this);
  }

  // ---- reading

  @NotInlined
  int read(ByteBuffer dst) {
    int at = dst.position();
    long start = head;
    try {
      return read(dst, at);
    } catch (InternalError e) {
      dst.position(at + (int) (head - start));
      setRelease(control, mine + ConnectionLayout.HEAD, head);
      stream.wakePeer();
      throw e;
    }
  }

  private int read(ByteBuffer dst, int at) {
    int wanted = dst.remaining();
    if (wanted == 0) {
      return 0;
    }
    long available = tailCache - head;
    if (available < wanted) {
      int reported = ends.reported();
      if (reported != 0) {
        return reported;
      }
      available = refresh();
      if (available == 0) {
        int end = end();
        available = tailCache - head;
        if (end < 0 || available <= 0) { // below 0 if the stream was just released
          return end;
        }
      } else if (available < 0) {
        return TransportStream.RESET;
      }
    }
    int n = (int) Math.min(available, wanted);
    copy(head, dst, at, n);
    publish(head + n);
    dst.position(at + n);
    return n;
  }

  /**
   * Looks how far the peer has written. Returns bytes that can be read now, negative on failure.
   */
  private long refresh() {
    long seen = getAcquire(control, theirs + ConnectionLayout.TAIL);
    long known = getAcquire(control, theirs + ConnectionLayout.MOVE_GENERATION);
    while (moveAt >= 0 || known != moves) {
      if (moveAt < 0 && !learnMove(known)) {
        return fail();
      }
      if (moveAt != head) {
        break;
      }
      if (!growth.moveInput(this, moveTo)) {
        return fail();
      }
    }
    if (seen < tailCache || (moveAt < 0 && seen - head > ringBytes)) {
      return fail();
    }
    if (moveAt >= 0 && seen > moveAt) {
      seen = moveAt;
    }
    tailCache = seen;
    return seen - head;
  }

  private int fail() {
    ends.fail();
    return TransportStream.RESET;
  }

  /** Learns where the writer left the ring that is read now. */
  private boolean learnMove(long known) {
    if (known < moves || known - moves > ConnectionLayout.MOVES) {
      return false;
    }
    long at = getAcquire(control, theirs + ConnectionLayout.moveAt(moves));
    long to = getAcquire(control, theirs + ConnectionLayout.moveTo(moves));
    if (at < tailCache || at - head > ringBytes || !growth.inputReady(to)) {
      return false;
    }
    moveTo = to;
    moveAt = at;
    return true;
  }

  /** Reads from another ring from now on. Reader. */
  void moveTo(ByteBuffer next, int bytes) {
    follow(next, 0, bytes);
  }

  /** Reads from the page again. Reader. */
  void moveToPage() {
    follow(control, inlineRing, ConnectionLayout.INLINE_RING_BYTES);
  }

  private void follow(ByteBuffer next, int at, int bytes) {
    ring = next;
    ringAt = at;
    ringBytes = bytes;
    moves++;
    moveAt = -1;
    setRelease(control, mine + ConnectionLayout.IN_MOVES, moves);
    stream.ringsChanged();
  }

  /**
   * What an empty ring means: 0 for nothing yet, END or RESET. May find bytes that came meanwhile.
   */
  private int end() {
    boolean last = ends.ended();
    if (stream.lookHowPeerEnds() == ConnectionLayout.OUT_OPEN && !last) {
      return 0;
    }
    // Nothing is written after these words, so one more look shows all there is.
    return refresh() != 0 ? 0 : ends.report(true);
  }

  private void copy(long position, ByteBuffer dst, int at, int n) {
    int index = (int) position & (ringBytes - 1);
    int first = Math.min(n, ringBytes - index);
    dst.put(at, ring, ringAt + index, first);
    if (first < n) {
      dst.put(at + first, ring, ringAt, n - first);
    }
  }

  private void publish(long position) {
    HEAD.setOpaque(this, position);
    setRelease(control, mine + ConnectionLayout.HEAD, position);
    long unread = tailCache - position;
    if (unread == 0 || unread <= ringBytes - (ringBytes >> 2)) {
      SleepWord.publishBeforeLook();
      long wait = getAcquire(control, theirs + ConnectionLayout.SPACE_WAIT);
      if (wait != handledWait && stream.notifyPeer(wait)) {
        handledWait = wait; // not before: if this ring fails, the next read has to ring
      }
    }
  }

  // ---- resting

  /**
   * Follows a writer that has left a ring, if no thread is reading, so that its memory is given
   * back. Negotiation thread.
   *
   * @return whether it still uses a ring outside the page
   */
  boolean rest() {
    if (ends.ended()) {
      return false;
    }
    if (getAcquire(control, theirs + ConnectionLayout.MOVE_GENERATION) != moves) {
      stream.owner().whileNobodyReads(this::catchUp);
    }
    return ringBytes != ConnectionLayout.INLINE_RING_BYTES;
  }

  /** As the reader. */
  private void catchUp() {
    refresh();
  }

  // ---- looking: any thread

  boolean readable() {
    return unread() || ends.ended() || stream.peerOutEndAcquire() != ConnectionLayout.OUT_OPEN;
  }

  int available() {
    if (ends.reported() != 0) {
      return 0;
    }
    long unread = getAcquire(control, theirs + ConnectionLayout.TAIL) - position();
    return (int) Math.max(0, Math.min(unread, ringBytes)); // whatever the peer says
  }

  boolean unread() {
    return ends.reported() == 0
        && getAcquire(control, theirs + ConnectionLayout.TAIL) != position();
  }
}
