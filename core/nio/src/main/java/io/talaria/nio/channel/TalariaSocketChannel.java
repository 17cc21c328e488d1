// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Role;
import io.talaria.nio.adaptor.SocketAdaptor;
import io.talaria.nio.adaptor.SocketChannels;
import io.talaria.nio.adaptor.TimedChannel;
import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlOptions;
import io.talaria.nio.control.ShownAddress;
import io.talaria.nio.control.SocketConnect;
import io.talaria.nio.control.SocketInterrupt;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.transport.TransportStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection as the program sees it: the JDK's TCP channel as control connection, and once it is
 * upgraded a {@link TransportStream} that carries the bytes. {@link ConnectionPath} holds what
 * moves the bytes; this class is the contract of {@link SocketChannel}: locks, modes, connecting
 * and closing.
 *
 * <p>Locks, in this order: read lock, write lock, the connection path's out lock, state lock.
 */
final class TalariaSocketChannel extends SocketChannel implements Registrable {
  private static final int UNCONNECTED = 0;
  private static final int PENDING = 1;
  private static final int CONNECTED = 2;
  private static final int CLOSING = 3;
  private static final int CLOSED = 4;

  /**
   * How long an end waits at most for a thread that is inside for a moment, such as a writer that
   * copies; a thread may be kept from running.
   */
  private static final long INSIDE_LIMIT_NS = 200_000_000L;

  private final Context context;
  private final SocketChannel control;
  private final ReentrantLock readLock = new ReentrantLock();
  private final ReentrantLock writeLock = new ReentrantLock();
  private final Object stateLock = new Object();
  private final RegisteredKeys keys = new RegisteredKeys();

  /** Grows only; changed under the state lock. */
  private volatile int state = UNCONNECTED;

  /**
   * How this channel closes: see {@link Ending}. Set before the state is CLOSING, and final then.
   */
  private boolean closesInTwoSteps;

  /** Set once, when connected. */
  private volatile ConnectionPath connectionPath;

  /**
   * What ended a write that had written a part, for the next call that meets it: a write, or a read
   * if it is a reset. Changed under the state lock.
   */
  private volatile IOException endOfWrites;

  /** A read was told of a reset that had cut a write short. Under the read lock. */
  private boolean cutResetRead;

  /** The writer inside does not copy before it has looked whether it may. Under the write lock. */
  private volatile boolean writerRests;

  private volatile boolean inputClosed;
  private volatile boolean outputClosed;
  private volatile SocketAddress local;
  private volatile SocketAddress remote;

  private final ControlOptions options;

  /** The time to live by which a peer in another network namespace knows its packets, or 0. */
  private final int ttl;

  /** Whether a socket of the program stands before it, which no interrupt closes. */
  private final boolean ofSocket;

  /** Connects a channel behind a socket. */
  private final SocketConnect connecting;

  private Socket adaptor;

  TalariaSocketChannel(Context context, SocketChannel control) {
    this(context, control, false, context.mark(control));
  }

  private TalariaSocketChannel(Context context, SocketChannel control, boolean ofSocket, int ttl) {
    super(context.provider());
    this.ofSocket = ofSocket;
    this.ttl = ttl;
    this.context = context;
    this.control = control;
    options = new ControlOptions(control);
    connecting = new SocketConnect(control, this::closing, context::repeat);
  }

  /**
   * Wraps a connection that the JDK's listener has accepted.
   *
   * @param receiveBuffer what the program has set at the listener, or 0
   */
  static TalariaSocketChannel accepted(Context context, SocketChannel control, int receiveBuffer)
      throws IOException {
    return accepted(context, control, false, receiveBuffer);
  }

  /** A channel to stand behind a {@code java.net.Socket} that will connect. */
  static SocketChannels.Client forSocket(Context context, SocketChannel control) {
    return new TalariaSocketChannel(context, control, true, context.mark(control)).client();
  }

  /** Wraps an accepted connection to stand behind a {@code java.net.Socket}. */
  static SocketChannels.Client acceptedForSocket(
      Context context, SocketChannel control, int receiveBuffer) throws IOException {
    return accepted(context, control, true, receiveBuffer).client();
  }

