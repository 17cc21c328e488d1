// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.road;

import io.talaria.messaging.ring.Inlet;
import io.talaria.messaging.ring.MirrorInlet;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.ring.RingConsumer;
import io.talaria.messaging.ring.RingLayout;
import io.talaria.messaging.ring.RingProducer;
import io.talaria.messaging.wire.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A connection over which both rings of a direction are copied into mirrors at the other end.
 * Whoever has the output lock sends, straight from the ring; whoever has the inlet lock receives.
 */
public final class StreamTrack extends Track {
  private static final int STAGE_BYTES = 256 << 10;
  private static final long CLOSE_TOGETHER_NS = 50_000;
  private static final int OWN_PUSHES = 3;

  private final TrackOwner owner;
  private final SocketChannel session;
  private final Wire wire;
  private final String why;
  private final RingProducer[] out = new RingProducer[Lane.COUNT];
  private final RingConsumer[] sender = new RingConsumer[Lane.COUNT];
  private final ByteBuffer[] ringBytes = new ByteBuffer[Lane.COUNT];
  private final MirrorInlet[] in = new MirrorInlet[Lane.COUNT];
  private final ByteBuffer[] mirrorBytes = new ByteBuffer[Lane.COUNT];

  /** Up to where the other end has room, and what was begun to be sent; positions. */
  private final AtomicLongArray credit = new AtomicLongArray(Lane.COUNT);

  private final AtomicLongArray sent = new AtomicLongArray(Lane.COUNT);

  // Output; under its lock.
  private final AtomicBoolean outputLock = new AtomicBoolean();
  private final ByteBuffer header = little(StreamLayout.HEADER_BYTES + StreamLayout.CREDIT_BYTES);
  private final ByteBuffer[] frame = new ByteBuffer[2];
  private boolean pending;
  private int pendingLane;
  private boolean finished;
  private final long[] toldHead = new long[Lane.COUNT];
  private long toldTaken;
  private volatile boolean again;
  private volatile boolean finishing;
  private volatile boolean blocked;
  private volatile boolean over;

  // Own pushes of senders; races cost a push.
  private long lastPushNs;
  private int pushes;

  // Input; under the connection's inlet lock.
  private final ByteBuffer stage;
  private int awaited;
  private int skipped;
  private int lane;

  /** The other end's word about our bulk. */
  private volatile long taken;

  /**
   * Makes both ends of this side.
   *
   * @param session connected, non-blocking
   * @param wire what its bytes go through
   * @param first what was read of the other end's frames already
   * @param why it is this road
   * @param outCapacity of each lane here, in bytes
   * @param inCapacity of each lane at the other end
   */
  public StreamTrack(
      TrackOwner owner,
      SocketChannel session,
      Wire wire,
      ByteBuffer first,
      String why,
      int[] outCapacity,
      int[] inCapacity) {
    this.owner = owner;
    this.session = session;
    this.wire = wire;
    this.why = why;
    for (int i = 0; i < Lane.COUNT; i++) {
      MemorySegment ring = Arena.ofAuto().allocate(RingLayout.bytes(outCapacity[i]), 128);
      out[i] = new RingProducer(ring, outCapacity[i]);
      sender[i] = new RingConsumer(ring, outCapacity[i]);
      ringBytes[i] = ring.asByteBuffer();
      MemorySegment mirror = Arena.ofAuto().allocate(inCapacity[i], 128);
      in[i] = new MirrorInlet(mirror);
      mirrorBytes[i] = mirror.asByteBuffer();
    }
    frame[0] = header;
    frame[1] = ringBytes[0];
    stage = little(Math.max(STAGE_BYTES, first.remaining()));
    stage.put(first);
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public String road() {
    return "stream";
  }

  @Override
  public String reason() {
    return why;
  }

  @Override
  public RingProducer out(int lane) {
    return out[lane];
  }

  @Override
  public Inlet in(int lane) {
    return in[lane];
  }

  @Override
  public SocketChannel session() {
    return session;
  }

  /** The sender pushes by itself, but after some pushes close together the poller shall batch. */
  @Override
  public void wakePeer() {
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
      if (!outputLock.compareAndSet(false, true)) {
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
        outputLock.set(false);
      }
    } while (!blocked && !over);
    owner.wakePoller();
    return done;
  }

  private void armSenders() {
    for (RingConsumer each : sender) {
      each.arm();
    }
  }

