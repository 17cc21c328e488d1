// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.spin.Spinner;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One connection: its two roads, and the switch between them. Says which phase each direction is in
 * and leads from one to the next; the phases themselves, and what else belongs to a connection, are
 * objects of their own:
 *
 * <pre>
 *   input   {@link TcpInput} → {@link SwitchingInput} → {@link FabricInput}      under the channel's read lock
 *   {@link LaneOutput}    the output, its switch, bells, its end
 *   {@link LaneUpgrade}   how the stream comes, and is given up again
 *   {@link ControlLink}   bells and the end of the control connection
 *   {@link ControlWaiter}, {@link FabricSleep}   sleeping in blocking calls
 *   {@link Residence}     the selector's home in which the stream is
 *   {@link Ending}        close, linger, release
 * </pre>
 *
 * <p><b>Input</b>: our reader accepts, which tells the peer that it may switch, and opens the
 * switching phase: bells may stand behind the application's bytes on TCP from then on. It ends when
 * all that the peer says it has put on TCP is taken. If one side withdraws, the input goes back to
 * TCP for good.
 *
 * <p><b>Output</b> switches once both readers have accepted. A bell is rung only after our own
 * output has switched, so no bell ever stands before an application's byte.
 */
final class Lane implements StreamOwner {
  private static final int ON_TCP = 0;
  private static final int SWITCHING = 1;
  private static final int ON_FABRIC = 2;

  private static final ByteBuffer NO_ROOM = ByteBuffer.allocate(0);

  /** How long anybody sleeps who is {@link #deaf}. */
  static final int DEAF_LOOK_MS = 10;

  // First what every read and write needs: a thousand lanes are short of cache lines.

  /** Once all input comes from the fabric and nothing of TCP's is left. Under the read lock. */
  private volatile FabricInput fabricInput;

  /** Once the output has switched. Under the out lock. */
  private volatile FabricOutput fabricOutput;

  /** Attached once, under the state lock. */
  private volatile FabricStream stream;

  /** Set before the stream is. */
  private Residence residence;

  /** Set before the stream is. */
  private FabricSleep fabricSleep;

  private final ConnectionCounters counters;
  private final Context context;
  private final TalariaSocketChannel channel;
  private final SocketChannel control;
  private final ReentrantLock readLock;
  private final ControlWaiter waiter;
  private final ControlLink link;
  private final Ending ending;
  private final LaneUpgrade upgrade;
  private final TcpInput tcpInput;
  private final LaneOutput output;

  /** From our consent on. Under the read lock. */
  private volatile SwitchingInput switchingInput;

  /** Grows, except that a withdrawal leads back. Under the read lock. */
  private volatile int inPhase = ON_TCP;

  private volatile boolean lost;

  /** How often the peer has woken this side through the session. */
  private final AtomicInteger wakes = new AtomicInteger();

  /** How many of these the reader knew when it last looked. */
  private int readerWakes;

  Lane(
      Context context,
      TalariaSocketChannel channel,
      Role role,
      ConnectionCounters counters,
      InetSocketAddress local,
      InetSocketAddress remote) {
    this.context = context;
    this.channel = channel;
    this.counters = counters;
    control = channel.control();
    readLock = channel.readLock();
    waiter =
        new ControlWaiter(
            control,
            (who, event) -> who == ControlWaiter.READER ? nothingToRead() : nothingToWrite(event),
            context::repeat);
    link = new ControlLink(this, control, counters);
    ending = new Ending(context, this, link);
    ConnectionKey key =
        role == Role.CLIENT ? new ConnectionKey(local, remote) : new ConnectionKey(remote, local);
    upgrade = new LaneUpgrade(context, this, channel, role, key, counters);
    tcpInput = new TcpInput(control, counters);
    output = new LaneOutput(context, this, channel, counters);
  }

  /** Whether a reader about to sleep has nothing to wait for. */
  private boolean nothingToRead() {
    return channel.closing()
        || channel.inputClosed()
        || wakes.get() != readerWakes
        || (inPhase != ON_TCP && (link.ended() || fabricSleep.over(FabricStream.READ)));
  }

  private boolean nothingToWrite(int event) {
    return output.nothingToWaitFor(event);
  }

