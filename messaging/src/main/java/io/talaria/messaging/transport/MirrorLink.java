// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.MirrorReceiver;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.ring.RingReceiver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A way over which both rings of a direction are copied into mirrors at the other end, in frames of
 * {@link TcpLayout}. Whoever has the output sends, straight from the ring; whoever has the input
 * receives. How bytes travel, and who has what, is the subclass's.
 */
public abstract class MirrorLink extends Link {
  private static final long CLOSE_TOGETHER_NS = 50_000;
  private static final int OWN_PUSHES = 3;

  /** Whom to tell. */
  protected final LinkOwner owner;

  private final String why;
  private final int mark;
  private final RingProducer[] out = new RingProducer[RingPair.COUNT];
  private final RingConsumer[] sender = new RingConsumer[RingPair.COUNT];
  private final MirrorReceiver[] in = new MirrorReceiver[RingPair.COUNT];

  /** Up to where the other end has room, and what was begun to be sent; positions. */
  private final AtomicLongArray credit = new AtomicLongArray(RingPair.COUNT);

  private final AtomicLongArray sent = new AtomicLongArray(RingPair.COUNT);

  // Of whoever has the output.
  private final long[] toldHead = new long[RingPair.COUNT];
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
  private int priority;

  /** The other end's word about our data ring. */
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
   * @param outCapacity of the ring of each priority here, in bytes
   * @param inCapacity of the ring of each priority at the other end
   */
  protected MirrorLink(LinkOwner owner, String why, int mark, int[] outCapacity, int[] inCapacity) {
    this.owner = owner;
    this.why = why;
    this.mark = mark;
    for (int i = 0; i < RingPair.COUNT; i++) {
      MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(outCapacity[i]), 128);
      out[i] = new RingProducer(ring, outCapacity[i]);
      sender[i] = new RingConsumer(ring, outCapacity[i]);
      in[i] = new MirrorReceiver(Arena.ofAuto().allocate(inCapacity[i], 128));
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
  public final RingProducer out(int priority) {
    return out[priority];
  }

  @Override
  public final RingReceiver in(int priority) {
    return in[priority];
  }

  /** The end of a ring out from which is sent. */
  protected final RingConsumer sender(int priority) {
    return sender[priority];
  }

  /** Where what comes for a priority is put. */
  protected final MirrorReceiver mirror(int priority) {
    return in[priority];
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
    pushArmed();
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
    for (int i = 0; i < RingPair.COUNT && !finished; i++) {
      int found = sender[i].peekWithPads();
      if (found != 0 && fits(i, Math.abs(found))) {
        return false;
      }
    }
    return true;
  }

  private boolean fits(int priority, int bytes) {
    long used = RingLayout.distance(credit.get(priority), sender[priority].position());
    return (used << 3) + bytes <= out[priority].capacity();
  }

  private boolean creditUntold() {
    return in[RingPair.DATA].published() != toldHead[RingPair.DATA]
        || in[RingPair.CONTROL].published() != toldHead[RingPair.CONTROL]
        || in[RingPair.DATA].delivered() != toldDelivered;
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
    toldHead[RingPair.DATA] = in[RingPair.DATA].published();
    toldHead[RingPair.CONTROL] = in[RingPair.CONTROL].published();
    toldDelivered = in[RingPair.DATA].delivered();
    writeHeader(to, at, TcpLayout.CREDIT, 0, TcpLayout.CREDIT_BYTES, 0);
    int body = at + TcpLayout.HEADER_BYTES;
    to.putLong(body, toldHead[RingPair.DATA]);
    to.putLong(body + Long.BYTES, toldHead[RingPair.CONTROL]);
    to.putLong(body + 2 * Long.BYTES, toldDelivered);
    return true;
  }

  /** Writes a frame's header. */
  protected final void writeHeader(
      ByteBuffer to, int at, byte kind, int priority, int length, int skipped) {
    to.putInt(at + TcpLayout.LENGTH, length);
    to.putInt(at + TcpLayout.SKIPPED, skipped);
    to.put(at + TcpLayout.KIND, kind);
    to.put(at + TcpLayout.PRIORITY, (byte) priority);
    to.putShort(at + TcpLayout.PRIORITY + 1, (short) 0);
    to.putInt(at + TcpLayout.MAGIC_AT, mark);
  }

  /**
   * Takes the next records of a priority that the other end has room for, and writes the header of
   * their frame; false if there are none. {@link #runStart} and {@link #runBytes} say where they
   * lie in the memory of {@link #sender}. With the output.
   */
  protected final boolean takeRun(int priority, ByteBuffer to, int at) {
    RingConsumer from = sender[priority];
    int found = from.peekWithPads();
    if (found == 0 || !fits(priority, Math.abs(found))) {
      return false;
    }
    int start = (int) from.offset();
    int run = 0;
    int skip = 0;
    int end = (int) from.memory().byteSize();
    while (found != 0
        && (run + Math.abs(found) <= TcpLayout.MAX_DATA || run == 0)
        && fits(priority, Math.abs(found))) {
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
    sent.set(priority, from.position());
    writeHeader(to, at, TcpLayout.DATA, priority, run, skip);
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
    push();
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
    int where = from.get(at + TcpLayout.PRIORITY);
    int marked = from.getInt(at + TcpLayout.MAGIC_AT);
    if (marked != mark) {
      throw new RingBrokenException("a frame begins with " + Integer.toHexString(marked));
    }
    if (kind == TcpLayout.CREDIT && length == TcpLayout.CREDIT_BYTES) {
      if (have < TcpLayout.CREDIT_FRAME_BYTES) {
        return 0;
      }
      int body = at + TcpLayout.HEADER_BYTES;
      credit(RingPair.DATA, from.getLong(body));
      credit(RingPair.CONTROL, from.getLong(body + Long.BYTES));
      delivered(from.getLong(body + 2 * Long.BYTES));
      owner.wakeWaiters();
      return TcpLayout.CREDIT_FRAME_BYTES;
    }
    if (kind != TcpLayout.DATA || where < 0 || where >= RingPair.COUNT) {
      throw new RingBrokenException("a frame of kind " + kind + " for priority " + where);
    }
    if (!in[where].accepts(length, skip)) {
      throw new RingBrokenException(
          "a frame of " + length + " bytes and " + skip + " skipped, for which there is no room");
    }
    priority = where;
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
  protected final int awaitedPriority() {
    return priority;
  }

  /** Where in the memory of {@link #mirror} the next of them belongs. */
  protected final int place() {
    return in[priority].writeOffset() + arrived;
  }

  /** So many more were put there. */
  protected final void arrived(int bytes) {
    arrived += bytes;
    if (arrived == awaited) {
      awaited = 0;
      int all = arrived;
      arrived = 0;
      in[priority].wrote(all, skipped);
    }
  }

  private void credit(int priority, long head) {
    long old = credit.get(priority);
    if (RingLayout.distance(old, head) > RingLayout.distance(old, sent.get(priority))) {
      throw new RingBrokenException(
          "credit of priority "
              + priority
              + " is "
              + head
              + ", beyond what was sent, "
              + sent.get(priority));
    }
    credit.set(priority, head);
  }

  private void delivered(long position) {
    if (RingLayout.distance(delivered, position)
        > RingLayout.distance(delivered, sent.get(RingPair.DATA))) {
      throw new RingBrokenException("delivered is " + position + ", beyond what was sent");
    }
    delivered = position;
    sender[RingPair.DATA].publishDelivered(position);
  }

  /** No more comes. */
  protected final void end() {
    over = true;
    in[RingPair.DATA].end();
    in[RingPair.CONTROL].end();
  }

  @Override
  public final void arm(int priority) {
    // What comes wakes by other means than a word in memory.
  }

  @Override
  public final void disarm(int priority) {
    // As above.
  }

  /**
   * What is taken of the data ring is told with the poller's next push; of the control ring,
   * leaders take, too.
   */
  @Override
  public final void published(int priority) {
    if (priority == RingPair.CONTROL) {
      push();
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