  /** Under the output lock. Beyond the credit, only news of it is of use. */
  private boolean nothingToSend() {
    if (pending || wire.pending() || (!finished && creditUntold())) {
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

  @Override
  public boolean push() {
    again = true;
    boolean done = false;
    while (again && !over) {
      if (!outputLock.compareAndSet(false, true)) {
        return done; // who has it looks once more
      }
      again = false;
      try {
        done |= pushLocked();
      } catch (IOException e) {
        fail("cannot send: " + e);
      } catch (RingBrokenException e) {
        fail(e.getMessage());
      } finally {
        outputLock.set(false);
      }
      VarHandle.fullFence();
      if (blocked) {
        break;
      }
    }
    return done;
  }

  private boolean pushLocked() throws IOException {
    boolean done = false;
    while (!over && !finished) {
      if (wire.pending() && !wire.flush()) {
        block();
        return done;
      }
      if (!pending && !prepare()) {
        if (finishing) {
          finish();
        }
        return done;
      }
      long left = (long) header.remaining() + frame[1].remaining();
      long wrote = wire.write(frame);
      done |= wrote > 0;
      if (wrote < left) {
        block();
        return done;
      }
      pending = false;
      blocked = false;
      if (pendingLane >= 0) {
        sender[pendingLane].publish();
        if (sender[pendingLane].mustWake()) {
          owner.wakeWaiters();
        }
      }
    }
    return done;
  }

  private void block() {
    if (!blocked) {
      blocked = true;
      owner.wakePoller(); // it waits for the session
    }
  }

  private boolean prepare() {
    return prepareCredit() || prepareData(Lane.EXPRESS) || prepareData(Lane.BULK);
  }

  private boolean creditUntold() {
    return in[Lane.BULK].published() != toldHead[Lane.BULK]
        || in[Lane.EXPRESS].published() != toldHead[Lane.EXPRESS]
        || in[Lane.BULK].taken() != toldTaken;
  }

  private boolean prepareCredit() {
    if (!creditUntold()) {
      return false;
    }
    long bulk = in[Lane.BULK].published();
    long express = in[Lane.EXPRESS].published();
    long told = in[Lane.BULK].taken();
    toldHead[Lane.BULK] = bulk;
    toldHead[Lane.EXPRESS] = express;
    toldTaken = told;
    begin(StreamLayout.CREDIT, 0, StreamLayout.CREDIT_BYTES, 0);
    header.putLong(bulk).putLong(express).putLong(told).flip();
    frame[1] = ringBytes[0];
    frame[1].limit(0);
    pendingLane = -1;
    return true;
  }

  private void begin(byte kind, int lane, int length, int skipped) {
    header.clear();
    header.putInt(length).putInt(skipped).put(kind).put((byte) lane).putShort((short) 0);
    header.putInt(StreamLayout.MAGIC);
    pending = true;
  }

  private boolean prepareData(int lane) {
    RingConsumer from = sender[lane];
    int found = from.peekWithPads();
    if (found == 0 || !fits(lane, Math.abs(found))) {
      return false;
    }
    int start = (int) from.offset();
    int run = 0;
    int skip = 0;
    int capacity = out[lane].capacity();
    int data = (int) from.memory().byteSize() - capacity;
    while (found != 0
        && (run + Math.abs(found) <= StreamLayout.MOST_DATA || run == 0)
        && fits(lane, Math.abs(found))) {
      from.advance();
      if (found < 0) {
        skip = -found;
        break;
      }
      run += found;
      if (start + run == data + capacity) {
        break; // the end of the ring
      }
      found = from.peekWithPads();
    }
    sent.set(lane, from.position());
    begin(StreamLayout.DATA, lane, run, skip);
    header.flip();
    frame[1] = ringBytes[lane];
    frame[1].clear();
    frame[1].position(start).limit(start + run);
    pendingLane = lane;
    return true;
  }

  @Override
  public boolean blocked() {
    return blocked;
  }

  @Override
  public void unblock() {
    blocked = false;
  }

  @Override
  public boolean pull() {
    boolean came = false;
    try {
      while (!over) {
        int got = wire.read(stage);
        if (got < 0) {
          end();
          return came;
        }
        came |= got > 0;
        boolean full = !stage.hasRemaining();
        parse();
        if (!full) {
          return came;
        }
      }
    } catch (ProtocolException e) {
      fail("protocol: " + e.getMessage());
    } catch (IOException e) {
      end(); // reset: it was killed
    } catch (RingBrokenException e) {
      fail("protocol: " + e.getMessage());
    }
    return came;
  }

  private void end() {
    over = true;
    in[Lane.BULK].end();
    in[Lane.EXPRESS].end();
  }

  private void parse() {
    stage.flip();
    while (true) {
      if (awaited == 0) {
        if (stage.remaining() < StreamLayout.HEADER_BYTES || !parseHeader()) {
          break;
        }
      } else if (!takeData()) {
        break;
      }
    }
    stage.compact();
  }

  private boolean parseHeader() {
    int at = stage.position();
    int length = stage.getInt(at + StreamLayout.LENGTH);
    int skip = stage.getInt(at + StreamLayout.SKIPPED);
    byte kind = stage.get(at + StreamLayout.KIND);
    int where = stage.get(at + StreamLayout.LANE);
    int magic = stage.getInt(at + StreamLayout.MAGIC_AT);
    if (magic != StreamLayout.MAGIC) {
      throw new RingBrokenException("a frame begins with " + Integer.toHexString(magic));
    }
    if (kind == StreamLayout.CREDIT && length == StreamLayout.CREDIT_BYTES) {
      if (stage.remaining() < StreamLayout.HEADER_BYTES + length) {
        return false;
      }
      at += StreamLayout.HEADER_BYTES;
      credit(Lane.BULK, stage.getLong(at));
      credit(Lane.EXPRESS, stage.getLong(at + Long.BYTES));
      taken(stage.getLong(at + 2 * Long.BYTES));
      stage.position(at + StreamLayout.CREDIT_BYTES);
      owner.wakeWaiters();
      return true;
    }
    if (kind != StreamLayout.DATA || where < 0 || where >= Lane.COUNT) {
      throw new RingBrokenException("a frame of kind " + kind + " for lane " + where);
    }
    if (!in[where].accepts(length, skip)) {
      throw new RingBrokenException(
          "a frame of " + length + " bytes and " + skip + " skipped, for which there is no room");
    }
    stage.position(at + StreamLayout.HEADER_BYTES);
    lane = where;
    skipped = skip;
    awaited = length;
    arrived = 0;
    if (length == 0) {
      in[where].wrote(0, skip);
    }
    return true;
  }

  private int arrived;

  private boolean takeData() {
    int now = Math.min(stage.remaining(), awaited - arrived);
    if (now == 0) {
      return false;
    }
    mirrorBytes[lane].put(in[lane].writeOffset() + arrived, stage, stage.position(), now);
    stage.position(stage.position() + now);
    arrived += now;
    if (arrived == awaited) {
      awaited = 0;
      in[lane].wrote(arrived, skipped);
    }
    return true;
  }

  private void credit(int lane, long head) {
    long old = credit.get(lane);
    if (RingLayout.distance(old, head) > RingLayout.distance(old, sent.get(lane))) {
      throw new RingBrokenException(
          "credit of lane " + lane + " is " + head + ", beyond what was sent, " + sent.get(lane));
    }
    credit.set(lane, head);
  }

  private void taken(long position) {
    if (RingLayout.distance(taken, position) > RingLayout.distance(taken, sent.get(Lane.BULK))) {
      throw new RingBrokenException("taken is " + position + ", beyond what was sent");
    }
    taken = position;
    sender[Lane.BULK].publishTaken(position);
  }

  private void fail(String reason) {
    owner.failed(reason);
    end();
  }

  /** What is taken of bulk is told with the poller's next push; of express, leaders take, too. */
  @Override
  public void published(int lane) {
    if (lane == Lane.EXPRESS) {
      boolean unused = push();
    }
  }

  @Override
  public void arm(int lane) {
    // The session's readiness wakes.
  }

  @Override
  public void disarm(int lane) {
    // As above.
  }

  @Override
  public boolean armOutput() {
    if (!outputLock.compareAndSet(false, true)) {
      return false;
    }
    try {
      armSenders();
      return blocked || over || nothingToSend();
    } finally {
      outputLock.set(false);
    }
  }

  @Override
  public void disarmOutput() {
    if (outputLock.compareAndSet(false, true)) {
      for (RingConsumer each : sender) {
        each.disarm();
      }
      outputLock.set(false);
    }
  }

  @Override
  public void finishOutput() {
    finishing = true;
    boolean unused = push();
  }

  /** Under the output lock, all was sent. */
  private void finish() {
    finished = true;
    try {
      session.shutdownOutput();
    } catch (IOException e) {
      // It has ended already.
    }
  }

  @Override
  public boolean over() {
    return over;
  }

  @Override
  public boolean severed() {
    return over;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (IOException e) {
      // Nothing was to be sent.
    }
  }
}
