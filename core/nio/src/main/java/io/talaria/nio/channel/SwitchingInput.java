// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The input of a connection between consent and switch: our reader has told the peer that it may
 * switch, so doorbells may stand behind the application's bytes on TCP. What is read there is kept,
 * cut where the peer says it has switched, until the program reads it; some may be left when the
 * transport's bytes come already.
 *
 * <p>For the holder of the channel's read lock, except what is marked.
 */
final class SwitchingInput {
  /** So much is taken from TCP at once, and no more than twice that is kept. */
  static final int KEPT_BYTES = 64 << 10;

  /** Room for less is made without a look how much there is. */
  private static final int LITTLE_BYTES = 1024;

  private final ConnectionPath connectionPath;
  private final TransportStream stream;
  private final SocketChannel control;
  private final ConnectionCounters counters;

  /** Bytes taken from TCP that the program has not read, or null. Others look at it. */
  private volatile ByteBuffer kept;

  /** TCP has ended. The input has not while the peer's switch may be behind that. */
  private volatile boolean tcpEnded;

  /** How the input ends on TCP, behind what is kept. Others look at them. */
  private volatile boolean ended;

  private volatile IOException failure;

  /** Whether a reader is taking bytes from TCP that are not kept yet. Others look at it. */
  private volatile boolean taking;

  /** Counts what was taken from TCP; doorbells do not count. Others look at it. */
  private volatile long takenBytes;

  SwitchingInput(
      ConnectionPath connectionPath,
      TransportStream stream,
      SocketChannel control,
      ConnectionCounters counters,
      long takenBytes) {
    this.connectionPath = connectionPath;
    this.stream = stream;
    this.control = control;
    this.counters = counters;
    this.takenBytes = takenBytes;
  }

  // ---- any thread

  /** What is kept, or null. Only to look how much it is. */
  ByteBuffer kept() {
    return kept;
  }

  /** Whether the input has ended on TCP, in whatever way. */
  boolean over() {
    return ended || failure != null;
  }

  /** Whether TCP has ended, and it is to be found out whether the input has. */
  boolean endIsDue() {
    return tcpEnded && !over() && !stream.expectsMore();
  }

  boolean ended() {
    return ended;
  }

  boolean failed() {
    return failure != null;
  }

  long takenBytes() {
    return takenBytes;
  }

  /**
   * Waits until no bytes are on their way from TCP to what is kept, a moment in which they are in
   * neither. The reader needs no lock of this thread's for that.
   */
  void awaitTaken() {
    while (taking) {
      Thread.yield();
    }
  }

  /** Whether all that the peer has put on TCP is taken, and it says so. */
  boolean complete() {
    return stream.peerSwitchAt() == takenBytes;
  }

  // ---- the reader

  /** Hands out what is kept. */
  int takeKept(ByteBuffer dst) {
    ByteBuffer from = kept;
    int n = Math.min(from.remaining(), dst.remaining());
    int at = from.position();
    dst.put(dst.position(), from, at, n);
    dst.position(dst.position() + n);
    from.position(at + n);
    counters.tcpIn(n);
    if (!from.hasRemaining()) {
      kept = null;
    }
    return n;
  }

  /** What a read finds that finds no bytes: 0 for nothing now, or -1 at the end. */
  int end() throws SocketException {
    IOException failed = failure;
    if (failed != null) {
      if (connectionPath.input().resetReport().toReader()) {
        throw new SocketException(failed.getMessage());
      }
      return -1;
    }
    return ended ? -1 : 0;
  }

  /** Whether this side has met a reset on TCP, which took the kernel's error from writes. */
  boolean tookReset() {
    return failure != null;
  }

  /** A read without room for a byte. */
  int readNothing() throws SocketException {
    if (connectionPath.input().resetReport().reportedToReader()) {
      throw ConnectionPath.reset();
    }
    return 0;
  }

  /**
   * Takes bytes from TCP, and finds out whether the peer has switched.
   *
   * @param wanted how many bytes there is room for
   */
  void pull(int wanted) {
    if (!connectionPath.input().switchIfDue() && !over()) {
      connectionPath.upgrade().noteWithdrawal();
      long switchAt = stream.peerSwitchAt();
      if (switchAt >= 0 && switchAt < takenBytes) { // no honest peer has switched before that
        fail(ConnectionPath.reset());
      } else if (tcpEnded) {
        endIfOver();
      } else {
        long most =
            switchAt >= 0 ? switchAt - takenBytes : Math.max(wanted, ControlLink.DOORBELLS_AT_ONCE);
        pullAtMost((int) Math.min(most, KEPT_BYTES));
      }
    }
  }

  private void pullAtMost(int bytes) {
    ByteBuffer more = ByteBuffer.allocate(bytes <= LITTLE_BYTES ? bytes : roomForAll(bytes));
    long before = takenBytes;
    int n;
    try {
      n = take(more);
    } catch (IOException e) {
      fail(e);
      connectionPath.upgrade().noteWithdrawal();
      connectionPath.input().switchIfDue();
      return;
    }
    if (n > takenBytes - before) { // doorbells, too
      counters.wakeupReceived();
      connectionPath.waiter().wakeAll(); // it may have been for another thread than this reader
    }
    if (n < 0) {
      tcpEnded = true;
      endIfOver();
    }
    connectionPath.input().switchIfDue();
  }

  /**
   * How much room what is there needs: thousands of connections take a little each while they are
   * set up.
   */
  private int roomForAll(int most) {
    try {
      int there = connectionPath.link().available();
      return Math.min(most, Math.max(there, ControlLink.DOORBELLS_AT_ONCE));
    } catch (IOException e) {
      return most; // the read tells what is wrong
    }
  }

  /** Ends, unless the peer may have switched before TCP ended. */
  private void endIfOver() {
    boolean reset = connectionPath.link().end(false);
    if (!connectionPath.link().unsettled()) {
      if (reset) {
        failure = ConnectionPath.reset(); // the peer was killed with bytes of ours unread
      } else {
        ended = true;
      }
    }
    connectionPath.upgrade().noteWithdrawal(); // it came before the end
  }

  /**
   * Takes bytes from TCP, and keeps those that are the program's. None once this side has said how
   * it ends: the kernel must find unread what the program has not read.
   *
   * @return how many came, with doorbells behind the program's bytes; -1 at the end
   */
  private int take(ByteBuffer more) throws IOException {
    taking = true; // before the look at the end: see PathOutput.end
    try {
      int n = connectionPath.ending().isUnpublished() ? control.read(more) : 0;
      if (n > 0) {
        took(more, n);
      }
      return n;
    } finally {
      taking = false;
    }
  }

  private void took(ByteBuffer more, int n) {
    long switchAt = stream.peerSwitchAt();
    int bytes = switchAt >= 0 ? (int) Math.max(0, Math.min(n, switchAt - takenBytes)) : n;
    if (bytes > 0) {
      long taken = takenBytes + bytes;
      takenBytes = taken;
      stream.inputTaken(taken);
      keep(more.flip().limit(bytes));
    }
  }

  private void fail(IOException how) {
    failure = how;
    connectionPath.link().endByReset();
  }

  private void keep(ByteBuffer bytes) {
    ByteBuffer had = kept;
    kept =
        had == null
            ? bytes
            : ByteBuffer.allocate(had.remaining() + bytes.remaining()).put(had).put(bytes).flip();
  }
}
