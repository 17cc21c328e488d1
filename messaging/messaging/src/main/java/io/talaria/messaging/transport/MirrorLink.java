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
 * A link that copies both rings of a direction into mirrors at the other end, in frames of {@link
 * TcpLayout}. The holder of the output sends, straight from the ring; the holder of the input
 * receives. The subclass defines how bytes are carried and how a thread becomes a holder. Both
 * directions are one class, because what is sent tells how far what was received has been read.
 */
public abstract class MirrorLink extends Link {
  private static final long CLOSE_TOGETHER_NS = 50_000;
  private static final int OWN_PUSHES = 3;

  /** Receives the events of this link. */
  protected final LinkOwner owner;

  private final String why;
  private final int mark;
  private final RingProducer[] out = new RingProducer[RingPair.COUNT];
  private final RingConsumer[] sender = new RingConsumer[RingPair.COUNT];
  private final MirrorReceiver[] in = new MirrorReceiver[RingPair.COUNT];

  /**
   * For each ring, the position up to which the other end has room, and the position up to which
   * sending has begun.
   */
  private final AtomicLongArray credit = new AtomicLongArray(RingPair.COUNT);

  private final AtomicLongArray sent = new AtomicLongArray(RingPair.COUNT);

  // Only for the holder of the output.
  private final long[] toldHead = new long[RingPair.COUNT];
  private long toldDelivered;
  private int runStart;
  private int runBytes;
  private boolean controlWasFirst;

  // Counts pushes by senders that are close together. A race between senders costs at most a push.
  private long lastPushNs;
  private int pushes;

  // Only for the holder of the input: the data frame that is being received.
  private int awaited;
  private int skipped;
  private int arrived;
  private int priority;

  /** Whether anything has come that only the poller can use: data records, or credit. */
  private boolean forPoller;

  /** The delivered position of our data ring, as the other end has reported it. */
  private volatile long delivered;

  /**
   * Nothing more is sent: the other end was told that everything was, or sending has failed. Only
   * for the holder of the output.
   */
  protected boolean finished;

  /** No more records will be written into the outgoing rings. */
  protected volatile boolean finishing;

  /** The other end has ended. */
  protected volatile boolean over;

  /**
   * Creates rings and mirrors.
   *
   * @param why the connection uses this transport
   * @param mark the last word of each frame's header
   * @param outCapacity of the ring of each priority here, in bytes
   * @param inCapacity of the ring of each priority at the other end, in bytes
   */
  protected MirrorLink(LinkOwner owner, String why, int mark, int[] outCapacity, int[] inCapacity) {
    this(owner, why, mark, rings(outCapacity), outCapacity, inCapacity);
  }

  private static MemorySegment[] rings(int[] capacity) {
    MemorySegment[] rings = new MemorySegment[RingPair.COUNT];
    for (int i = 0; i < RingPair.COUNT; i++) {
      rings[i] = Arena.ofAuto().allocate(RingLayout.bytes(capacity[i]), 128);
    }
    return rings;
  }

