// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Role;
import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlWaiter;
import io.talaria.nio.control.TcpInput;
import io.talaria.nio.control.TcpOutput;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One connection: its two transports, and what concerns both directions. Each direction, and what
 * else belongs to a connection, is an object of its own, made here:
 *
 * <pre>
 *   {@link PathInput}     {@link TcpInput} → {@link SwitchingInput} → {@link TransportInput}; under the channel's read lock
 *   {@link PathOutput}    {@link TcpOutput} → {@link TransportOutput}, doorbells, the end of the output; under its out lock
 *   {@link PathUpgrade}   how the stream comes, and is given up again
 *   {@link ControlLink}   doorbells and the end of the control connection
 *   {@link ControlWaiter}, {@link TransportSleep}   sleeping in blocking calls
 *   {@link Membership}     the selector's ready set in which the stream is
 *   {@link Ending}        close, linger, release
 * </pre>
 *
 * <p>What every read, write and look of a selector needs first stands here, in one place: what is
 * read from and written to on the transport, and the stream. The directions set the former two.
 *
 * <p>The input may switch when our reader has agreed, the output once both readers have. A doorbell
 * is rung only after our own output has switched, so no doorbell ever stands before an
 * application's byte.
 *
 * <p>Any thread, except where marked.
 */
final class ConnectionPath implements StreamOwner {
  /** How long a thread sleeps at most on a path that is {@link #deaf}. */
  static final int DEAF_LOOK_MS = 10;

  // First what every read and write needs: a thousand connection paths are short of cache lines.

  /**
   * Once all input comes from the transport and nothing of TCP's is left: set by {@link PathInput},
   * under the read lock.
   */
  private volatile TransportInput transportInput;

  /** Once the output has switched: set by {@link PathOutput}, under the out lock. */
  private volatile TransportOutput transportOutput;

  /** Attached once, under the out lock and the state lock. */
  private volatile TransportStream stream;

  /** Set before the stream is. */
  private Membership membership;

  /** Set before the stream is. */
  private TransportSleep transportSleep;

  private final Context context;
  private final ConnectionCounters counters;
  private final TalariaSocketChannel channel;
  private final ControlWaiter waiter;
  private final ControlLink link;
  private final Ending ending;
  private final PathUpgrade upgrade;
  private final PathInput input;
  private final PathOutput output;

  private volatile boolean lost;

  /** How often the peer has woken this side through the session. */
  private final AtomicInteger wakes = new AtomicInteger();

  ConnectionPath(
      Context context,
      TalariaSocketChannel channel,
      Role role,
      ConnectionCounters counters,
      InetSocketAddress local,
      InetSocketAddress remote) {
    this.context = context;
    this.channel = channel;
    this.counters = counters;
    SocketChannel control = channel.control();
    waiter = new ControlWaiter(control, this::nothingToWaitFor, context::repeat);
    link = new ControlLink(this, control, counters);
    ending = new Ending(context, this, link);
    ConnectionKey key =
        role == Role.CLIENT ? new ConnectionKey(local, remote) : new ConnectionKey(remote, local);
    upgrade = new PathUpgrade(context, this, channel, role, key, counters);
    input = new PathInput(context, this, channel, counters);
    output = new PathOutput(context, this, channel, counters);
  }

  private boolean nothingToWaitFor(int who, int event) {
    return who == ControlWaiter.READER ? input.nothingToWaitFor() : output.nothingToWaitFor(event);
  }

  // ---- its parts, for each other

  /** The stream, or null while there is none. */
  TransportStream stream() {
    return stream;
  }

  ControlLink link() {
    return link;
  }

  ControlWaiter waiter() {
    return waiter;
  }

  /** Where the stream lives; while there is one. */
  Membership membership() {
    return membership;
  }

  PathUpgrade upgrade() {
    return upgrade;
  }

  PathInput input() {
    return input;
  }

