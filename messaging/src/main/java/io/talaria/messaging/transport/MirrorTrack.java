// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.MirrorInlet;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A way over which both rings of a direction are copied into mirrors at the other end, in frames of
 * {@link TcpLayout}. Whoever has the output sends, straight from the ring; whoever has the input
 * receives. How bytes travel, and who has what, is the subclass's.
 */
public abstract class MirrorTrack extends Track {
  private static final long CLOSE_TOGETHER_NS = 50_000;
  private static final int OWN_PUSHES = 3;

  /** Whom to tell. */
  protected final TrackOwner owner;

  private final String why;
  private final int mark;
  private final RingProducer[] out = new RingProducer[Lane.COUNT];
  private final RingConsumer[] sender = new RingConsumer[Lane.COUNT];
  private final MirrorInlet[] in = new MirrorInlet[Lane.COUNT];

  /** Up to where the other end has room, and what was begun to be sent; positions. */
  private final AtomicLongArray credit = new AtomicLongArray(Lane.COUNT);

  private final AtomicLongArray sent = new AtomicLongArray(Lane.COUNT);

  // Of whoever has the output.
  private final long[] toldHead = new long[Lane.COUNT];
  private long toldDelivered;
  private int runStart;
  private int runBytes;

  // Own pushes of senders; races cost a push.
  private long lastPushNs;
  private int pushes;

  // Of whoever has the input: the frame of data that is being taken.
  private int awaited;
  private int skipped;
  private int arrived;
  private int lane;

  /** The other end's word about our bulk. */
  private volatile long delivered;

  /** All was sent, and the other end was told; of whoever has the output. */
  protected boolean finished;

  /** Nothing more will be put into the rings out. */
  protected volatile boolean finishing;

  /** The other end has ended. */
  protected volatile boolean over;

