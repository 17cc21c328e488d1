// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.MirrorTrack;
import io.talaria.messaging.transport.RingPair;
import io.talaria.messaging.transport.TrackOwner;
import io.talaria.ucx.StreamChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A connection whose frames travel on the stream of a {@link UcxWay}. The worker's turn is what the
 * two locks of a stream of TCP are: whoever has it sends and receives for all connections.
 */
final class UcxTrack extends MirrorTrack {
  /** Frames in a turn, then it is the next connection's. */
  private static final int MAX_FRAMES = 8;

  private static final int MAX_LOOKS = 1 << 10;

  private final UcxFabric fabric;
  private final UcxWay way;
  private final int number;
  private final SocketChannel session;
  private final long sinceNs = System.nanoTime();

  /** Of the poller. */
  private final ByteBuffer unread = ByteBuffer.allocateDirect(16);

  private boolean sessionEnded;

  /** Somebody wants it pushed. */
  volatile boolean again;

  /** UCX takes no more for now. */
  private volatile boolean stuck;

  /** The other end has said that nothing more comes. */
  private volatile boolean endCame;

  UcxTrack(
      UcxFabric fabric,
      UcxWay way,
      TrackOwner owner,
      int number,
      SocketChannel session,
      String why,
      int[] capacity) {
    super(owner, why, number, capacity, capacity);
    this.fabric = fabric;
    this.way = way;
    this.number = number;
    this.session = session;
  }

  int number() {
    return number;
  }

  UcxWay way() {
    return way;
  }

  /** How long it has been there, in nanoseconds. */
  long ageNs() {
    return System.nanoTime() - sinceNs;
  }

  /** Whether both ends have said that nothing more comes. */
  boolean endedInOrder() {
    return endCame && finished;
  }

  @Override
  public String transport() {
    return "ucx";
  }

  @Override
  public SocketChannel session() {
    return session;
  }

  // ---- sending

  @Override
  protected boolean enterOutput() {
    return fabric.enter();
  }

  @Override
  protected void exitOutput() {
    fabric.exit();
  }

  @Override
  protected boolean pending() {
    return false;
  }

  @Override
  protected boolean stuck() {
    return stuck;
  }

  @Override
  public boolean push() {
    return fabric.push(this);
  }

  /** The fabric does it for all. */
  @Override
  public boolean pushInTurn() {
    return false;
  }

  /** Sends what there is and may be sent; whether anything was. Of whoever has the worker. */
  boolean pushEntered() {
    boolean done = false;
    try {
      for (int i = 0; !over && !finished; i++) {
        if (i == MAX_FRAMES) {
          fabric.wants(this);
          break;
        }
        stuck = !way.hasRoom();
        if (stuck || !sendNext()) {
          break;
        }
        done = true;
      }
    } catch (RingBrokenException e) {
      fail(e.getMessage());
    }
    return done;
  }

  private boolean sendNext() {
    ByteBuffer slots = way.slotBytes();
    int at = way.slotAt();
    if (takeCredit(slots, at)) {
      way.sendSlot(UcxLayout.CREDIT_FRAME_BYTES);
    } else if (takeRun(RingPair.CONTROL, slots, at)) {
      sendRun(RingPair.CONTROL);
    } else if (takeRun(RingPair.DATA, slots, at)) {
      sendRun(RingPair.DATA);
    } else if (finishing) {
      writeHeader(slots, at, UcxLayout.END, 0, 0, 0);
      finished = true;
      way.sendSlot(UcxLayout.HEADER_BYTES);
    } else {
      return false;
    }
    return true;
  }

  private void sendRun(int priority) {
    way.sendRun(
        this, priority, sender(priority).memory(), runStart(), runBytes(), sender(priority).word());
  }

  /** UCX is done with what was left behind at a word. Of whoever has the worker. */
  void sent(int priority, long word) {
    sender(priority).publish(word);
    if (sender(priority).mustWake()) {
      owner.wakeWaiters();
    }
  }

  // ---- receiving

  /** Takes a frame's header, whole with what belongs to it. Of whoever has the worker. */
  void takeHead(ByteBuffer head) {
    int bytes = takeHeader(head, 0, UcxLayout.MAX_HEAD_BYTES);
    if (bytes == UcxLayout.CREDIT_FRAME_BYTES) {
      fabric.wants(this); // there is room for more
    } else if (awaited() == 0) {
      fabric.brought(this, RingPair.DATA);
    }
  }

  /** How many bytes of data belong to it. */
  int wantsBytes() {
    return awaited();
  }

  /** Takes some of them. */
  void takeBytes(StreamChunk chunk, long at, int bytes) {
    chunk.copyTo(at, mirror(awaitedPriority()).memory(), place(), bytes);
    fabric.brought(this, awaitedPriority());
    arrived(bytes);
  }

  /** The other end has said that nothing more comes. */
  void ended() {
    endCame = true;
    end();
    owner.wakePoller();
  }

  @Override
  public boolean bring() {
    fabric.bring(this);
    return false; // what is not for the one who waits has woken the poller
  }

  /** The session brings nothing but its end. Poller. */
  @Override
  public boolean pull() {
    if (sessionEnded) {
      return false;
    }
    try {
      int got = session.read(unread.clear());
      sessionEnded = got < 0;
      if (got > 0) {
        owner.failed("protocol: " + got + " bytes on a session that has said all");
      }
    } catch (IOException e) {
      sessionEnded = true; // reset: it was killed
    }
    if (sessionEnded) {
      // What it has sent before may be here already.
      for (int i = 0; i < MAX_LOOKS && !over && fabric.bringEntering(); i++) {
        continue;
      }
      end();
    }
    return false;
  }

  // ---- the end

  /** Nothing more comes; what has come is taken first. */
  void cutOff(String reason) {
    owner.ending(reason);
    end();
    owner.wakePoller();
  }

  @Override
  protected void fail(String reason) {
    owner.failed(reason);
    end();
  }

  @Override
  public String state() {
    return "; ucx: "
        + way
        + (stuck ? ", stuck" : "")
        + (again ? ", wants to be pushed" : "")
        + (endCame ? ", end came; " : "; ")
        + fabric;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (IOException e) {
      // Nothing was to be sent.
    }
    fabric.left(this);
  }
}
