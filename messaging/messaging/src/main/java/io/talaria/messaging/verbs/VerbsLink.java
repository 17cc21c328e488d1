// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.verbs;

import io.talaria.messaging.ring.MirrorReceiver;
import io.talaria.messaging.ring.RingBrokenException;
import io.talaria.messaging.transport.LinkOwner;
import io.talaria.messaging.transport.MirrorLink;
import io.talaria.messaging.transport.RingPair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/**
 * A link whose frames travel on the queue pair of a {@link VerbsChannel}. Each link has an output
 * lock of its own; the holder of the input receives for all. Half of the class implements what
 * {@link MirrorLink} leaves to it.
 *
 * <p>A thread that has written a record pushes itself, or leaves that to the {@link VerbsSender}.
 * The poller pushes what it has written at the end of its turn.
 */
final class VerbsLink extends MirrorLink implements MirrorReceiver.Lender {
  /** After so many frames in a row, other connections may send. */
  private static final int MAX_FRAMES = 8;

  /** Records of fewer bytes are copied: that is cheaper. */
  private static final int MIN_LENT = 2048;

  private final VerbsTransport transport;
  private final VerbsSender sending;
  private final VerbsReceiver receiving;
  private final VerbsChannel channel;
  private final int number;
  private final SocketChannel session;

  private final ByteBuffer[] mirrorBytes = new ByteBuffer[RingPair.COUNT];
  private final AtomicBoolean output = new AtomicBoolean();

  /** A thread has asked the holder of the output for a push. */
  private volatile boolean again;

  /** No frame may be sent until the other side has received some, or some are completed. */
  private volatile boolean stuck;

  /** Only for the poller. */
  private final ByteBuffer unread = ByteBuffer.allocateDirect(16);

  private volatile boolean sessionEnded;

  private final AtomicBoolean closes = new AtomicBoolean();

  /** Whether the thread that sends looks after it. Only for that thread. */
  boolean active;

  /** When the next step of closing it comes at the latest. Only for the thread that sends. */
  long closeNs;

  /** Its queue pair is in error. Written by the thread that sends. */
  volatile boolean leaving;

  VerbsLink(
      VerbsTransport transport,
      VerbsChannel channel,
      LinkOwner owner,
      int number,
      SocketChannel session,
      String why,
      int[] capacity) {
    super(owner, why, number, channel.rings(capacity), capacity, capacity);
    this.transport = transport;
    sending = transport.sender();
    receiving = transport.receiver();
    this.channel = channel;
    this.number = number;
    this.session = session;
    for (int i = 0; i < RingPair.COUNT; i++) {
      mirrorBytes[i] = mirror(i).memory().asByteBuffer();
    }
  }

  VerbsChannel channel() {
    return channel;
  }

  @Override
  public String transport() {
    return "verbs";
  }

  @Override
  public SocketChannel session() {
    return session;
  }

  // ---- sending

  @Override
  protected boolean enterOutput() {
    return output.compareAndSet(false, true);
  }