  PathOutput output() {
    return output;
  }

  Ending ending() {
    return ending;
  }

  TransportSleep transportSleep() {
    return transportSleep;
  }

  /** How often the peer has woken this side through the session. */
  int wakes() {
    return wakes.get();
  }

  /** What is read from, or null while not all comes from the transport. */
  TransportInput transportInput() {
    return transportInput;
  }

  /** All comes from the transport from now on. */
  void readsFrom(TransportInput fast) {
    assert channel.readLock().isHeldByCurrentThread();
    transportInput = fast;
  }

  /** What is written to, or null while that is TCP. Changed under the out lock. */
  TransportOutput transportOutput() {
    return transportOutput;
  }

  /** The output switches. */
  void writesTo(TransportOutput fast) {
    assert Thread.holdsLock(output.lock());
    transportOutput = fast;
  }

  /** Takes the stream that carries the bytes once both sides have agreed. Once. */
  void attach(TransportStream fast) {
    assert Thread.holdsLock(output.lock()) && Thread.holdsLock(channel.stateLock());
    membership = new Membership(fast);
    transportSleep =
        fast.wakesByItself()
            ? new SelfWakingSleep(this, fast, counters)
            : new DoorbellSleep(this, fast, counters, context.audit().doorbells());
    stream = fast;
  }

  static SocketException reset() {
    return new SocketException("Connection reset");
  }

  /** Whether the stream's memory is gone. */
  boolean isLost() {
    return lost;
  }

  void switchOutIfEstablished() {
    output.switchIfEstablished();
  }

  /** Has the selectors of the channel look at it. */
  void nudgeSelectors() {
    for (TalariaSelectionKey registered : channel.keys().all()) {
      registered.owner().nudge(registered);
    }
  }

  // ---- reading: under the read lock

  /** Reads what is there: bytes, 0 for nothing now, -1 at the end. The destination has room. */
  int read(ByteBuffer dst) throws IOException {
    TransportInput fast = transportInput;
    return fast != null ? fast.read(dst) : input.readBeforeTransport(dst);
  }