  // ---- its parts, for each other

  /** The stream, or null while there is none. */
  FabricStream stream() {
    return stream;
  }

  ControlLink link() {
    return link;
  }

  ControlWaiter waiter() {
    return waiter;
  }

  /** Where the stream lives; while there is one. */
  Residence residence() {
    return residence;
  }

  LaneUpgrade upgrade() {
    return upgrade;
  }

  LaneOutput output() {
    return output;
  }

  Ending ending() {
    return ending;
  }

  FabricSleep fabricSleep() {
    return fabricSleep;
  }

  /** How often the peer has woken this side through the session. */
  int wakes() {
    return wakes.get();
  }

  /** What is written to, or null while that is TCP. Changed under the out lock. */
  FabricOutput fabricOutput() {
    return fabricOutput;
  }

  /** The output switches. */
  void writesTo(FabricOutput fast) {
    assert Thread.holdsLock(output.lock());
    fabricOutput = fast;
  }

  static SocketException reset() {
    return new SocketException("Connection reset");
  }

  // ---- upgrade

  /** Takes the stream that carries the bytes once both sides have agreed. Once. */
  void attach(FabricStream fast) {
    assert Thread.holdsLock(output.lock()) && Thread.holdsLock(channel.stateLock());
    residence = new Residence(fast);
    fabricSleep =
        fast.wakesByItself() ? new SelfWakingSleep(this, fast) : new BellSleep(this, fast);
    stream = fast;
  }

  /** Has our reader agree; false if somebody is inside who may read for long. */
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