  /** Gives up the output, and sees to what other threads have asked for meanwhile. */
  @Override
  protected void exitOutput() {
    output.set(false);
    VarHandle.fullFence();
    if (again && !over) {
      sending.wants(channel);
    }
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
  protected int maxData() {
    return VerbsLayout.MAX_DATA;
  }

  /** Has the thread that sends, or the poller at the end of its turn, push this link. */
  @Override
  protected void pushLater() {
    if (!stuck && !over) {
      sending.wants(channel);
    }
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
        done |= pushEntered();
      } finally {
        output.set(false);
      }
      VarHandle.fullFence();
    }
    return done;
  }

  /** Does nothing: the poller pushes at the end of its turn what needs that. */
  @Override
  public boolean pushInTurn() {
    return false;
  }

  /** Pushes, and arms the rings if nothing is left; whether anything was sent. */
  boolean pushAndArm() {
    return pushArmed();
  }

  private boolean pushEntered() {
    boolean done = false;
    try {
      for (int i = 0; !over && !finished; i++) {
        if (i == MAX_FRAMES) {
          sending.wants(channel);
          break;
        }
        if (!room() || !sendNext()) {
          break;
        }
        done = true;
      }
      if (channel.owesWord() && wordRoom()) {
        channel.sendWord();
        done = true;
      }
    } catch (RingBrokenException e) {
      fail(e.getMessage());
    }
    int status = channel.post();
    if (status != 0) {
      sendingFailed(VerbsChannel.text(status));
    } else {
      attend();
    }
    return done;
  }

  /** Sees to what must be completed soon: mostly it is at once, else the thread that sends does. */
  private void attend() {
    if (channel.awaitsCompletion()) {
      boolean ignored = sending.reap();
      if (channel.awaitsCompletion()) {
        sending.attend();
      }
    }
  }

  /** Whether a frame may be sent. If not, {@link #roomMade} will be called. */
  private boolean room() {
    if (channel.hasRoom()) {
      stuck = false;
      return true;
    }
    if (!channel.hasSlot()) {
      channel.starves(true);
      boolean ignored = sending.reap();
    }
    stuck = true;
    VarHandle.fullFence();
    if (!channel.hasRoom()) {
      return false;
    }
    stuck = false;
    channel.starves(false);
    return true;
  }

  private boolean wordRoom() {
    if (channel.hasWord()) {
      return true;
    }
    channel.starves(true);
    boolean ignored = sending.reap();
    return channel.hasWord();
  }

  private boolean sendNext() {
    boolean last = finishing; // read first: what was published before it was set is then told
    ByteBuffer slots = channel.slotBytes();
    int at = channel.slotAt();
    if (takeCredit(slots, at)) {
      channel.send(VerbsLayout.CREDIT_FRAME_BYTES);
    } else if (takeRun(RingPair.CONTROL, slots, at)) {
      sendRun(RingPair.CONTROL);
    } else if (takeRun(RingPair.DATA, slots, at)) {
      sendRun(RingPair.DATA);
    } else if (last) {
      writeHeader(slots, at, VerbsLayout.END, 0, 0, 0);
      finished = true;
      channel.sendLast(VerbsLayout.HEADER_BYTES);
    } else {
      return false;
    }
    return true;
  }

  private void sendRun(int priority) {
    long word = sender(priority).word();
    if (channel.sendRun(priority, sender(priority).memory(), runStart(), runBytes(), word)) {
      sent(priority, word);
    }
  }

  /** Frees the part of a ring before a word of {@code RingConsumer.word}, in order. */
  void sent(int priority, long word) {
    sender(priority).publish(word);
    if (sender(priority).mustWake()) {
      owner.wakeWaiters();
    }
  }

  /** The other side has received frames, or requests are completed, or a word is to be sent. */
  void roomMade() {
    VarHandle.fullFence();
    if (stuck || channel.owesWord()) {
      sending.wants(channel);
    }
  }

  /** Does nothing: the thread that sends arms the rings before it sleeps. */
  @Override
  public boolean armOutput() {
    return true;
  }

  @Override
  public void disarmOutput() {}

  /** Arms the rings; false if there is something to send. The thread that sends. */
  boolean armForSender() {
    return super.armOutput();
  }

  /** Sends the credit at once: it is rare. */
  @Override
  public void published(int priority) {
    boolean ignored = push();
  }

  /** Whether all that was sent has arrived, or cannot any more. The thread that sends. */
  boolean isDrained() {
    if (sessionEnded || !finishing || channel.ended() != null) {
      return true;
    }
    if (!enterOutput()) {
      return false;
    }
    try {
      return finished ? channel.isDrained() : over;
    } finally {
      exitOutput();
    }
  }

  /** Keeps the output, so that nothing is sent any more. The thread that sends. */
  void keepOutput() {
    while (!enterOutput()) {
      Thread.onSpinWait();
    }
  }

  // ---- receiving; holder of the input

  /**
   * Takes a frame.
   *
   * @param buffer the number of its buffer
   * @param memory of the buffer, if this thread reads the data ring; else null
   * @return whether the link has done with the buffer. If not, {@link VerbsReceiver#lentBack} gets
   *     it later
   * @throws RingBrokenException if it is not sound
   */
  boolean frame(ByteBuffer from, int at, int bytes, int buffer, MemorySegment memory) {
    if (over) {
      return true;
    }
    if (bytes < VerbsLayout.HEADER_BYTES) {
      throw new RingBrokenException("a frame of " + bytes + " bytes");
    }
    if (from.get(at + VerbsLayout.KIND) == VerbsLayout.END
        && from.getInt(at + VerbsLayout.NUMBER) == number) {
      end();
      owner.wakePoller();
      return true;
    }
    int head = takeHeader(from, at, bytes);
    if (head == VerbsLayout.CREDIT_FRAME_BYTES) {
      sending.wants(channel); // the other side has more room
      return true;
    }
    if (head == 0 || awaited() != bytes - head) {
      throw new RingBrokenException(
          "a frame of " + bytes + " bytes has " + awaited() + " bytes of records");
    }
    int priority = awaitedPriority();
    int length = awaited();
    receiving.brought(this, priority);
    if (memory != null
        && priority == RingPair.DATA
        && length >= MIN_LENT
        && lend(this, buffer, memory, (long) at + head)) {
      return false;
    }
    if (length != 0) {
      mirrorBytes[priority].put(place(), from, at + head, length);
      arrived(length);
    }
    return true;
  }

  /** All records of a frame were removed from where they were received. Poller. */
  @Override
  public void returned(int buffer) {
    receiving.lentBack(channel, buffer);
  }

  /**
   * Gives back the buffers that the poller, which has left this link, has not read to their end.
   */
  void returnLoans(IntConsumer to) {
    mirror(RingPair.DATA).returnLoans(to);
  }

  @Override
  public boolean bring() {
    receiving.bring(this);
    return false; // VerbsReceiver.brought() has woken the poller if necessary
  }

  /** Reads the session, which carries nothing but its end. Poller. */
  @Override
  public boolean pull() {
    if (sessionEnded) {
      return false;
    }
    try {
      int got = session.read(unread.clear());
      if (got > 0) {
        owner.failed("protocol: " + got + " bytes on a session that has said all");
      }
      if (got >= 0) {
        return false;
      }
    } catch (IOException e) {
      // Reset: the other process was killed.
    }
    sessionEnded = true;
    receiving.drain(); // what the other side has sent before
    end();
    return false;
  }

  // ---- the end

  /** {@inheritDoc} What is not completed when END comes is still on its way. */
  @Override
  public boolean outputLost() {
    return over && (sessionEnded || channel.ended() != null || !sends());
  }

  /** A request has failed: what has arrived is still delivered. Not the holder of the input. */
  void sendingFailed(String reason) {
    receiving.drain();
    channel.end(reason);
  }

  /** Ends the link, unless it has ended. What has arrived is still delivered. */
  void cutOff(String reason) {
    if (!over) {
      owner.ending(reason);
      end();
      owner.wakePoller();
    }
  }

  @Override
  protected void fail(String reason) {
    owner.failed(reason);
    end();
  }

  @Override
  public String state() {
    return "; verbs: "
        + channel
        + (stuck ? ", stuck" : "")
        + (again ? ", wants to be pushed" : "")
        + (output.get() ? ", output held; " : "; ")
        + transport;
  }

  /** The thread that sends closes the queue pair and the session when all has arrived. */
  @Override
  public void close() {
    if (closes.compareAndSet(false, true)) {
      sending.close(this);
    }
  }

  void closeSession() {
    try {
      session.close();
    } catch (IOException e) {
      // Harmless: nothing was left to send.
    }
  }
}
