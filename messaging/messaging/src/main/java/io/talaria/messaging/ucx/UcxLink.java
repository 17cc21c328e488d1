// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.ucx;

import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.MirrorLink;
import io.talaria.messaging.transport.RingPair;
import io.talaria.ucx.StreamChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A link whose frames travel on the stream of a {@link UcxChannel}. The holder of the worker sends
 * and receives for all connections, so holding the worker takes the place of the two locks of a
 * {@link io.talaria.messaging.transport.TcpLink}.
 */
final class UcxLink extends MirrorLink {
  /** After so many frames in a row, other connections may send. */
  private static final int MAX_FRAMES = 8;

  private static final int MAX_LOOKS = 1 << 10;

  private final UcxTransport network;
  private final UcxTurns turns;
  private final UcxChannel channel;
  private final int number;
  private final SocketChannel session;
  private final long sinceNs = System.nanoTime();

  /** Only for the poller. */
  private final ByteBuffer unread = ByteBuffer.allocateDirect(16);

  private boolean sessionEnded;

  /** A thread has asked for a push of this link. */
  volatile boolean again;

  /** UCX accepts no more sends for now. */
  private volatile boolean stuck;

  /** The other end has sent END. */
  private volatile boolean endCame;

  /** The channel has ended: what UCX has not completed may never be. */
  private volatile boolean channelEnded;

  UcxLink(
      UcxTransport network,
      UcxChannel channel,
      LinkOwner owner,
      int number,
      SocketChannel session,
      String why,
      int[] capacity) {
    super(owner, why, number, capacity, capacity);
    this.network = network;
    turns = network.turns();
    this.channel = channel;
    this.number = number;
    this.session = session;
  }

  int number() {
    return number;
  }

  UcxChannel channel() {
    return channel;
  }

  /** The time since this link was created, in nanoseconds. */
  long ageNs() {
    return System.nanoTime() - sinceNs;
  }

  /** Whether both ends have sent END. */
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
    return turns.enter();
  }

  @Override
  protected void exitOutput() {
    turns.exit();
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
    return turns.push(this);
  }

  /** Does nothing: {@link UcxTurns#send} sends for all connections. */
  @Override
  public boolean pushInTurn() {
    return false;
  }

  /** Sends what the other end has room for; whether anything was sent. Holder of the worker. */
  boolean pushEntered() {
    boolean done = false;
    try {
      for (int i = 0; !over && !finished; i++) {
        if (i == MAX_FRAMES) {
          turns.wants(this);
          break;
        }
        stuck = !channel.hasRoom();
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
    boolean last = finishing; // read first: what was published before it was set is then told
    ByteBuffer slots = channel.slotBytes();
    int at = channel.slotAt();
    if (takeControlFirst(slots, at)) {
      sendRun(RingPair.CONTROL);
    } else if (takeCredit(slots, at)) {
      channel.sendSlot(UcxLayout.CREDIT_FRAME_BYTES);
    } else if (takeRun(RingPair.CONTROL, slots, at)) {
      sendRun(RingPair.CONTROL);
    } else if (takeRun(RingPair.DATA, slots, at)) {
      sendRun(RingPair.DATA);
    } else if (last) {
      writeHeader(slots, at, UcxLayout.END, 0, 0, 0);
      finished = true;
      channel.sendSlot(UcxLayout.HEADER_BYTES);
    } else {
      return false;
    }
    return true;
  }

  private void sendRun(int priority) {
    channel.sendRun(
        this, priority, sender(priority).memory(), runStart(), runBytes(), sender(priority).word());
  }

  /**
   * Frees the part of the ring before a word of {@link
   * io.talaria.messaging.ring.RingConsumer#word}, whose sends UCX has completed. Holder of the
   * worker.
   */
  void sent(int priority, long word) {
    sender(priority).publish(word);
    if (sender(priority).mustWake()) {
      owner.wakeWaiters();
    }
  }

  // ---- receiving

  /** Parses a complete frame header, and the rest of a credit frame. Holder of the worker. */
  void takeHead(ByteBuffer head) {
    int bytes = takeHeader(head, 0, UcxLayout.MAX_HEAD_BYTES);
    if (bytes == UcxLayout.CREDIT_FRAME_BYTES) {
      turns.wants(this); // the other end has more room
    } else if (awaited() == 0) {
      turns.brought(this, RingPair.DATA);
    }
  }

  /** How many bytes of the current data frame have not been received. */
  int wantsBytes() {
    return awaited();
  }

  /** Receives a part of the current data frame. */
  void takeBytes(StreamChunk chunk, long at, int bytes) {
    chunk.copyTo(at, mirror(awaitedPriority()).memory(), place(), bytes);
    turns.brought(this, awaitedPriority());
    arrived(bytes);
  }

  /** Handles END from the other end. */
  void ended() {
    endCame = true;
    end();
    owner.wakePoller();
  }

  @Override
  public boolean bring() {
    turns.bring(this);
    return false; // UcxTurns.brought() has woken the poller if necessary
  }

  /** Reads the session, which carries nothing but its end. Poller. */
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
      sessionEnded = true; // reset: the other process was killed
    }
    if (sessionEnded) {
      // What the other end sent before may still be waiting in UCX.
      for (int i = 0; i < MAX_LOOKS && !over && turns.bringEntering(); i++) {
        continue;
      }
      end();
    }
    return false;
  }

  // ---- the end

  /** {@inheritDoc} What UCX had begun to send when END came is still on its way. */
  @Override
  public boolean outputLost() {
    return over && (sessionEnded || channelEnded || !sends());
  }

  /** Ends the link. What has arrived is still delivered. */
  void cutOff(String reason) {
    channelEnded = true;
    owner.ending(reason);
    end();
    owner.wakePoller();
  }

  @Override
  protected void fail(String reason) {
    channelEnded = true;
    owner.failed(reason);
    end();
  }

  @Override
  public String state() {
    return "; ucx: "
        + channel
        + (stuck ? ", stuck" : "")
        + (again ? ", wants to be pushed" : "")
        + (endCame ? ", end came; " : "; ")
        + turns;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (IOException e) {
      // Harmless: nothing was left to send.
    }
    network.left(this);
  }
}