  /**
   * Makes rings and mirrors.
   *
   * @param why it is this transport
   * @param mark what each frame's header ends with
   * @param outCapacity of each lane here, in bytes
   * @param inCapacity of each lane at the other end
   */
  protected MirrorTrack(
      TrackOwner owner, String why, int mark, int[] outCapacity, int[] inCapacity) {
    this.owner = owner;
    this.why = why;
    this.mark = mark;
    for (int i = 0; i < Lane.COUNT; i++) {
      MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(outCapacity[i]), 128);
      out[i] = new RingProducer(ring, outCapacity[i]);
      sender[i] = new RingConsumer(ring, outCapacity[i]);
      in[i] = new MirrorInlet(Arena.ofAuto().allocate(inCapacity[i], 128));
    }
  }

  @Override
  public final String reason() {
    return why;
  }

  @Override
  public final boolean copies() {
    return true;
  }

  @Override
  public final RingProducer out(int lane) {
    return out[lane];
  }

  @Override
  public final Inlet in(int lane) {
    return in[lane];
  }

  /** The end of a ring out from which is sent. */
  protected final RingConsumer sender(int lane) {
    return sender[lane];
  }

  /** Where what comes for a lane is put. */
  protected final MirrorInlet mirror(int lane) {
    return in[lane];
  }

  // ---- sending

  /** Takes the output, if nobody has it. */
  protected abstract boolean enterOutput();

  /** Gives it back. */
  protected abstract void exitOutput();

  /** Whether something is left to send that is in no ring; with the output. */
  protected abstract boolean pending();

  /** Whether what is left in the rings cannot be sent for now, and somebody looks after that. */
  protected boolean stuck() {
    return blocked();
  }

  /** It cannot be used any more. */
  protected abstract void fail(String reason);

  /** The sender pushes by itself, but after some pushes close together the poller shall batch. */
  @Override
  public final void wakePeer() {
    long now = System.nanoTime();
    pushes = now - lastPushNs < CLOSE_TOGETHER_NS ? pushes + 1 : 0;
    lastPushNs = now;
    if (pushes >= OWN_PUSHES) {
      owner.wakePoller();
      return;
    }
    boolean unused = pushArmed();
  }

  /** Pushes while the poller sleeps, and leaves the rings armed, so that the next sender pushes. */
  private boolean pushArmed() {
    boolean done = false;
    do {
      done |= push();
      if (!enterOutput()) {
        owner.wakePoller(); // somebody pushes who may not arm
        return done;
      }
      try {
        armSenders();
        if (nothingToSend()) {
          return done;
        }
      } catch (RingBrokenException e) {
        fail(e.getMessage());
      } finally {
        exitOutput();
      }
    } while (!stuck() && !over);
    owner.wakePoller();
    return done;
  }

  private void armSenders() {
    for (RingConsumer each : sender) {
      each.arm();
    }
  }

  /** With the output. Beyond the credit, only news of it is of use. */
  private boolean nothingToSend() {
    if (pending() || (!finished && creditUntold())) {
      return false;
    }
    for (int i = 0; i < Lane.COUNT && !finished; i++) {
      int found = sender[i].peekWithPads();
      if (found != 0 && fits(i, Math.abs(found))) {
        return false;
      }
    }
    return true;
  }

  private boolean fits(int lane, int bytes) {
    long used = RingLayout.distance(credit.get(lane), sender[lane].position());
    return (used << 3) + bytes <= out[lane].capacity();
  }

  private boolean creditUntold() {
    return in[Lane.BULK].published() != toldHead[Lane.BULK]
        || in[Lane.EXPRESS].published() != toldHead[Lane.EXPRESS]
        || in[Lane.BULK].delivered() != toldDelivered;
  }

  /**
   * Writes a frame of credit, if there is news; false if not. With the output.
   *
   * @param to where it goes, little-endian
   * @param at from where on; {@link TcpLayout#CREDIT_FRAME_BYTES}
   */
  protected final boolean takeCredit(ByteBuffer to, int at) {
    if (!creditUntold()) {
      return false;
    }
    toldHead[Lane.BULK] = in[Lane.BULK].published();
    toldHead[Lane.EXPRESS] = in[Lane.EXPRESS].published();
    toldDelivered = in[Lane.BULK].delivered();
    writeHeader(to, at, TcpLayout.CREDIT, 0, TcpLayout.CREDIT_BYTES, 0);
    int body = at + TcpLayout.HEADER_BYTES;
    to.putLong(body, toldHead[Lane.BULK]);
    to.putLong(body + Long.BYTES, toldHead[Lane.EXPRESS]);
    to.putLong(body + 2 * Long.BYTES, toldDelivered);
    return true;
  }

  /** Writes a frame's header. */
  protected final void writeHeader(
      ByteBuffer to, int at, byte kind, int lane, int length, int skipped) {
    to.putInt(at + TcpLayout.LENGTH, length);
    to.putInt(at + TcpLayout.SKIPPED, skipped);
    to.put(at + TcpLayout.KIND, kind);
    to.put(at + TcpLayout.LANE, (byte) lane);
    to.putShort(at + TcpLayout.LANE + 1, (short) 0);
    to.putInt(at + TcpLayout.MAGIC_AT, mark);
  }

  /**
   * Takes the next records of a lane that the other end has room for, and writes the header of
   * their frame; false if there are none. {@link #runStart} and {@link #runBytes} say where they
   * lie in the memory of {@link #sender}. With the output.
   */
  protected final boolean takeRun(int lane, ByteBuffer to, int at) {
    RingConsumer from = sender[lane];
    int found = from.peekWithPads();
    if (found == 0 || !fits(lane, Math.abs(found))) {
      return false;
    }
    int start = (int) from.offset();
    int run = 0;
    int skip = 0;
    int end = (int) from.memory().byteSize();
    while (found != 0
        && (run + Math.abs(found) <= TcpLayout.MAX_DATA || run == 0)
        && fits(lane, Math.abs(found))) {
      from.advance();
      if (found < 0) {
        skip = -found;
        break;
      }
      run += found;
      if (start + run == end) {
        break; // the end of the ring
      }
      found = from.peekWithPads();
    }
    sent.set(lane, from.position());
    writeHeader(to, at, TcpLayout.DATA, lane, run, skip);
    runStart = start;
    runBytes = run;
    return true;
  }

  /** See {@link #takeRun}. */
  protected final int runStart() {
    return runStart;
  }

  /** See {@link #takeRun}. May be 0: pads alone. */
  protected final int runBytes() {
    return runBytes;
  }

  @Override
  public final boolean armOutput() {
    if (!enterOutput()) {
      return false;
    }
    try {
      armSenders();
      return stuck() || over || nothingToSend();
    } finally {
      exitOutput();
    }
  }

  @Override
  public final void disarmOutput() {
    if (enterOutput()) {
      for (RingConsumer each : sender) {
        each.disarm();
      }
      exitOutput();
    }
  }

  @Override
  public final void finishOutput() {
    finishing = true;
    boolean unused = push();
  }

  // ---- receiving

  /**
   * Takes a frame's header, and the rest of a frame of credit.
   *
   * @param from little-endian
   * @param at where the header begins
   * @param have how many bytes from there on have come, at least {@link TcpLayout#HEADER_BYTES}
   * @return how many bytes belong together, or 0: not all of them have come. Of data, {@link
   *     #awaited} bytes follow
   */
  protected final int takeHeader(ByteBuffer from, int at, int have) {
    int length = from.getInt(at + TcpLayout.LENGTH);
    int skip = from.getInt(at + TcpLayout.SKIPPED);
    byte kind = from.get(at + TcpLayout.KIND);
    int where = from.get(at + TcpLayout.LANE);
    int marked = from.getInt(at + TcpLayout.MAGIC_AT);
    if (marked != mark) {
      throw new RingBrokenException("a frame begins with " + Integer.toHexString(marked));
    }
    if (kind == TcpLayout.CREDIT && length == TcpLayout.CREDIT_BYTES) {
      if (have < TcpLayout.CREDIT_FRAME_BYTES) {
        return 0;
      }
      int body = at + TcpLayout.HEADER_BYTES;
      credit(Lane.BULK, from.getLong(body));
      credit(Lane.EXPRESS, from.getLong(body + Long.BYTES));
      delivered(from.getLong(body + 2 * Long.BYTES));
      owner.wakeWaiters();
      return TcpLayout.CREDIT_FRAME_BYTES;
    }
    if (kind != TcpLayout.DATA || where < 0 || where >= Lane.COUNT) {
      throw new RingBrokenException("a frame of kind " + kind + " for lane " + where);
    }
    if (!in[where].accepts(length, skip)) {
      throw new RingBrokenException(
          "a frame of " + length + " bytes and " + skip + " skipped, for which there is no room");
    }
    lane = where;
    skipped = skip;
    awaited = length;
    arrived = 0;
    if (length == 0) {
      in[where].wrote(0, skip);
    }
    return TcpLayout.HEADER_BYTES;
  }

  /** How many bytes of the frame's data are still to come. */
  protected final int awaited() {
    return awaited - arrived;
  }

  /** Whose data they are. */
  protected final int awaitedLane() {
    return lane;
  }

  /** Where in the memory of {@link #mirror} the next of them belongs. */
  protected final int place() {
    return in[lane].writeOffset() + arrived;
  }

  /** So many more were put there. */
  protected final void arrived(int bytes) {
    arrived += bytes;
    if (arrived == awaited) {
      awaited = 0;
      int all = arrived;
      arrived = 0;
      in[lane].wrote(all, skipped);
    }
  }

  private void credit(int lane, long head) {
    long old = credit.get(lane);
    if (RingLayout.distance(old, head) > RingLayout.distance(old, sent.get(lane))) {
      throw new RingBrokenException(
          "credit of lane " + lane + " is " + head + ", beyond what was sent, " + sent.get(lane));
    }
    credit.set(lane, head);
  }

  private void delivered(long position) {
    if (RingLayout.distance(delivered, position)
        > RingLayout.distance(delivered, sent.get(Lane.BULK))) {
      throw new RingBrokenException("delivered is " + position + ", beyond what was sent");
    }
    delivered = position;
    sender[Lane.BULK].publishDelivered(position);
  }

  /** No more comes. */
  protected final void end() {
    over = true;
    in[Lane.BULK].end();
    in[Lane.EXPRESS].end();
  }

  @Override
  public final void arm(int lane) {
    // What comes wakes by other means than a word in memory.
  }

  @Override
  public final void disarm(int lane) {
    // As above.
  }

  /** What is taken of bulk is told with the poller's next push; of express, leaders take, too. */
  @Override
  public final void published(int lane) {
    if (lane == Lane.EXPRESS) {
      boolean unused = push();
    }
  }

  @Override
  public final boolean over() {
    return over;
  }

  @Override
  public final boolean severed() {
    return over;
  }
}
