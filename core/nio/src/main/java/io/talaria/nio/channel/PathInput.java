// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.control.ResetReport;
import io.talaria.nio.control.TcpInput;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.spin.Spinner;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The input of a connection: the phase that it is in, the way from one to the next, and all that is
 * read before everything comes from the transport.
 *
 * <pre>
 *   {@link TcpInput} ──our reader accepts──▶ {@link SwitchingInput} ──all of TCP taken──▶ {@link TransportInput}
 *       ◀────────────────withdrawn──────────────┘
 * </pre>
 *
 * <p>Our reader's consent tells the peer that it may switch, and opens the switching phase:
 * doorbells may stand behind the application's bytes on TCP from then on. It ends when all that the
 * peer says it has put on TCP is taken. If one side withdraws, the input goes back to TCP for good.
 *
 * <p><b>Locks.</b> All that changes here is guarded by the channel's read lock, which a reader
 * holds in a blocking call, too; any thread looks. A thread that only looks whether the input moves
 * on (a selector's, the negotiation thread, one that closes) tries the lock, and leaves it to the
 * reader inside if there is one. {@link ConnectionPath#transportInput}, which reads look at first,
 * is set here when nothing is left of what was taken from TCP.
 */
final class PathInput {
  private static final int ON_TCP = 0;
  private static final int SWITCHING = 1;
  private static final int ACCELERATED = 2;

  private static final ByteBuffer NO_ROOM = ByteBuffer.allocate(0);

  private final Context context;
  private final ConnectionPath connectionPath;
  private final TalariaSocketChannel channel;
  private final SocketChannel control;
  private final ConnectionCounters counters;
  private final ReentrantLock readLock;
  private final TcpInput tcp;

  /** From our consent on. Under the read lock. */
  private volatile SwitchingInput switching;

  private final ResetReport resetReport = new ResetReport();

  /** Grows, except that a withdrawal leads back. Under the read lock, and set after the rest. */
  private volatile int phase = ON_TCP;

  /** How often the peer had woken this side when the reader last looked. Under the read lock. */
  private int knownWakes;

  PathInput(
      Context context,
      ConnectionPath connectionPath,
      TalariaSocketChannel channel,
      ConnectionCounters counters) {
    this.context = context;
    this.connectionPath = connectionPath;
    this.channel = channel;
    this.counters = counters;
    control = channel.control();
    readLock = channel.readLock();
    tcp = new TcpInput(control, counters, connectionPath.upgrade().earning());
  }

  private void assertLocked() {
    assert readLock.isHeldByCurrentThread();
  }

  // ---- phases: under the read lock

  /** Has our reader agree to the switch; false if a thread is inside that may read for long. */
  boolean tryAccept() {
    if (!readLock.tryLock()) {
      return false;
    }
    try {
      if (!channel.closing()) {
        accept();
        Faults.take();
      }
      return true;
    } catch (InternalError e) {
      context.examine(e);
      return false;
    } finally {
      readLock.unlock();
      channel.finishCloseIfClosing();
    }
  }

  /**
   * Tells the peer that it may switch, if there is a stream and {@link #neverSwitches} is false.
   */
  private void accept() {
    assertLocked();
    TransportStream fast = connectionPath.stream();
    if (phase == ON_TCP && fast != null && !connectionPath.upgrade().plainAgain()) {
      long takenBytes = tcp.takenBytes();
      switching = new SwitchingInput(connectionPath, fast, control, counters, takenBytes);
      phase = SWITCHING; // before the look: no selector takes TCP's word for the input from here on
      if (neverSwitches(fast) && connectionPath.upgrade().withdraw(fast)) {
        connectionPath.upgrade().noteWithdrawal();
        return;
      }
      fast.inputTaken(takenBytes);
      fast.acceptInput();
      connectionPath.switchOutIfEstablished();
      connectionPath.nudgeSelectors();
    }
  }

  /**
   * Whether the peer has ended its output on TCP, of which the stream may hear only later: then a
   * reader that has been told of that end, or a selector, must find it, not wait for what the
   * stream may still say. A stream in shared memory knows at once, and the kernel need not be
   * asked.
   */
  private boolean neverSwitches(TransportStream fast) {
    return fast.wakesByItself() && connectionPath.link().tcpInputOver();
  }

  /** Accepts an upgrade that waits, or takes TCP up again after a withdrawn one. */
  private boolean staysOnTcp() {
    assertLocked();
    if (phase == ON_TCP) {
      accept();
    }
    if (phase == SWITCHING && connectionPath.upgrade().plainAgain() && !switching.tookReset()) {
      tcp.resume(switching.takenBytes(), switching.ended());
      phase = ON_TCP;
    }
    return phase == ON_TCP;
  }

  /** Moves the input to the transport when all that the peer put on TCP has been taken. */
  boolean switchIfDue() {
    assertLocked();
    if (phase == SWITCHING && switching.complete()) {
      phase = ACCELERATED;
      connectionPath.stream().inputSwitched();
      readTransportIfAlone();
      connectionPath.switchOutIfEstablished();
      connectionPath.nudgeSelectors();
    }
    return phase == ACCELERATED;
  }

  private void readTransportIfAlone() {
    if (phase == ACCELERATED && connectionPath.transportInput() == null && kept() == null) {
      connectionPath.readsFrom(
          new TransportInput(
              connectionPath.stream(), counters, new Spinner(context.spinning()), channel));
    }
  }

  // ---- reading: under the read lock

  /** Reads what is there, while the input was last seen not to be on the transport alone. */
  int readBeforeTransport(ByteBuffer dst) throws IOException {
    assertLocked();
    if (kept() != null) {
      return readKept(dst);
    }
    if (staysOnTcp()) {
      return tcp.read(dst);
    }
    switching.pull(dst.remaining());
    if (kept() != null) {
      return readKept(dst);
    }
    TransportInput fast = connectionPath.transportInput();
    return fast != null ? fast.read(dst) : switching.end();
  }

  private int readKept(ByteBuffer dst) {
    int n = switching.takeKept(dst);
    readTransportIfAlone();
    return n;
  }

  /** What was taken from TCP and not read, or null. Any thread, to look how much it is. */
  private ByteBuffer kept() {
    SwitchingInput now = switching;
    return now == null ? null : now.kept();
  }

  /** A read without room for a byte: it moves nothing, but meets a reset that is known again. */
  int readNothing() throws IOException {
    if (phase == ON_TCP) {
      return control.read(NO_ROOM.duplicate());
    }
    TransportInput fast = connectionPath.transportInput();
    return fast != null ? fast.readNothing() : switching.readNothing();
  }

  /** Scatters what is there, while the input was last seen not to be on the transport alone. */
  long readBeforeTransport(ByteBuffer[] dsts, int offset, int length) throws IOException {
    assertLocked();
    if (kept() == null) {
      if (staysOnTcp()) {
        return tcp.read(dsts, offset, length);
      }
      pullToSwitch(room(dsts, offset, length)); // together, as a read of the first would not
    }
    return connectionPath.readEach(dsts, offset, length);
  }

  private static int room(ByteBuffer[] dsts, int offset, int length) {
    long room = 0;
    for (int i = offset; i < offset + length; i++) {
      room += dsts[i].remaining();
    }
    return (int) Math.min(room, SwitchingInput.KEPT_BYTES);
  }

  /**
   * Whether a further buffer would get something.
   *
   * @param wanted how many bytes there is room for
   */
  boolean moreAtHand(int wanted) {
    assertLocked();
    if (phase == ON_TCP) {
      return tcpHasBytes(); // which one call of the system would have read
    }
    if (kept() == null) {
      pullToSwitch(wanted);
    }
    return kept() != null || (phase == ACCELERATED && connectionPath.stream().unread());
  }

  private void pullToSwitch(int wanted) {
    if (phase == SWITCHING && !connectionPath.upgrade().plainAgain()) {
      switching.pull(wanted);
    }
  }

  /** How many bytes can be read at once. */
  int available() throws IOException {
    assertLocked();
    if (phase == SWITCHING && kept() == null) {
      // The peer may have switched, and a program that only asks never reads.
      switching.pull(SwitchingInput.KEPT_BYTES);
    }
    ByteBuffer had = kept();
    if (had != null) {
      return had.remaining();
    }
    return switched() ? connectionPath.stream().available() : connectionPath.link().available();
  }

  /**
   * Sleeps until there may be something to read, or something has happened to the connection.
   *
   * @param timeoutNs nanoseconds, or 0 for no limit
   */
  void sleep(long timeoutNs) throws IOException {
    assertLocked();
    knownWakes = connectionPath.wakes();
    if (phase == ON_TCP) {
      connectionPath.waiter().sleep(ControlWaiter.READER, JdkNio.READABLE, timeoutNs);
      return;
    }
    connectionPath.transportSleep().sleep(TransportStream.READ, timeoutNs);
  }

  /** Whether a reader about to sleep has nothing to wait for. Asked by itself. */
  boolean nothingToWaitFor() {
    return channel.closing()
        || channel.inputClosed()
        || connectionPath.wakes() != knownWakes
        || (phase != ON_TCP
            && (connectionPath.link().over()
                || connectionPath.transportSleep().over(TransportStream.READ)));
  }

  // ---- looking: any thread

  /** Whether our reader has agreed to the switch, so that the transport has a say in what comes. */
  boolean agreed() {
    return phase != ON_TCP;
  }

  /** Whether it is on the transport, so that TCP brings nothing but doorbells. */
  boolean switched() {
    return phase == ACCELERATED;
  }

  /** Whether bytes of the peer's may be on TCP that have not been taken. */
  boolean bytesMayBeOnTcp() {
    return phase == SWITCHING && !switching.complete();
  }

  /** See {@link ConnectionPath#deaf}. */
  boolean deaf() {
    ByteBuffer had = kept();
    return had != null && phase == SWITCHING && had.remaining() >= SwitchingInput.KEPT_BYTES;
  }

  /**
   * Takes what the control connection brought: doorbells, its end, or bytes that were on the way.
   */
  void controlReadable() {
    if (phase == ACCELERATED) {
      connectionPath.link().drain(false);
    } else if (enter()) {
      try {
        if (phase == SWITCHING && takesMore()) {
          switching.pull(SwitchingInput.KEPT_BYTES);
        } else if (phase == ON_TCP) {
          accept();
        }
      } finally {
        readLock.unlock();
        channel.finishCloseIfClosing();
      }
    }
  }

  /**
   * Takes the read lock; false if a reader may sleep inside, which takes what comes itself. In
   * non-blocking mode a thread inside leaves in a moment, and must be waited for: it may have
   * looked before the event came for which a selector is about to sleep.
   */
  private boolean enter() {
    while (!readLock.tryLock()) {
      Thread.yield();
      if (channel.isBlocking() || channel.closing()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether to take more from TCP than the program has read: only if doorbells may stand behind it,
   * which they do if both sides have agreed, and never without bound. Under the read lock.
   */
  private boolean takesMore() {
    return kept() == null
        || (connectionPath.switchedOut() && !connectionPath.upgrade().plainAgain() && !deaf());
  }

  /**
   * What is ready while not both directions are on the transport, as far as the transport and TCP's
   * rest tell.
   */
  int readinessWhileSwitching(int ops) {
    int ready = 0;
    if (connectionPath.attached()) {
      if (phase == SWITCHING
          && (connectionPath.stream().peerSwitchAt() >= 0 || switching.endIsDue())) {
        controlReadable();
      }
      int fast = connectionPath.stream().readiness(ops);
      if (switched()) {
        ready |= fast & TransportStream.READ;
      }
      if (connectionPath.switchedOut()) {
        ready |= fast & TransportStream.WRITE;
      }
    }
    SwitchingInput now = switching;
    boolean tcpOver = now != null && !switched() && now.over();
    if (tcpOver || kept() != null || channel.inputClosed()) {
      ready |= TransportStream.READ;
    }
    if (tcpOver && !connectionPath.switchedOut() && now.failed()) {
      ready |= TransportStream.WRITE; // which fails at once, while TCP may no longer be listened to
    }
    return ready & ops;
  }

  // ---- ending: any thread

  /** What a write throws that has failed on TCP: a reset also if this side took that from it. */
  IOException failedOnTcp(IOException failure) {
    SwitchingInput now = switching;
    if (TransportOutput.RESET_BY_PEER.equals(failure.getMessage())) {
      resetReport.toWriter();
    } else if (now != null && now.tookReset() && !(failure instanceof ClosedChannelException)) {
      return failedByReset();
    }
    return failure;
  }

  /** What a write throws that meets a reset, of which a read or a write may know already. */
  IOException failedByReset() {
    return new IOException(resetReport.toWriter() ? TransportOutput.RESET_BY_PEER : "Broken pipe");
  }

  /** Which call was told of a reset. */
  ResetReport resetReport() {
    return resetReport;
  }

  /** The input has been shut down: wakes those that wait for it to be readable, to see that. */
  void wakeReader() {
    connectionPath.waiter().wake(ControlWaiter.READER);
    connectionPath.nudgeSelectors();
  }

  /** Shuts the input down. Under the state lock. */
  void shutdown() throws IOException {
    assert Thread.holdsLock(channel.stateLock());
    TransportStream fast = connectionPath.stream();
    if (fast == null || connectionPath.upgrade().withdraw(fast)) {
      control.shutdownInput();
    } // else the control connection stays as it is, for doorbells
  }

  /**
   * Whether bytes were taken from TCP that the program has not read. For the thread that closes,
   * which has published the end: no thread takes any more.
   */
  boolean tookUnread() {
    SwitchingInput now = switching;
    if (now != null) {
      now.awaitTaken(); // the negotiation thread may be inside
    }
    return kept() != null;
  }

  /**
   * Whether bytes are unread of which the kernel does not know, at a close that ends the output on
   * TCP: they were taken from TCP, or have come by the transport, because the peer had decided for
   * it, which this side has yet to hear. For the thread that closes, likewise.
   */
  boolean unreadBesideTcp() {
    TransportStream fast = connectionPath.stream();
    return tookUnread() || (fast != null && fast.unread());
  }

  /** Whether bytes came over TCP that are unread. For the thread that closes, likewise. */
  boolean unreadTcp() {
    return tookUnread() || (phase != ACCELERATED && tcpHasUnread());
  }

  /**
   * The output may switch as late as at the close, while the input has not consented: then all that
   * TCP has is the program's. Else doorbells may stand behind it; TCP is looked at first, because a
   * doorbell comes behind the peer's switch.
   */
  private boolean tcpHasUnread() {
    if (!tcpHasBytes()) {
      return false;
    }
    SwitchingInput now = switching;
    long switchAt = connectionPath.stream().peerSwitchAt();
    return now == null || switchAt < 0 || switchAt > now.takenBytes();
  }

  private boolean tcpHasBytes() {
    try {
      return connectionPath.link().available() > 0;
    } catch (IOException e) {
      return false; // it is shut down, or has ended
    }
  }
}