  /** Scatters what is there; the first destination has room. */
  long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    return transportInput != null
        ? readEach(dsts, offset, length)
        : input.readBeforeTransport(dsts, offset, length);
  }

  /** Fills one buffer after the other with what is there. */
  long readEach(ByteBuffer[] dsts, int offset, int length) throws IOException {
    long n = read(dsts[offset]);
    if (n > 0 && !dsts[offset].hasRemaining()) {
      n += readMore(dsts, offset + 1, length - 1);
    }
    return n;
  }

  /** Fills further buffers with what is there; an end or failure shows at the next read. */
  long readMore(ByteBuffer[] dsts, int offset, int length) throws IOException {
    long total = 0;
    for (int i = offset; i < offset + length; i++) {
      ByteBuffer dst = dsts[i];
      if (dst.hasRemaining()) {
        if (!moreAtHand(dst.remaining())) {
          return total;
        }
        int n = read(dst);
        if (n <= 0) {
          return total;
        }
        total += n;
        if (dst.hasRemaining()) {
          return total;
        }
      }
    }
    return total;
  }

  private boolean moreAtHand(int wanted) {
    return transportInput != null ? stream.unread() : input.moreAtHand(wanted);
  }

  int spinRead(ByteBuffer dst) throws IOException {
    TransportInput fast = transportInput;
    return fast == null ? 0 : fast.spin(dst);
  }

  // ---- writing: under the write lock

  int write(ByteBuffer src) throws IOException {
    TransportOutput fast = transportOutput;
    return fast != null ? fast.write(src) : output.writeBeforeTransport(src);
  }

  long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    TransportOutput fast = transportOutput;
    return fast != null
        ? fast.write(srcs, offset, length)
        : output.writeBeforeTransport(srcs, offset, length);
  }

  void spinWrite(ByteBuffer src) throws IOException {
    TransportOutput fast = transportOutput;
    if (fast != null) {
      fast.spin(src);
    }
  }

  // ---- what the stream tells and asks

  @Override
  public void woken() {
    switchOutIfEstablished();
    wakes.incrementAndGet();
    waiter.wakeAll();
    nudgeSelectors();
  }

  @Override
  public void wake() {
    nudgeSelectors();
    waiter.wakeAll();
  }

  @Override
  public void lost() {
    lost = true;
    nudgeSelectors();
    waiter.wakeAll();
  }

  @Override
  public boolean ring() {
    return output.ring();
  }

  @Override
  public void rung() {
    counters.wakeupSent();
  }

  @Override
  public void released() {
    upgrade.noteWithdrawal();
  }

  @Override
  public void whileNobodyWrites(Runnable work) {
    channel.whileNobodyWrites(work);
  }

  @Override
  public void whileNobodyReads(Runnable work) {
    channel.whileNobodyReads(work);
  }

  @Override
  public void stalled() {
    counters.stalled();
  }

  @Override
  public void buffersChanged(int inBytes, int outBytes) {
    upgrade.showBuffers(inBytes, outBytes);
  }

  // ---- selecting: any thread

  /**
   * Takes what the control connection brought: doorbells, its end, or bytes that were on the way.
   */
  void controlReadable() {
    input.controlReadable();
  }

  /**
   * Whether doorbells may stand behind more bytes than are taken from TCP before the program reads
   * them: no thread hears a doorbell then, and a thread that waits for room looks at intervals.
   */
  boolean deaf() {
    return input.deaf();
  }

  /** Whether the transport has a say in this connection's readiness. */
  boolean attached() {
    return transportInput != null || (input.agreed() && !upgrade.plainAgain());
  }

  /** Whether our input is on the transport, so that TCP brings nothing but doorbells. */
  boolean switchedIn() {
    return input.switched();
  }

  /** Whether our output is on the transport, so that doorbells may come. */
  boolean switchedOut() {
    return transportOutput != null;
  }

  /** Whether both directions are on the transport. */
  boolean switched() {
    return switchedIn() && switchedOut();
  }

  /** Whether the channel is about to close, or has. */
  boolean closing() {
    return channel.closing();
  }

  boolean controlOpen() {
    return !link.ended();
  }

  /**
   * The control connection is about to be heard by no selector, because the channel becomes
   * blocking or closes. Then no thread may ring a selector by it, or that would be taken for the
   * doorbell of all neighbours: the stream leaves its ready set first, and the sleep that a
   * doorbell may have been meant for ends afterwards.
   *
   * @param forGood whether the channel closes: no selector gives the stream a place again, and none
   *     touches it
   */
  void leaveReadySet(boolean forGood) {
    if (stream != null) {
      membership.leave(forGood);
      nudgeSelectors();
    }
  }

  /**
   * Which of the given TransportStream operations the transport and TCP's rest know to be ready.
   */
  int readiness(int ops) {
    if (transportInput != null && transportOutput != null && !channel.inputClosed()) {
      return stream.readiness(ops);
    }
    return input.readinessWhileSwitching(ops);
  }

  // ---- ending

  /** Wakes threads that sleep in this channel because it closes. */
  void wakeAll() {
    link.shutInput();
    waiter.wakeAll();
  }

  /** The channel is closed: it is no longer shown, and looks for no stream. No thread is inside. */
  void closed() {
    upgrade.closed();
    counters.close();
  }

  /**
   * Closes the control connection: at once if the connection ends with a reset, else when the peer
   * has what was put on TCP. How it ends has been said. The first call counts.
   */
  void closeControl() {
    ending.close();
  }

  /** Gives the stream back once its close is over: the channel is closed, and in no selector. */
  void release() {
    ending.release();
  }

  @Override
  public String toString() {
    return upgrade.toString();
  }
}
