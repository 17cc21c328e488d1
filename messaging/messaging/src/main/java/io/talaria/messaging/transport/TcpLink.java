// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.transport;

import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.wire.Wire;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A link that carries frames over a TCP connection. The holder of the output lock sends; the holder
 * of the ring receiver lock receives.
 */
public final class TcpLink extends MirrorLink {
  private static final int STAGE_BYTES = 256 << 10;

  private final SocketChannel session;
  private final Wire wire;
  private final ByteBuffer[] ringBytes = new ByteBuffer[RingPair.COUNT];
  private final ByteBuffer[] mirrorBytes = new ByteBuffer[RingPair.COUNT];

  // Output; guarded by this lock.
  private final AtomicBoolean outputLock = new AtomicBoolean();
  private final ByteBuffer header = little(TcpLayout.CREDIT_FRAME_BYTES);
  private final ByteBuffer[] frame = new ByteBuffer[2];
  private boolean pending;
  private int pendingPriority;
  private volatile boolean again;
  private volatile boolean blocked;

  /** Input; guarded by the connection's ring receiver lock. */
  private final ByteBuffer stage;

  /**
   * Creates this side's ends of the rings.
   *
   * @param session connected, non-blocking
   * @param wire through which all bytes of the session go
   * @param first what was already read of the other end's frames
   * @param why the connection uses this transport
   * @param outCapacity of the ring of each priority here, in bytes
   * @param inCapacity of the ring of each priority at the other end, in bytes
   */
  public TcpLink(
      LinkOwner owner,
      SocketChannel session,
      Wire wire,
      ByteBuffer first,
      String why,
      int[] outCapacity,
      int[] inCapacity) {
    super(owner, why, TcpLayout.MAGIC, outCapacity, inCapacity);
    this.session = session;
    this.wire = wire;
    for (int i = 0; i < RingPair.COUNT; i++) {
      ringBytes[i] = sender(i).memory().asByteBuffer();
      mirrorBytes[i] = mirror(i).memory().asByteBuffer();
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
  public String transport() {
    return "tcp";
  }

  @Override
  public SocketChannel session() {
    return session;
  }

  @Override
  public boolean readsSession() {
    return true;
  }

  @Override
  protected boolean enterOutput() {
    return outputLock.compareAndSet(false, true);
  }

  @Override
  protected void exitOutput() {
    outputLock.set(false);
  }

  @Override
  protected boolean pending() {
    return !finished && (pending || wire.pending());
  }

  @Override
  public boolean push() {
    again = true;
    boolean done = false;
    while (again && !over) {
      if (!enterOutput()) {
        return done; // the holder checks again after its release
      }
      again = false;
      try {
        done |= pushLocked();
      } catch (IOException e) {
        sendingFailed("cannot send: " + e);
      } catch (RingBrokenException e) {
        fail(e.getMessage());
      } finally {
        exitOutput();
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
      boolean last = finishing; // read first: what was published before it was set is then told
      if (wire.pending() && !wire.flush()) {
        block();
        return done;
      }
      if (!pending && !prepare()) {
        if (last) {
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
      if (pendingPriority >= 0) {
        sender(pendingPriority).publish();
        if (sender(pendingPriority).mustWake()) {
          owner.wakeWaiters();
        }
      }
    }
    return done;
  }

  private void block() {
    if (!blocked) {
      blocked = true;
      owner.wakePoller(); // the poller waits until the session accepts more
    }
  }

  private boolean prepare() {
    header.clear();
    if (takeControlFirst(header, 0)) {
      dataPrepared(RingPair.CONTROL);
      return true;
    }
    if (takeCredit(header, 0)) {
      frame[1] = ringBytes[0];
      frame[1].limit(0);
      pendingPriority = -1;
      pending = true;
      return true;
    }
    return prepareData(RingPair.CONTROL) || prepareData(RingPair.DATA);
  }

  private boolean prepareData(int priority) {
    if (!takeRun(priority, header, 0)) {
      return false;
    }
    dataPrepared(priority);
    return true;
  }

  private void dataPrepared(int priority) {
    header.limit(TcpLayout.HEADER_BYTES);
    frame[1] = ringBytes[priority];
    frame[1].clear();
    frame[1].position(runStart()).limit(runStart() + runBytes());
    pendingPriority = priority;
    pending = true;
  }

  @Override
  public boolean blocked() {
    return blocked;
  }

  @Override
  public void unblock() {
    blocked = false;
  }

  /** {@inheritDoc} A thread that sends may have sent a record that it has not yet removed. */
  @Override
  public boolean outputLost() {
    return over && !outputLock.get();
  }

  @Override
  public boolean pull() {
    boolean came = false;
    try {
      while (!over) {
        int got = read();
        came |= got > 0;
        boolean full = !stage.hasRemaining();
        parse();
        if (got < 0) {
          end();
        }
        if (!full) {
          return came;
        }
      }
    } catch (ProtocolException | RingBrokenException e) {
      fail("protocol: " + e.getMessage());
    }
    return came;
  }

  /** Like {@link Wire#read}; also returns -1 if the session was reset or cut off. */
  private int read() throws ProtocolException {
    try {
      return wire.read(stage);
    } catch (ProtocolException e) {
      throw e;
    } catch (IOException e) { // the other process was killed; the wire may have read some before
      return -1;
    }
  }

  /** {@inheritDoc} A response is not for the poller: its thread reads it. */
  @Override
  public boolean bring() {
    pull();
    return cameForPoller();
  }

  private void parse() {
    stage.flip();
    while (true) {
      if (awaited() == 0) {
        int have = stage.remaining();
        int took = have < TcpLayout.HEADER_BYTES ? 0 : takeHeader(stage, stage.position(), have);
        if (took == 0) {
          break;
        }
        stage.position(stage.position() + took);
      } else if (!takeData()) {
        break;
      }
    }
    stage.compact();
  }

  private boolean takeData() {
    int now = Math.min(stage.remaining(), awaited());
    if (now == 0) {
      return false;
    }
    mirrorBytes[awaitedPriority()].put(place(), stage, stage.position(), now);
    stage.position(stage.position() + now);
    arrived(now);
    return true;
  }

  @Override
  protected void fail(String reason) {
    owner.failed(reason);
    end();
  }

  /**
   * Sends nothing more. What has arrived is still read: whether it is delivered must not depend on
   * who finds first that the other process was killed. The session has an end to be read, because a
   * process that still reads finds the end of this output, and ends, too. Under the output lock.
   */
  private void sendingFailed(String reason) {
    owner.ending(reason);
    finish();
    blocked = false; // else the poller would find again and again that the session accepts more
    owner.wakePoller(); // it reads the end
  }

  /** Ends the output. Under the output lock. */
  private void finish() {
    finished = true;
    try {
      session.shutdownOutput();
    } catch (IOException e) {
      // It has already ended.
    }
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (IOException e) {
      // Harmless: nothing was left to send.
    }
  }
}