  /** Tells the peer that it may switch. Under the read lock. */
  private void accept() {
    assert readLock.isHeldByCurrentThread();
    FabricStream fast = stream;
    if (inPhase == ON_TCP && fast != null && !upgrade.plainAgain()) {
      long takenBytes = tcpInput.takenBytes();
      switchingInput = new SwitchingInput(this, fast, control, counters, takenBytes);
      inPhase = SWITCHING;
      fast.inputTaken(takenBytes);
      fast.acceptInput();
      switchOutIfEstablished();
      nudgeSelectors();
    }
  }

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
    FabricInput fast = fabricInput;
    return fast != null ? fast.read(dst) : readBeforeFabric(dst);
  }

  private int readBeforeFabric(ByteBuffer dst) throws IOException {
    if (keptBytes() != null) {
      return readKept(dst);
    }
    if (staysOnTcpForInput()) {
      return tcpInput.read(dst);
    }
    switchingInput.pull(dst.remaining());
    if (keptBytes() != null) {
      return readKept(dst);
    }
    FabricInput fast = fabricInput;
    return fast != null ? fast.read(dst) : switchingInput.end();
  }

  private int readKept(ByteBuffer dst) {
    int n = switchingInput.takeKept(dst);
    readFabricIfAlone();
    return n;
  }

  /** What was taken from TCP and not read, or null. */
  private ByteBuffer keptBytes() {
    SwitchingInput switching = switchingInput;
    return switching == null ? null : switching.kept();
  }

  /** A read without room for a byte: it moves nothing, but meets a reset that is known again. */
  int readNothing() throws IOException {
    if (inPhase == ON_TCP) {
      return control.read(NO_ROOM.duplicate());
    }
    FabricInput fast = fabricInput;
    return fast != null ? fast.readNothing() : switchingInput.readNothing();
  }

  /** Accepts an upgrade that waits, or takes TCP up again after a withdrawn one. */
  private boolean staysOnTcpForInput() {
    if (inPhase == ON_TCP) {
      accept();
    } else if (inPhase == SWITCHING && upgrade.plainAgain()) {
      tcpInput.resume(switchingInput.takenBytes(), switchingInput.ended());
      inPhase = ON_TCP;
    }
    return inPhase == ON_TCP;
  }

  /** Moves the input to the fabric when all that the peer put on TCP has been taken. */
  boolean switchInIfDue() {
    if (inPhase == SWITCHING && switchingInput.complete()) {
      inPhase = ON_FABRIC;
      stream.inputSwitched();
      readFabricIfAlone();
      switchOutIfEstablished();
      nudgeSelectors();
    }
    return inPhase == ON_FABRIC;
  }

  private void readFabricIfAlone() {
    if (inPhase == ON_FABRIC && fabricInput == null && keptBytes() == null) {
      fabricInput = new FabricInput(stream, counters, new Spinner(context.spinning()), channel);
    }
  }

  long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    if (fabricInput == null && keptBytes() == null) {
      if (staysOnTcpForInput()) {
        return tcpInput.read(dsts, offset, length);
      }
      pullToSwitch(room(dsts, offset, length)); // together, as a read of the first would not
    }
    long n = read(dsts[offset]);
    if (n > 0 && !dsts[offset].hasRemaining()) {
      n += readMore(dsts, offset + 1, length - 1);
    }
    return n;
  }

  private static int room(ByteBuffer[] dsts, int offset, int length) {
    long room = 0;
    for (int i = offset; i < offset + length; i++) {
      room += dsts[i].remaining();
    }
    return (int) Math.min(room, SwitchingInput.KEPT_BYTES);
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
    if (keptBytes() == null) {
      pullToSwitch(wanted);
    }
    return keptBytes() != null || (inPhase == ON_FABRIC && stream.unread());
  }

  private void pullToSwitch(int wanted) {
    if (inPhase == SWITCHING && !upgrade.plainAgain()) {
      switchingInput.pull(wanted);
    }
  }

  int spinRead(ByteBuffer dst) throws IOException {
    FabricInput fast = fabricInput;
    return fast == null ? 0 : fast.spin(dst);
  }

  void sleepToRead(long timeoutNs) throws IOException {
    readerWakes = wakes.get();
    if (inPhase == ON_TCP) {
      boolean unused = waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, timeoutNs);
      return;
    }
    FabricStream fast = stream;
    boolean wait = fast.await(FabricStream.READ) && !link.ended();
    Faults.take();
    if (wait) {
      counters.slept();
      fabricSleep.read(timeoutNs);
    }
    fast.awake(FabricStream.READ);
    Faults.take();
  }

  // ---- writing: under the write lock

  int write(ByteBuffer src) throws IOException {
    FabricOutput fast = fabricOutput;
    return fast != null ? fast.write(src) : output.writeBeforeFabric(src);
  }

  long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    FabricOutput fast = fabricOutput;
    return fast != null
        ? fast.write(srcs, offset, length)
        : output.writeBeforeFabric(srcs, offset, length);
  }

  void spinWrite(ByteBuffer src) throws IOException {
    FabricOutput fast = fabricOutput;
    if (fast != null) {
      fast.spin(src);
    }
  }

  // ---- the control connection

  /** Takes what the control connection brought: bells, its end, or bytes that were on the way. */
  void controlReadable() {
    if (inPhase == ON_FABRIC) {
      link.drain(false);
    } else if (enterToRead()) {
      try {
        if (inPhase == SWITCHING && takesMore()) {
          switchingInput.pull(SwitchingInput.KEPT_BYTES);
        } else if (inPhase == ON_TCP) {
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
   * non-blocking mode whoever is inside is out in a moment, and must be waited for: it may have
   * looked before that came for which a selector is about to sleep.
   */
  private boolean enterToRead() {
    while (!readLock.tryLock()) {
      Thread.yield();
      if (channel.isBlocking() || channel.closing()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether to take more from TCP than the program has read: only if bells may stand behind it,
   * which they do if both sides have agreed, and never without bound. Under the read lock.
   */
  private boolean takesMore() {
    return keptBytes() == null || (fabricOutput != null && !upgrade.plainAgain() && !deaf());
  }

  /**
   * Whether bells may stand behind more bytes than are taken from TCP before the program reads
   * them: nobody hears a bell then, and who waits for room looks by the clock. Any thread.
   */
  boolean deaf() {
    ByteBuffer kept = keptBytes();
    return kept != null && inPhase == SWITCHING && kept.remaining() >= SwitchingInput.KEPT_BYTES;
  }

  /** Whether bytes of the peer's may be on TCP that have not been taken. */
  boolean bytesMayBeOnTcp() {
    SwitchingInput switching = switchingInput;
    return inPhase == SWITCHING && !switching.complete();
  }

  @Override
  public boolean ring() {
    return output.ring();
  }

  @Override
  public void released() {
    upgrade.noteWithdrawal();
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

  /** Whether the fabric has a say in this connection's readiness. */
  boolean attached() {
    return inPhase != ON_TCP && !upgrade.plainAgain();
  }

  /** Whether our input is on the fabric, so that TCP brings nothing but bells. */
  boolean switchedIn() {
    return inPhase == ON_FABRIC;
  }

  /** Whether our output is on the fabric, so that bells may come. */
  boolean switchedOut() {
    return fabricOutput != null;
  }

  /** Whether both directions are on the fabric. */
  boolean switched() {
    return switchedIn() && switchedOut();
  }

  boolean controlOpen() {
    return !link.ended();
  }

  /**
   * The control connection is about to be heard by no selector, because the channel becomes
   * blocking or closes. Then nobody may ring a selector by it, or that would be taken for the bell
   * of all neighbours: the stream leaves its home first, and the sleep that a bell may have been
   * meant for ends afterwards.
   *
   * @param forGood whether the channel closes: no selector gives the stream a place again, and none
   *     touches it
   */
  void leaveHome(boolean forGood) {
    if (stream != null) {
      residence.leave(forGood);
      nudgeSelectors();
    }
  }

  /** Which of the given FabricStream operations the fabric and TCP's rest know to be ready. */
  int readiness(int ops) {
    if (fabricInput != null && fabricOutput != null && !channel.inputClosed()) {
      return stream.readiness(ops);
    }
    return readinessWhileSwitching(ops);
  }

  private int readinessWhileSwitching(int ops) {
    int ready = 0;
    if (attached()) {
      if (inPhase == SWITCHING && stream.peerSwitchAt() >= 0) {
        controlReadable();
      }
      int fast = stream.readiness(ops);
      if (switchedIn()) {
        ready |= fast & FabricStream.READ;
      }
      if (switchedOut()) {
        ready |= fast & FabricStream.WRITE;
      }
    }
    SwitchingInput switching = switchingInput;
    boolean tcpOver = switching != null && !switchedIn() && switching.over();
    if (tcpOver || keptBytes() != null || channel.inputClosed()) {
      ready |= FabricStream.READ;
    }
    if (tcpOver && !switchedOut() && switching.failed()) {
      ready |= FabricStream.WRITE; // which fails at once, while TCP may be listened to no more
    }
    return ready & ops;
  }

  /** How many bytes can be read at once. Under the read lock. */
  int available() throws IOException {
    if (inPhase == SWITCHING && keptBytes() == null) {
      // The peer may have switched, and whoever only asks never reads.
      switchingInput.pull(SwitchingInput.KEPT_BYTES);
    }
    ByteBuffer kept = keptBytes();
    if (kept != null) {
      return kept.remaining();
    }
    return switchedIn() ? stream.available() : control.socket().getInputStream().available();
  }

  // ---- ending

  /** Under the state lock. */
  void shutdownInput() throws IOException {
    FabricStream fast = stream;
    if (fast == null || upgrade.withdraw(fast)) {
      control.shutdownInput();
    } // else the control connection stays as it is, for bells
  }

  void wakeReader() {
    waiter.wake(ControlWaiter.READER);
  }

  /** Whether bytes came that nobody has read, other than in the fabric. */
  boolean unreadBeforeFabric() {
    return keptBytes() != null || unreadTcp();
  }

  private boolean unreadTcp() {
    if (inPhase != SWITCHING || !readLock.tryLock()) {
      return false;
    }
    try {
      switchingInput.pull(1);
      return keptBytes() != null;
    } finally {
      readLock.unlock();
    }
  }

  /** Wakes threads that sleep in this channel because it closes. */
  void wakeAll() {
    // Nobody waits for room on TCP after the switch, and what a fabric still sends must be there
    // before FIN. After a linger of 0 the peer would see an end before the reset.
    link.shut(fabricOutput == null && !channel.lingerZero());
    waiter.wakeAll();
  }

  /** Closes the control connection once the peer has what was put on TCP. Nobody is inside. */
  void closeControl() {
    upgrade.closed();
    counters.close();
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