  private SocketChannels.Client client() {
    return new SocketChannels.Client(this, new Timed());
  }

  private static TalariaSocketChannel accepted(
      Context context, SocketChannel control, boolean ofSocket, int receiveBuffer)
      throws IOException {
    TalariaSocketChannel channel = new TalariaSocketChannel(context, control, ofSocket, 0);
    channel.options.inheritReceiveBuffer(receiveBuffer);
    try {
      channel.connected(Role.ACCEPTED);
    } catch (IOException | RuntimeException | Error e) {
      control.close();
      throw e;
    }
    return channel;
  }

  // ---- Registrable

  @Override
  public SocketChannel control() {
    return control;
  }

  @Override
  public RegisteredKeys keys() {
    return keys;
  }

  @Override
  public void deregistered() {
    releaseIfUnused();
  }

  /** What moves the bytes, or null while not connected. */
  ConnectionPath connectionPath() {
    return connectionPath;
  }

  int ttl() {
    return ttl;
  }

  ReentrantLock readLock() {
    return readLock;
  }

  boolean closing() {
    return state >= CLOSING;
  }

  /** Whether the close ends the output alone, until no selector has the channel any more. */
  boolean closesInTwoSteps() {
    return closing() && closesInTwoSteps;
  }

  /** Whether writers are to leave. */
  boolean outputEnding() {
    return outputClosed || closing();
  }

  /** Whether an upgrade may still begin; it may not for long, but under the state lock. */
  boolean upgradable() {
    return state == CONNECTED && !inputClosed && !outputClosed;
  }

  Object stateLock() {
    return stateLock;
  }

  boolean inputClosed() {
    return inputClosed;
  }

  ControlOptions options() {
    return options;
  }

  // ---- reading

  @Override
  public int read(ByteBuffer dst) throws IOException {
    return readGuarded(dst, -1);
  }

  private int readGuarded(ByteBuffer dst, long timeoutNs) throws IOException {
    int start = dst.position();
    try {
      return read(dst, timeoutNs);
    } catch (InternalError e) {
      int moved = moved(e, dst, start);
      return moved > 0 ? moved : read(dst, timeoutNs);
    }
  }

  /**
   * After an error that may be {@linkplain Faults late}: how many bytes the call has moved if this
   * connection is sound. If its memory is gone none count, and it is to be asked again.
   */
  private int moved(InternalError error, ByteBuffer buffer, int start) {
    examine(error);
    if (connectionPath.isLost()) {
      buffer.position(start);
    }
    return buffer.position() - start;
  }

  /** The error may have come between a lock and its release. */
  private void examine(InternalError error) {
    while (writeLock.isHeldByCurrentThread()) {
      writeLock.unlock();
    }
    while (readLock.isHeldByCurrentThread()) {
      readLock.unlock();
    }
    finishCloseIfClosing();
    context.examine(error);
  }

  /** Reads; a time-out of -1 follows the blocking mode, 0 and more demand a blocking channel. */
  private int read(ByteBuffer dst, long timeoutNs) throws IOException {
    Objects.requireNonNull(dst);
    readLock.lock();
    try {
      ConnectionPath open = openForReading();
      boolean blocking = isBlocking();
      if (timeoutNs >= 0 && !blocking) {
        throw new IllegalBlockingModeException();
      }
      if (blocking && interruptCloses()) {
        return interrupted();
      }
      if (inputClosed) {
        return -1;
      }
      if (dst.isReadOnly()) {
        throw readOnly(open);
      }
      if (!dst.hasRemaining()) {
        return open.input().readNothing();
      }
      int n = open.read(dst);
      if (n == 0 && blocking) {
        n = awaitRead(open, dst, Math.max(0, timeoutNs));
      }
      return n < 0 ? endOfInput() : n;
    } catch (IOException e) {
      throw closing() ? closedBySomeone(e) : e;
    } finally {
      readLock.unlock();
      finishCloseIfClosing();
    }
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    try {
      return scatter(dsts, offset, length);
    } catch (InternalError e) {
      throwIfSound(e);
      return scatter(dsts, offset, length);
    }
  }