  /**
   * Creates mirrors for rings in given memory.
   *
   * @param rings zeroed, of {@link RingLayout#bytes} for each capacity
   */
  protected MirrorLink(
      LinkOwner owner,
      String why,
      int mark,
      MemorySegment[] rings,
      int[] outCapacity,
      int[] inCapacity) {
    this.owner = owner;
    this.why = why;
    this.mark = mark;
    for (int i = 0; i < RingPair.COUNT; i++) {
      out[i] = new RingProducer(rings[i], outCapacity[i]);
      sender[i] = new RingConsumer(rings[i], outCapacity[i]);
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

  /** The consumer that removes the records to send from an outgoing ring. */
  protected final RingConsumer sender(int priority) {
    return sender[priority];
  }

  /** The mirror into which received records of a priority are written. */
  protected final MirrorReceiver mirror(int priority) {
    return in[priority];
  }

  // ---- sending

  /** Becomes the holder of the output; false if another thread is. */
  protected abstract boolean enterOutput();

  /** Gives up the output. */
  protected abstract void exitOutput();

  /** Whether something that is in no ring still has to be sent. Holder of the output. */
  protected abstract boolean pending();

  /**
   * Whether the records in the rings cannot be sent for now, and another mechanism will send them
   * later.
   */
  protected boolean stuck() {
    return blocked();
  }

  /** Ends the link because of an error. */
  protected abstract void fail(String reason);

  /** Has another thread push this link soon. Any thread. */
  protected void pushLater() {
    owner.wakePoller();
  }

  /** The maximum bytes of records in a frame, unless a single record is longer. */
  protected int maxData() {
    return TcpLayout.MAX_DATA;
  }

  /**
   * Pushes on the calling thread, which is fastest. After several pushes close together it leaves
   * that to another thread, which sends many records at once.
   */
  @Override
  public final void wakePeer() {
    long now = System.nanoTime();
    pushes = now - lastPushNs < CLOSE_TOGETHER_NS ? pushes + 1 : 0;
    lastPushNs = now;
    if (pushes >= OWN_PUSHES) {
      pushLater();
      return;
    }
    pushArmed();
  }

  @Override
  public final void wakePeerAtOnce() {
    pushArmed();
  }

  /**
   * Pushes while the thread that usually does so sleeps. Leaves the rings armed, so that the next
   * sender pushes, too.
   */
  protected final boolean pushArmed() {
    boolean done = false;
    do {
      done |= push();
      if (!enterOutput()) {
        pushLater(); // the thread that pushes may not arm
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
    pushLater();
    return done;
  }

  private void armSenders() {
    for (RingConsumer each : sender) {
      each.arm();
    }
  }

  /**
   * Whether the poller may sleep. Records beyond the credit do not count: only a new credit can
   * change that. Holder of the output.
   */
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
   * Writes a credit frame if positions have changed; otherwise returns false. Holder of the output.
   *
   * @param to little-endian
   * @param at where the frame begins; it has {@link TcpLayout#CREDIT_FRAME_BYTES}
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

  /** Writes the header of a frame. */
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
   * Removes the next records of a priority for which the other end has room, and writes the header
   * of their frame; false if there are none. {@link #runStart} and {@link #runBytes} tell where
   * they are in the memory of {@link #sender}. Holder of the output.
   */
  protected final boolean takeRun(int priority, ByteBuffer to, int at) {
    return takeRun(priority, to, at, maxData());
  }

  private boolean takeRun(int priority, ByteBuffer to, int at, int maxBytes) {
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
        && (run + Math.abs(found) <= maxBytes || run == 0)
        && fits(priority, Math.abs(found))) {
      from.advance();
      if (found < 0) {
        skip = -found;
        break;
      }
      run += found;
      if (start + run == end) {
        break; // a frame does not cross the end of the ring
      }
      found = from.peekWithPads();
    }
    sent.set(priority, from.position());
    writeHeader(to, at, TcpLayout.DATA, priority, run, skip);
    runStart = start;
    runBytes = run;
    return true;
  }

  /**
   * Like {@link #takeRun} for one record of the control ring, if there is credit to tell; call
   * before {@link #takeCredit}. A thread may wait for a response, and the credit for its request
   * can come after it. Not twice in a row, so that responses do not hold credit back. Holder of the
   * output.
   */
  protected final boolean takeControlFirst(ByteBuffer to, int at) {
    // The seal is looked at after the record: so that is not GOODBYE, which follows the seal, and
    // behind which the other end expects no credit for what was delivered before.
    controlWasFirst =
        !controlWasFirst
            && creditUntold()
            && sender[RingPair.CONTROL].peekWithPads() != 0
            && !out[RingPair.DATA].sealed()
            && takeRun(RingPair.CONTROL, to, at, 0);
    return controlWasFirst;
  }

  /** The offset of the records of the last {@link #takeRun}. */
  protected final int runStart() {
    return runStart;
  }

  /** The bytes of the records of the last {@link #takeRun}; 0 if there were only pads. */
  protected final int runBytes() {
    return runBytes;
  }

  /** Whether records are being sent that were not yet removed from the outgoing rings. */
  protected final boolean sends() {
    for (RingConsumer each : sender) {
      if (each.unpublishedBytes() != 0) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean armOutput() {
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
  public void disarmOutput() {
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
   * Parses the header of a frame, and the rest of a credit frame.
   *
   * @param from little-endian
   * @param at where the header begins
   * @param have how many bytes have arrived from there on, at least {@link TcpLayout#HEADER_BYTES}
   * @return how many bytes were parsed, or 0 if more must arrive first. After the header of a data
   *     frame, {@link #awaited} bytes of records follow
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
      forPoller = true;
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
      forPoller |= where == RingPair.DATA;
    }
    return TcpLayout.HEADER_BYTES;
  }

  /** How many bytes of the current data frame have not been copied yet. */
  protected final int awaited() {
    return awaited - arrived;
  }

  /** The priority of the current data frame. */
  protected final int awaitedPriority() {
    return priority;
  }

  /** The offset in the memory of {@link #mirror} for the next bytes of the current data frame. */
  protected final int place() {
    return in[priority].writeOffset() + arrived;
  }

  /**
   * Lends the bytes of the current data frame to the reader of its priority, instead of copying
   * them; false if they must be copied. By that reader.
   *
   * @param lender gets the buffer back
   * @param buffer its number
   * @param from the memory of the buffer
   * @param offset of the frame's records there
   */
  protected final boolean lend(
      MirrorReceiver.Lender lender, int buffer, MemorySegment from, long offset) {
    if (!in[priority].lend(lender, buffer, from, offset, awaited, skipped)) {
      return false;
    }
    awaited = 0;
    return true;
  }

  /** Call after copying so many bytes to {@link #place}. */
  protected final void arrived(int bytes) {
    arrived += bytes;
    if (arrived == awaited) {
      awaited = 0;
      int all = arrived;
      arrived = 0;
      in[priority].wrote(all, skipped);
      forPoller |= priority == RingPair.DATA;
    }
  }

  /**
   * Whether anything has come since the last call that only the poller can use. Holder of the
   * input.
   */
  protected final boolean cameForPoller() {
    boolean came = forPoller;
    forPoller = false;
    return came;
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

  /** Records that nothing more arrives. */
  protected final void end() {
    over = true;
    in[RingPair.DATA].end();
    in[RingPair.CONTROL].end();
  }

  @Override
  public final void arm(int priority) {
    // Not needed: arriving bytes wake the reader without a word in memory.
  }

  @Override
  public final void disarm(int priority) {
    // Not needed, see arm().
  }

  /**
   * Sends the credit of the control ring at once, because threads that wait for a response remove
   * records from it, too. The poller's next push sends the credit of the data ring.
   */
  @Override
  public void published(int priority) {
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

  @Override
  public final void sever() {
    end();
  }
}