  /** How much a call with many buffers has moved is unknown; it matters if the rest continues. */
  private void throwIfSound(InternalError error) {
    examine(error);
    if (!connectionPath.isLost()) {
      throw error;
    }
  }

  private long scatter(ByteBuffer[] dsts, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, dsts.length);
    readLock.lock();
    try {
      ConnectionPath open = openForReading();
      boolean blocking = isBlocking();
      if (blocking && interruptCloses()) {
        return interrupted();
      }
      if (inputClosed) {
        return -1;
      }
      for (int i = offset; i < offset + length; i++) {
        if (dsts[i].isReadOnly()) {
          throw readOnly(open);
        }
      }
      int first = offset;
      while (first < offset + length && !dsts[first].hasRemaining()) {
        first++;
      }
      if (first == offset + length) {
        return open.input().readNothing();
      }
      long n = open.read(dsts, first, offset + length - first);
      if (n == 0 && blocking) {
        n = awaitRead(open, dsts[first], 0);
        if (n > 0 && !dsts[first].hasRemaining()) {
          n += open.readMore(dsts, first + 1, offset + length - first - 1);
        }
      }
      return n < 0 ? endOfInput() : n;
    } catch (IOException e) {
      throw closing() ? closedBySomeone(e) : e;
    } finally {
      readLock.unlock();
      finishCloseIfClosing();
    }
  }

  /** Refuses a buffer, unless the connection is known to be reset. */
  private static IllegalArgumentException readOnly(ConnectionPath open) throws IOException {
    open.input().readNothing();
    return new IllegalArgumentException("Read-only buffer");
  }

  private ConnectionPath openForReading() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    ConnectionPath open = connectionPath;
    if (open == null) {
      throw new NotYetConnectedException();
    }
    return open;
  }

  /** What a read says at the end of the stream: -1, unless it is the first to meet a reset. */
  private int endOfInput() throws IOException {
    if (closing()) { // which wakes readers by ending TCP's input; that is not the peer's end
      throw new AsynchronousCloseException();
    }
    if (inputClosed) {
      return -1;
    }
    IOException kept = endOfWrites;
    if (kept != null && TransportOutput.RESET_BY_PEER.equals(kept.getMessage())) {
      cutResetRead |= takeEndOfWrites() != null;
    }
    if (cutResetRead) {
      throw ConnectionPath.reset();
    }
    return -1;
  }

  /** What fails because this side closes is no failure of the connection. */
  private static IOException closedBySomeone(IOException e) {
    return e instanceof ClosedChannelException ? e : new AsynchronousCloseException();
  }

  private boolean interruptCloses() {
    return !ofSocket && Thread.currentThread().isInterrupted();
  }

  private void beginWaiting() {
    if (!ofSocket) {
      begin();
    }
  }

  private void endWaiting(boolean completed) throws AsynchronousCloseException {
    if (!ofSocket) {
      end(completed);
    } else if (!completed && !isOpen()) {
      throw new AsynchronousCloseException();
    }
  }

  /** With the interrupt status set, a blocking operation closes the channel. */
  private int interrupted() throws IOException {
    begin();
    end(false);
    throw new AsynchronousCloseException();
  }

  private int awaitRead(ConnectionPath open, ByteBuffer dst, long timeoutNs) throws IOException {
    int n = open.spinRead(dst);
    if (n != 0) {
      return n;
    }
    long deadlineNs = timeoutNs == 0 ? 0 : System.nanoTime() + timeoutNs;
    boolean interrupted = false;
    beginWaiting();
    try {
      while (state == CONNECTED) {
        if (inputClosed) {
          n = -1;
          break;
        }
        n = open.read(dst);
        if (n != 0) {
          break;
        }
        long leftNs = 0;
        if (timeoutNs != 0) {
          leftNs = deadlineNs - System.nanoTime();
          if (leftNs <= 0) {
            break;
          }
        }
        interrupted |= ofSocket && SocketInterrupt.putOff();
        open.input().sleep(leftNs);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      endWaiting(n > 0);
    }
    if (n == 0) {
      throw new SocketTimeoutException("Read timed out");
    }
    return n;
  }

  // ---- writing

  @Override
  public int write(ByteBuffer src) throws IOException {
    int start = src.position();
    try {
      return writeOnce(src);
    } catch (InternalError e) {
      int moved = moved(e, src, start);
      return moved > 0 && !isBlocking() ? moved : moved + writeOnce(src);
    }
  }

  private int writeOnce(ByteBuffer src) throws IOException {
    writeLock.lock();
    try {
      ConnectionPath open = openForWriting();
      if (!src.hasRemaining()) {
        return 0;
      }
      if (!isBlocking()) {
        return open.write(src);
      }
      int start = src.position();
      int n = open.write(src);
      if (src.hasRemaining()) {
        awaitWrite(open, src, n > 0);
        n = src.position() - start;
      }
      return n;
    } catch (IOException e) {
      throw closing() ? closedBySomeone(e) : e;
    } finally {
      writeLock.unlock();
      finishCloseIfClosing();
    }
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    try {
      return gather(srcs, offset, length);
    } catch (InternalError e) {
      throwIfSound(e);
      return gather(srcs, offset, length);
    }
  }

  private long gather(ByteBuffer[] srcs, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, srcs.length);
    writeLock.lock();
    try {
      ConnectionPath open = openForWriting();
      if (!isBlocking()) {
        return open.write(srcs, offset, length);
      }
      long n = open.write(srcs, offset, length);
      for (int i = offset; i < offset + length; i++) {
        int before = srcs[i].remaining();
        if (before > 0) {
          boolean whole = awaitWrite(open, srcs[i], n > 0);
          n += before - srcs[i].remaining();
          if (!whole) {
            break;
          }
        }
      }
      return n;
    } catch (IOException e) {
      throw closing() ? closedBySomeone(e) : e;
    } finally {
      writeLock.unlock();
      finishCloseIfClosing();
    }
  }

  private ConnectionPath openForWriting() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    ConnectionPath open = connectionPath;
    if (open == null) {
      throw new NotYetConnectedException();
    }
    if (isBlocking() && interruptCloses()) {
      interrupted();
    }
    if (outputClosed) {
      throw new AsynchronousCloseException(); // in the JDK's words, also if nothing was under way
    }
    IOException kept = endOfWrites == null ? null : takeEndOfWrites();
    if (kept != null) {
      throw kept;
    }
    return open;
  }

  /**
   * Writes what is left, waiting for room. If something ends the output meanwhile, what has been
   * written counts, as it does for a write in the kernel: the call succeeds with a part, and the
   * next one fails.
   *
   * @param part whether the operation has written a part before
   * @return whether all is written, and not a part alone
   */
  private boolean awaitWrite(ConnectionPath open, ByteBuffer src, boolean part) throws IOException {
    int start = src.position();
    if (!outputEnding()) {
      try {
        open.spinWrite(src);
      } catch (IOException e) {
        keepForNextWrite(e, part || src.position() > start);
        return false;
      }
      if (!src.hasRemaining()) {
        return true;
      }
    }
    boolean interrupted = false;
    beginWaiting();
    try {
      while (state == CONNECTED && !outputClosed) {
        open.write(src);
        if (!src.hasRemaining()) {
          return true;
        }
        interrupted |= ofSocket && SocketInterrupt.putOff();
        writerRests = true;
        try {
          open.output().sleep();
        } finally {
          writerRests = false;
        }
      }
      if (!part && src.position() == start) {
        throw new AsynchronousCloseException();
      }
    } catch (IOException e) {
      keepForNextWrite(e, part || src.position() > start);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      writerRests = true; // on Java 17, end may wait for an interrupt that is just closing us
      try {
        endWaiting(part || src.position() > start);
      } finally {
        writerRests = false;
      }
    }
    return false;
  }

  /** Keeps what has ended a write for the next one, if this one has written a part. */
  private void keepForNextWrite(IOException e, boolean part) throws IOException {
    if (!part) {
      throw e;
    }
    synchronized (stateLock) {
      endOfWrites = e;
    }
  }

  private IOException takeEndOfWrites() {
    synchronized (stateLock) {
      IOException kept = endOfWrites;
      endOfWrites = null;
      return kept;
    }
  }

  // ---- half-close

  @Override
  public SocketChannel shutdownInput() throws IOException {
    context.guarded(
        () -> {
          ConnectionPath open;
          synchronized (stateLock) {
            open = openForReading();
            if (!inputClosed) {
              open.input().shutdown();
              inputClosed = true;
            }
            open.input().wakeReader();
          }
          open.output().abandonIfBothAreShut();
        });
    return this;
  }

  @Override
  public SocketChannel shutdownOutput() throws IOException {
    ConnectionPath open = openForReading();
    boolean was = outputClosed;
    context.guarded(
        () -> {
          boolean accelerated =
              open.output()
                  .shutdown(
                      () -> {
                        outputClosed = true;
                        return was || closing(); // a close ends the output itself
                      });
          if (accelerated) {
            awaitWriter();
            open.output().finish();
          }
          open.output().wakeWriter();
        });
    return this;
  }

  /**
   * Waits for a writer inside, so that what a write reports as taken stands before the end. Writers
   * have been told to leave, so this takes the time of a copy, and does not wait for one that
   * sleeps.
   */
  private void awaitWriter() {
    long startNs = System.nanoTime();
    while (!writerRests && System.nanoTime() - startNs < INSIDE_LIMIT_NS) {
      if (writeLock.tryLock()) {
        writeLock.unlock();
        finishCloseIfClosing();
        return;
      }
      Thread.yield();
    }
  }

  // ---- what the transport does with a direction that rests

  /** Runs something if no writer is inside and the channel does not close. Does not wait. */
  void whileNobodyWrites(Runnable work) {
    runIfFree(writeLock, work);
  }

  /** Runs something if no reader is inside and the channel does not close. Does not wait. */
  void whileNobodyReads(Runnable work) {
    runIfFree(readLock, work);
  }

  private void runIfFree(ReentrantLock lock, Runnable work) {
    if (lock.tryLock()) {
      try {
        if (!closing()) { // else the stream may be released
          work.run();
        }
      } finally {
        lock.unlock();
        finishCloseIfClosing();
      }
    }
  }

  // ---- connecting

  @Override
  public SocketChannel bind(SocketAddress address) throws IOException {
    if (!isOpen()) { // while what is underneath may not have been closed yet
      throw new ClosedChannelException();
    }
    control.bind(address);
    local = Privileged.call(control::getLocalAddress);
    return this;
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    checkRemote(address);
    return begin(() -> control.connect(address));
  }

  /** What is wrong with the address says so before the state of the channel does. */
  private static void checkRemote(SocketAddress address) {
    Objects.requireNonNull(address);
    if (!(address instanceof InetSocketAddress internet)) {
      throw new UnsupportedAddressTypeException();
    }
    if (internet.isUnresolved()) {
      throw new UnresolvedAddressException();
    }
  }

  @Override
  public boolean finishConnect() throws IOException {
    return state == CONNECTED || connect(this::finishControl);
  }

  /** Under the connect locks, which another thread may have held to finish it meanwhile. */
  private boolean finishControl() throws IOException {
    return state == CONNECTED || control.finishConnect();
  }

  private boolean begin(Connecting first) throws IOException {
    return connect(
        () -> {
          if (state == CONNECTED) {
            if (isBlocking() && interruptCloses()) {
              interrupted();
            }
            throw new AlreadyConnectedException();
          }
          return first.run();
        });
  }

  @FunctionalInterface
  private interface Connecting {
    boolean run() throws IOException;
  }

  private boolean connect(Connecting step) throws IOException {
    readLock.lock();
    writeLock.lock();
    try {
      if (!isOpen()) {
        throw new ClosedChannelException();
      }
      boolean done = step.run();
      synchronized (stateLock) {
        if (state == UNCONNECTED) {
          state = PENDING;
        }
      }
      if (done && state != CONNECTED) {
        connected(Role.CLIENT);
      }
      return done;
    } catch (IOException e) {
      if (!control.isOpen()) {
        close(); // a failed or interrupted connect closes the channel
      }
      throw e;
    } finally {
      writeLock.unlock();
      readLock.unlock();
      finishCloseIfClosing();
    }
  }

  private void connected(Role role) throws IOException {
    control.configureBlocking(false);
    local = Privileged.call(control::getLocalAddress);
    remote = control.getRemoteAddress();
    ConnectionCounters counters = context.counters().connection(role, local, remote);
    ConnectionPath made =
        new ConnectionPath(
            context, this, role, counters, (InetSocketAddress) local, (InetSocketAddress) remote);
    synchronized (stateLock) {
      if (state >= CLOSING) {
        counters.close();
        throw new AsynchronousCloseException();
      }
      connectionPath = made;
      state = CONNECTED;
    }
    Privileged.run(made.upgrade()::seek);
  }

  @Override
  public boolean isConnected() {
    return state == CONNECTED;
  }

  @Override
  public boolean isConnectionPending() {
    return state == PENDING || control.isConnectionPending();
  }

  @Override
  public SocketAddress getRemoteAddress() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    SocketAddress known = remote;
    return known == null ? control.getRemoteAddress() : known; // a pending connect has one too
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    SocketAddress known = local;
    return known == null || state != CONNECTED
        ? control.getLocalAddress()
        : ShownAddress.of(control, known);
  }

  // ---- options

  @Override
  public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    checkSupported(name);
    if (!name.type().isInstance(value)) {
      throw new IllegalArgumentException("Invalid value '" + value + "'");
    }
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    options.set(name, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    checkSupported(name);
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    return options.get(name);
  }

  private void checkSupported(SocketOption<?> name) {
    Objects.requireNonNull(name);
    if (!supportedOptions().contains(name)) {
      throw new UnsupportedOperationException("'" + name + "' not supported");
    }
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return control.supportedOptions();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    readLock.lock();
    writeLock.lock();
    try {
      if (block) {
        ConnectionPath open = connectionPath;
        if (open != null) {
          open.leaveReadySet(false); // a selector may sleep that has yet to see its key cancelled
        }
        keys.cancelInner();
      }
      if (state < CONNECTED) {
        control.configureBlocking(block);
      }
    } finally {
      writeLock.unlock();
      readLock.unlock();
      finishCloseIfClosing();
    }
  }

  // ---- closing: waiting threads are woken, and the last thread to leave finishes

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    boolean inTwoSteps = !isBlocking() && isRegistered();
    synchronized (stateLock) {
      closesInTwoSteps = inTwoSteps;
      state = CLOSING;
    }
    ConnectionPath open = connectionPath;
    if (open == null) {
      connecting.awaitOut();
      control.close(); // also ends a connect in progress
    } else {
      context.guarded(
          () -> {
            open.leaveReadySet(true);
            if (open.output().endsAccelerated()) {
              awaitWriter();
            }
            endAsItCloses(open);
          });
    }
    finishCloseIfClosing();
    if (open != null && open.ending().isByReset()) {
      awaitPassers(open);
    }
    if (state == CLOSING && open != null && !inTwoSteps) { // else no thread sleeps in it
      open.wakeAll();
    }
  }

  /**
   * After a reset the port is free when close returns, unless a thread sleeps in the channel: the
   * negotiation thread may be inside for a moment, and finishes the close then.
   */
  private void awaitPassers(ConnectionPath open) {
    long startNs = System.nanoTime();
    while (state == CLOSING
        && !open.waiter().anybodySleeps()
        && !readLock.isHeldByCurrentThread()
        && !writeLock.isHeldByCurrentThread()
        && System.nanoTime() - startNs < INSIDE_LIMIT_NS) {
      Thread.yield();
      finishCloseIfClosing();
    }
  }

  /** Says how this side ends, as far as the close says it now. Idempotent. */
  private void endAsItCloses(ConnectionPath open) {
    if (closesInTwoSteps()) {
      open.output().endHalf();
    } else {
      open.output().end();
    }
  }

  /**
   * Ends a close that found a thread inside; called by each thread that has just released a lock.
   */
  void finishCloseIfClosing() {
    if (state == CLOSING && readLock.tryLock()) {
      boolean finished = false;
      try {
        if (writeLock.tryLock()) {
          try {
            finished = finishClose();
          } finally {
            writeLock.unlock();
          }
        }
      } finally {
        readLock.unlock();
      }
      if (finished) {
        releaseIfUnused();
      } else if (state == CLOSING && !readLock.isLocked() && !writeLock.isLocked()) {
        finishCloseIfClosing(); // the writer left while we held the read lock
      }
    }
  }

  private boolean finishClose() {
    if (readLock.getHoldCount() > 1 || writeLock.getHoldCount() > 1) {
      return false;
    }
    ConnectionPath open = connectionPath;
    if (state == CLOSING && open != null) { // if the thread that closes has not come to it yet
      open.leaveReadySet(true);
      endAsItCloses(open);
    }
    synchronized (stateLock) {
      if (state != CLOSING) {
        return false;
      }
      state = CLOSED;
    }
    if (open != null) {
      open.closed();
      if (!closesInTwoSteps()) {
        open.closeControl();
      }
    }
    return true;
  }

  /**
   * Takes the second step of a close, if it has one, and gives the stream back, once no thread can
   * be inside: closed, and in no selector. A deregistration comes after the key has left the
   * channel, and the thread that closes looks after the state is CLOSED: so one of them is here for
   * both.
   */
  private void releaseIfUnused() {
    ConnectionPath open = connectionPath;
    if (state == CLOSED && open != null && !isRegistered()) {
      if (closesInTwoSteps()) {
        context.guarded(open.output()::end);
        open.closeControl();
      }
      open.release();
    }
  }

  // ---- the socket adaptor

  @Override
  public Socket socket() {
    synchronized (stateLock) {
      if (adaptor == null) {
        adaptor = SocketAdaptor.of(this, new Timed());
      }
      return adaptor;
    }
  }

  private final class Timed implements TimedChannel {
    @Override
    public int read(ByteBuffer dst, long timeoutNs) throws IOException {
      return readGuarded(dst, timeoutNs);
    }

    @Override
    public void connect(SocketAddress address, long timeoutNs) throws IOException {
      checkRemote(address);
      if (!isBlocking()) {
        throw new IllegalBlockingModeException();
      }
      if (!isOpen()) {
        throw new AsynchronousCloseException();
      }
      if (ofSocket) {
        begin(() -> connecting.connect(address, timeoutNs));
        return;
      }
      int timeoutMs = (int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
      begin(
          () -> {
            control.socket().connect(address, timeoutMs);
            return true;
          });
    }

    @Override
    public int available() throws IOException {
      ConnectionPath open = openForReading();
      if (inputClosed || !readLock.tryLock()) {
        return 0; // a reader inside waits because nothing is here, or takes what is
      }
      try {
        return closing() ? 0 : open.input().available();
      } finally {
        readLock.unlock();
        finishCloseIfClosing();
      }
    }

    @Override
    public SocketAddress localAddress() {
      SocketAddress known = local;
      try {
        return known == null && control.isOpen()
            ? control.getLocalAddress()
            : ShownAddress.of(control, known);
      } catch (IOException e) {
        return known;
      }
    }

    @Override
    public SocketAddress remoteAddress() {
      SocketAddress known = remote;
      // Where a pending or failed connect was to go, the JDK's channel knows, also after close.
      return known == null ? control.socket().getRemoteSocketAddress() : known;
    }

    @Override
    public void sendUrgentData(int data) throws IOException {
      if (!isOpen()) {
        throw new ClosedChannelException();
      }
      if (outputClosed) {
        throw new AsynchronousCloseException();
      }
      TimedChannel.super.sendUrgentData(data);
    }

    @Override
    public boolean isInputOpen() {
      return !inputClosed;
    }

    @Override
    public boolean isOutputOpen() {
      return !outputClosed;
    }
  }

  @Override
  public String toString() {
    SocketAddress to = remote;
    if (to == null && isConnectionPending()) {
      to = control.socket().getRemoteSocketAddress(); // where it is connecting to
    }
    return "TalariaSocketChannel["
        + stateText()
        + (local == null ? "" : " local=" + ShownAddress.of(control, local))
        + (to == null ? "" : " remote=" + to)
        + "]";
  }

  private String stateText() {
    if (!isOpen()) {
      return "closed";
    }
    ConnectionPath open = connectionPath;
    if (open == null) {
      return isConnectionPending() ? "connection-pending" : "unconnected";
    }
    return open + (inputClosed ? " ishut" : "") + (outputClosed ? " oshut" : "");
  }
}
