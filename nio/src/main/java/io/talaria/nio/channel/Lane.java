// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.Mode;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.nio.jdk.JdkNio;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.negotiation.Upgradable;
import io.talaria.nio.spin.Spinner;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The two roads of one connection, and the switch between them.
 *
 * <p><b>Input</b>, changed under the channel's read lock: {@link #IN_TCP}, then {@link
 * #IN_ACCEPTED} (a stream is attached and our reader has told the peer that it may switch: from now
 * on bells may stand behind the application's bytes on TCP, so what is read there goes through
 * {@link #carry}, which is cut where the peer says it has switched), then {@link #IN_FABRIC}.
 *
 * <p><b>Output</b>, changed under the out lock: {@link #OUT_TCP}, then {@link #OUT_FABRIC} once
 * both readers have accepted. A bell is rung only after our own output has switched, so no bell
 * ever stands before an application's byte.
 */
final class Lane implements StreamOwner, Upgradable {
  static final int IN_TCP = 0;
  static final int IN_ACCEPTED = 1;
  static final int IN_FABRIC = 2;
  private static final int OUT_TCP = 0;
  private static final int OUT_FABRIC = 1;

  private static final ByteBuffer NO_ROOM = ByteBuffer.allocate(0);
  private static final int CARRY_BYTES = 64 << 10;
  private static final int BELLS_AT_ONCE = 64;

  /** A peer that rings faster than we read must not keep us here: the rest is read next time. */
  private static final int MOST_BELL_READS = 1024;

  private static final int ACCEPT_TRIES = 10;
  private static final int SPIN_CHECKS = 32;

  /** Longest sleep of one thread on the control connection before it looks again by itself. */
  private static final long LOOK_AGAIN_NS = 500_000_000L;

  /**
   * The same for a virtual thread that reads: no wake-up can miss it, and ten thousand of them that
   * looked twice a second would keep a core busy.
   */
  private static final long VIRTUAL_LOOK_AGAIN_NS = 30_000_000_000L;

  /** How long anybody sleeps who is {@link #deaf}. */
  static final int DEAF_LOOK_MS = 10;

  /** How long TCP may take to tell how a lost peer ended, after the input has switched. */
  private static final long LAST_LOOK_NS = 900_000_000L;

  /** How long a closed channel keeps its control connection for a peer that has yet to read TCP. */
  private static final long LINGER_NS = 60_000_000_000L;

  /** How long a channel waits for a selector before its stream is made without one. */
  private static final long PLACE_BLOCKING_NS = 2_000_000L;

  private static final long PLACE_NON_BLOCKING_NS = 100_000_000L;

  /** The longest sleep of a reader that waits for TCP and for the fabric at once. */
  private static final long BETWEEN_NS = 5_000_000L;

  // First what every read and write needs: a thousand lanes are short of cache lines.

  /** Attached once, under the state lock. */
  private volatile FabricStream stream;

  /** Bytes taken from TCP that the program has not read. Changed under the read lock. */
  private volatile ByteBuffer carry;

  private final ConnectionCounters counters;

  private final Context context;
  private final Spinner readSpinner;
  private final Spinner writeSpinner;
  private final TalariaSocketChannel channel;
  private final SocketChannel control;
  private final Role role;
  private final ConnectionKey key;
  private final ReentrantLock readLock;
  private final ControlWaiter waiter;
  private final Object outLock = new Object();

  /** Held while the stream moves from home to home. */
  private final Object homeLock = new Object();

  /** Whether it has left its last one. Under the home lock. */
  private boolean homeless;

  private final Object bellsLock = new Object();
  private final long madeAtNs = System.nanoTime();
  private final ByteBuffer bell = ByteBuffer.allocate(1);

  private volatile int inMode = IN_TCP;
  private volatile int outMode = OUT_TCP;

  /** How TCP ended, behind {@link #carry}. */
  private volatile boolean tcpEnd;

  private volatile IOException tcpFailure;
  private volatile boolean controlEnded;

  private volatile boolean endedByReset;

  /** The peer's process is lost, while TCP may still bring bytes of its. */
  private volatile boolean abandoned;

  /** When that was first seen with the input switched; 0 before. Of the negotiation thread. */
  private long abandonedInFabricAtNs;

  /** A read has reported the reset, so every later one does. Under the read lock. */
  private boolean resetRead;

  /** The stream was withdrawn, so this connection is plain TCP for good. */
  private volatile boolean plainAgain;

  /** It was withdrawn on this side, because the connection began to end. */
  private volatile boolean withdrawnHere;

  /** Whether the stream wakes those who wait by itself. */
  private volatile boolean wakesByItself;

  private volatile boolean lost;
  private volatile boolean shared;
  private volatile boolean shownFast;
  private ByteBuffer bellsIn;

  /** Counts what was taken from TCP. Under the read lock. */
  private long tcpIn;

  /** The same for others, from when our reader has accepted. Written under the read lock. */
  private volatile long tcpTaken;

  /** How often the peer has woken this side through the session. */
  private final AtomicInteger wakes = new AtomicInteger();

  /** How many of these the reader and the writer knew when they last looked; each its own. */
  private int readerWakes;

  private int writerWakes;
  private long tcpOut;

  /** Calls of the fabric: the reader's, the writer's. */
  private int reads;

  private int writes;

  /** Whether the control connection reads as ended because the channel closes. */
  private volatile boolean inputShut;

  /** Whether the control connection outlives the channel; then the stream does too. */
  private volatile boolean lingering;

  /** Whether a close has said how this side ends. Under the out lock. */
  private boolean ended;

  /** Whether the channel's close has decided if it lingers; what it looks at must be there. */
  private boolean closeDecided;

  private boolean releaseWanted;
  private boolean released;

  Lane(
      Context context,
      TalariaSocketChannel channel,
      Role role,
      ConnectionCounters counters,
      InetSocketAddress local,
      InetSocketAddress remote) {
    this.context = context;
    readSpinner = new Spinner(context.spinning());
    writeSpinner = new Spinner(context.spinning());
    this.channel = channel;
    this.role = role;
    this.counters = counters;
    control = channel.control();
    readLock = channel.readLock();
    key = role == Role.CLIENT ? new ConnectionKey(local, remote) : new ConnectionKey(remote, local);
    waiter =
        new ControlWaiter(
            control,
            (who, event) -> who == ControlWaiter.READER ? nothingToRead() : nothingToWrite(event),
            context::repeat);
  }

  /** Whether a reader about to sleep has nothing to wait for. */
  private boolean nothingToRead() {
    return channel.closing()
        || channel.inputClosed()
        || wakes.get() != readerWakes
        || (inMode != IN_TCP
            && (controlEnded || (wakesByItself && stream.readiness(FabricStream.READ) != 0)));
  }

  /** Whether a writer about to sleep has nothing to wait for; on TCP if for room there. */
  private boolean nothingToWrite(int event) {
    boolean onTcp = event == JdkNio.WRITABLE;
    return channel.outputEnding()
        || wakes.get() != writerWakes
        || onTcp != (outMode == OUT_TCP)
        || (!onTcp
            && (controlEnded || (wakesByItself && stream.readiness(FabricStream.WRITE) != 0)));
  }

  // ---- upgrade

  void seekUpgrade() {
    if (role == Role.ACCEPTED) {
      plainSoFar(Reason.NO_OFFER);
      context.negotiator().accepted(this);
    } else if (key.local()) {
      context.negotiator().connected(this);
    } else if (context.negotiator().reachesHosts()) {
      context.negotiator().connectedToHost(this);
    } else {
      plain(Reason.NOT_LOCAL);
    }
  }

  @Override
  public ConnectionKey key() {
    return key;
  }

  @Override
  public void plainSoFar(Reason reason) {
    counters.mode(Mode.TCP, reason, "");
  }

  @Override
  public void plain(Reason reason) {
    plainSoFar(reason);
    context.connectionIs(reason, key);
  }

  @Override
  public boolean placed() {
    long limitNs = channel.isBlocking() ? PLACE_BLOCKING_NS : PLACE_NON_BLOCKING_NS;
    return channel.keys().all().length > 0
        || channel.closing()
        || System.nanoTime() - madeAtNs > limitNs;
  }

  @Override
  public Home home(Fabric fabric) {
    TalariaSelectionKey[] registered = channel.keys().all();
    return registered.length == 1 ? registered[0].owner().home(fabric) : null;
  }

  @Override
  public boolean attach(FabricStream fast) {
    synchronized (outLock) {
      synchronized (channel.stateLock()) {
        if (!channel.upgradable() || stream != null) {
          plainSoFar(Reason.CLOSED_EARLY);
          return false;
        }
        plainSoFar(Reason.PENDING); // before anyone can switch
        fast.owner(this, channel);
        fast.buffers(channel.sendBuffer(), channel.receiveBuffer());
        wakesByItself = fast.wakesByItself();
        stream = fast;
      }
    }
    options().shadow();
    if (!tryAccept()) {
      // A short read is over in a moment; a reader that sleeps inside does it when it wakes.
      int[] tries = {ACCEPT_TRIES};
      context.negotiator().repeat(() -> --tries[0] == 0 || tryAccept());
    }
    return true;
  }

  private boolean tryAccept() {
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

  private ControlOptions options() {
    return channel.options();
  }

  /** Tells the peer that it may switch. Under the read lock. */
  private void accept() {
    if (inMode == IN_TCP && stream != null && !plainAgain) {
      inMode = IN_ACCEPTED;
      publishTaken();
      stream.acceptInput();
      switchOutIfEstablished();
      nudgeSelectors();
    }
  }

  private void publishTaken() {
    tcpTaken = tcpIn;
    stream.inputTaken(tcpIn);
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

  private void switchOut() {
    stream.switchOut(tcpOut);
    outMode = OUT_FABRIC;
    waiter.wake(ControlWaiter.WRITER); // it may wait for room on TCP
    showFast();
    nudgeSelectors();
  }

  /** Lets the output switch as soon as both sides have agreed. */
  void switchOutIfEstablished() {
    FabricStream fast = stream;
    if (outMode == OUT_TCP && fast != null && fast.established()) {
      synchronized (outLock) {
        if (outMode == OUT_TCP) {
          switchOut();
        }
      }
    }
  }

  private void showFast() {
    if (!shownFast) {
      shownFast = true;
      counters.rings(stream.inBytes(), stream.outBytes());
      counters.mode(stream.fabric().mode(), fast(), stream.transport());
      context.connectionIs(fast(), key);
    }
  }

  private Reason fast() {
    return key.local() ? Reason.SAME_HOST : Reason.BETWEEN_HOSTS;
  }

  private void nudgeSelectors() {
    for (TalariaSelectionKey registered : channel.keys().all()) {
      registered.owner().nudge(registered);
    }
  }

  // ---- reading: under the read lock

  /** Reads what is there: bytes, 0 for nothing now, -1 at the end. The destination has room. */
  int read(ByteBuffer dst) throws IOException {
    if (inMode == IN_FABRIC && carry == null) {
      return readFabric(dst);
    }
    return readSwitching(dst);
  }

  private int readFabric(ByteBuffer dst) throws IOException {
    int n = stream.read(dst);
    Faults.poll(n > 0 ? ++reads : 1);
    if (n > 0) {
      counters.fabricIn(n);
      return n;
    }
    if (n < 0) {
      Faults.take(); // what looks like an end may be memory that is gone
    }
    if (n == FabricStream.RESET) {
      resetRead = true;
      throw new SocketException("Connection reset");
    }
    return n; // 0, or END which is -1
  }

  /** A read without room for a byte: it moves nothing, but meets a reset that is known again. */
  int readNothing() throws IOException {
    if (inMode == IN_TCP) {
      return control.read(NO_ROOM.duplicate());
    }
    if (resetRead) {
      throw new SocketException("Connection reset");
    }
    return 0;
  }

  private int readSwitching(ByteBuffer dst) throws IOException {
    if (carry != null) {
      return readCarry(dst);
    }
    if (staysOnTcpForInput()) {
      return readTcp(dst);
    }
    pull(dst.remaining());
    if (carry != null) {
      return readCarry(dst);
    }
    if (inMode == IN_FABRIC) {
      return readFabric(dst);
    }
    if (tcpFailure != null) {
      resetRead = true;
      throw new SocketException(tcpFailure.getMessage());
    }
    return tcpEnd ? -1 : 0;
  }

  private int readTcp(ByteBuffer dst) throws IOException {
    if (tcpEnd) {
      return -1;
    }
    int n = control.read(dst);
    if (n > 0) {
      tcpIn += n;
      counters.tcpIn(n);
    }
    return n;
  }

  /** Accepts an upgrade that waits, or takes TCP up again after a withdrawn one. */
  private boolean staysOnTcpForInput() {
    if (inMode == IN_TCP) {
      accept();
    } else if (inMode == IN_ACCEPTED && plainAgain) {
      inMode = IN_TCP;
    }
    return inMode == IN_TCP;
  }

  private int readCarry(ByteBuffer dst) {
    ByteBuffer from = carry;
    int n = Math.min(from.remaining(), dst.remaining());
    int at = from.position();
    dst.put(dst.position(), from, at, n);
    dst.position(dst.position() + n);
    from.position(at + n);
    counters.tcpIn(n);
    if (!from.hasRemaining()) {
      carry = null;
    }
    return n;
  }

  /** Takes bytes from TCP into the carry, and finds out whether the peer has switched. */
  private void pull(int wanted) {
    if (tcpEnd || tcpFailure != null) {
      switchInIfDue();
      return;
    }
    if (switchInIfDue()) {
      return;
    }
    noteWithdrawal();
    long known = stream.peerSwitchAt();
    if (known >= 0 && known < tcpIn) { // no honest peer has switched before what it sent
      tcpFailure = reset();
      endControl(true);
      return;
    }
    long most = known >= 0 ? known - tcpIn : Math.max(wanted, BELLS_AT_ONCE);
    ByteBuffer more = ByteBuffer.allocate((int) Math.min(most, CARRY_BYTES));
    int n;
    try {
      n = control.read(more);
    } catch (IOException e) {
      tcpFailure = e;
      endControl(true);
      noteWithdrawal();
      switchInIfDue();
      return;
    }
    if (n > 0) {
      long switchAt = stream.peerSwitchAt();
      int bytes = switchAt >= 0 ? (int) Math.max(0, Math.min(n, switchAt - tcpIn)) : n;
      tcpIn += bytes;
      if (bytes < n) {
        counters.bellReceived();
        waiter.wakeAll(); // it may have been for another than who reads it here
      }
      if (bytes > 0) {
        publishTaken();
        keep(more.flip().limit(bytes));
      }
    } else if (n < 0) {
      if (endControl(false)) {
        tcpFailure = reset(); // the peer was killed with bytes of ours unread
      } else {
        tcpEnd = true;
      }
      noteWithdrawal(); // it came before the end
    }
    switchInIfDue();
  }

  private static SocketException reset() {
    return new SocketException("Connection reset");
  }

  /** Takes note that one side has withdrawn the stream, so that this connection stays plain. */
  private void noteWithdrawal() {
    if (!plainAgain && stream.withdrawn()) {
      plainAgain = true;
      plain(withdrawnHere ? Reason.CLOSED_EARLY : Reason.REFUSED);
      nudgeSelectors();
    }
  }

  private void keep(ByteBuffer bytes) {
    ByteBuffer had = carry;
    if (had == null) {
      carry = bytes;
    } else {
      carry = ByteBuffer.allocate(had.remaining() + bytes.remaining()).put(had).put(bytes).flip();
    }
  }

  /** Moves the input to the fabric when all that the peer put on TCP has been taken. */
  private boolean switchInIfDue() {
    if (inMode == IN_ACCEPTED && stream.peerSwitchAt() == tcpIn) {
      inMode = IN_FABRIC;
      stream.inputSwitched();
      switchOutIfEstablished();
      nudgeSelectors();
    }
    return inMode == IN_FABRIC;
  }

  long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    if (carry == null && !tcpEnd && staysOnTcpForInput()) {
      long n = control.read(dsts, offset, length);
      if (n > 0) {
        tcpIn += n;
        counters.tcpIn((int) n);
      }
      return n;
    }
    if (carry == null && inMode == IN_ACCEPTED && !plainAgain) {
      pull(room(dsts, offset, length)); // together, as a read of the first buffer would not
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
    return (int) Math.min(room, CARRY_BYTES);
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
    if (carry == null && inMode == IN_ACCEPTED && !plainAgain) {
      pull(wanted);
    }
    return carry != null || (inMode == IN_FABRIC && stream.unread());
  }

  int spinRead(ByteBuffer dst) throws IOException {
    if (inMode != IN_FABRIC || !maySpin(readSpinner)) {
      return 0;
    }
    int n = 0;
    try {
      do {
        for (int i = 0; i < SPIN_CHECKS; i++) {
          n = readFabric(dst);
          if (n != 0) {
            return n;
          }
          Thread.onSpinWait();
        }
      } while (!channel.closing() && readSpinner.goOn());
      return 0;
    } finally {
      readSpinner.stop(n != 0);
    }
  }

  private static boolean maySpin(Spinner spinner) {
    return !JdkNio.isVirtual(Thread.currentThread()) && spinner.start();
  }

  void sleepToRead(long timeoutNs) throws IOException {
    FabricStream fast = inMode == IN_TCP ? null : stream;
    readerWakes = wakes.get();
    if (fast == null) {
      boolean unused = waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, timeoutNs);
      return;
    }
    boolean wait = fast.await(FabricStream.READ) && !controlEnded;
    Faults.take();
    if (wait) {
      counters.slept();
      if (wakesByItself && inMode == IN_FABRIC) {
        waiter.park(ControlWaiter.READER, shorter(timeoutNs, LOOK_AGAIN_NS));
        if (fast.readiness(FabricStream.READ) == 0) {
          drainBells(); // it may have ended
        }
        fast.awake(FabricStream.READ);
        return;
      }
      boolean patient = !fast.unread() && JdkNio.isVirtual(Thread.currentThread());
      long mostNs = patient ? VIRTUAL_LOOK_AGAIN_NS : LOOK_AGAIN_NS;
      long limitNs = shorter(timeoutNs, wakesByItself ? BETWEEN_NS : mostNs);
      if (waiter.sleep(ControlWaiter.READER, JdkNio.READABLE, limitNs) && inMode == IN_FABRIC) {
        drainBells();
      }
    }
    fast.awake(FabricStream.READ);
    Faults.take();
  }

  private static long shorter(long timeoutNs, long mostNs) {
    return timeoutNs == 0 ? mostNs : Math.min(timeoutNs, mostNs);
  }

  // ---- writing: under the write lock

  int write(ByteBuffer src) throws IOException {
    if (outMode == OUT_FABRIC) {
      return writeFabric(src);
    }
    return writeTcp(src);
  }

  private int writeFabric(ByteBuffer src) throws IOException {
    int n = stream.write(src);
    Faults.poll(++writes);
    if (n < 0) {
      Faults.take();
      throw new IOException("Broken pipe");
    }
    counters.fabricOut(n);
    return n;
  }

  private int writeTcp(ByteBuffer src) throws IOException {
    synchronized (outLock) {
      if (staysOnTcp()) {
        int n = control.write(src);
        tcpOut += n;
        counters.tcpOut(n);
        return n;
      }
    }
    return writeFabric(src);
  }

  /** Switches if both sides have agreed. Under the out lock. */
  private boolean staysOnTcp() {
    if (outMode == OUT_TCP) {
      FabricStream fast = stream;
      if (fast == null) {
        return true;
      }
      if (!fast.established()) {
        noteWithdrawal();
        return true;
      }
      switchOut();
    }
    return false;
  }

  long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    if (outMode == OUT_TCP) {
      synchronized (outLock) {
        if (staysOnTcp()) {
          long n = control.write(srcs, offset, length);
          tcpOut += n;
          counters.tcpOut((int) n);
          return n;
        }
      }
    }
    long n = stream.write(srcs, offset, length);
    Faults.poll(++writes);
    if (n < 0) {
      Faults.take();
      throw new IOException("Broken pipe");
    }
    counters.fabricOut((int) n);
    return n;
  }

  void spinWrite(ByteBuffer src) throws IOException {
    if (outMode != OUT_FABRIC || !maySpin(writeSpinner)) {
      return;
    }
    boolean found = false;
    try {
      do {
        for (int i = 0; i < SPIN_CHECKS; i++) {
          if (stream.readiness(FabricStream.WRITE) != 0 && writeFabric(src) > 0) {
            found = true;
            if (!src.hasRemaining()) {
              return;
            }
            writeSpinner.extend();
          }
          Thread.onSpinWait();
        }
      } while (!channel.outputEnding() && writeSpinner.goOn());
    } finally {
      writeSpinner.stop(found);
    }
  }

  void sleepToWrite() throws IOException {
    writerWakes = wakes.get();
    if (outMode == OUT_TCP) {
      boolean unused = waiter.sleep(ControlWaiter.WRITER, JdkNio.WRITABLE, 0);
      return;
    }
    FabricStream fast = stream;
    boolean wait = fast.await(FabricStream.WRITE) && !controlEnded;
    Faults.take();
    if (wait && !deaf()) {
      counters.slept();
    }
    if (wait && wakesByItself) {
      waiter.park(ControlWaiter.WRITER, LOOK_AGAIN_NS);
      if (fast.readiness(FabricStream.WRITE) == 0) {
        controlReadable();
      }
    } else if (wait && deaf()) {
      LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(DEAF_LOOK_MS));
    } else if (wait && waiter.sleep(ControlWaiter.WRITER, JdkNio.READABLE, LOOK_AGAIN_NS)) {
      controlReadable();
    }
    fast.awake(FabricStream.WRITE);
    Faults.take();
  }

  // ---- the control connection

  /** Takes what the control connection brought: bells, its end, or bytes that were on the way. */
  void controlReadable() {
    if (inMode == IN_FABRIC) {
      drainBells();
    } else if (enterToRead()) {
      try {
        if (inMode == IN_ACCEPTED && takesMore()) {
          pull(CARRY_BYTES);
        } else if (inMode == IN_TCP) {
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
    return carry == null || (outMode == OUT_FABRIC && !plainAgain && !deaf());
  }

  /**
   * Whether bells may stand behind more bytes than are taken from TCP before the program reads
   * them: nobody hears a bell then, and who waits for room looks by the clock. Any thread.
   */
  boolean deaf() {
    ByteBuffer kept = carry;
    return kept != null && inMode == IN_ACCEPTED && kept.remaining() >= CARRY_BYTES;
  }

  private boolean drainBells() {
    return drainBells(false);
  }

  /**
   * @param all whether to look for an end behind the bells too; else the control connection stays
   *     readable until that is seen
   * @return whether there were bells: a caller that is not the one to be woken passes them on
   */
  private boolean drainBells(boolean all) {
    boolean rung = false;
    synchronized (bellsLock) {
      if (bellsIn == null) {
        bellsIn = ByteBuffer.allocate(BELLS_AT_ONCE);
      }
      try {
        int n;
        int reads = 0;
        do {
          bellsIn.clear();
          n = control.read(bellsIn);
          if (n > 0) {
            rung = true;
            counters.bellReceived();
          }
        } while ((n == BELLS_AT_ONCE || (all && n > 0)) && ++reads < MOST_BELL_READS);
        if (n < 0) {
          endControl(false);
        }
      } catch (IOException e) {
        endControl(control.isOpen());
      }
    }
    return rung;
  }

  /**
   * Tells the fabric that the control connection has ended.
   *
   * @return whether that means a reset
   */
  private boolean endControl(boolean byReset) {
    boolean ownEnd = inputShut && !byReset && wakesByItself; // the peer's would look the same
    if (!controlEnded && !ownEnd) {
      // A bell that the peer has not read makes its kernel send a reset, which means nothing.
      boolean bellsOnly =
          outMode == OUT_FABRIC
              && (stream.peerInputSwitched() || stream.peerInputTaken() == tcpOut);
      endedByReset = stream.controlEnded(byReset && !bellsOnly);
      controlEnded = true;
      waiter.wakeAll();
    }
    return endedByReset;
  }

  @Override
  public boolean ring() {
    synchronized (outLock) {
      if (outMode == OUT_TCP) {
        if (stream == null || !stream.established()) {
          return false;
        }
        switchOut();
      }
      if (controlEnded || abandoned) {
        return false;
      }
      if (inMode == IN_ACCEPTED && stream.peerSwitchAt() != tcpTaken) {
        stream.wakePeerBySession();
        return true;
      }
      bell.clear();
      try {
        // If the buffer is full the peer has plenty to read, and looks at the ring then.
        if (control.write(bell) > 0) {
          counters.bellSent();
        }
        return true;
      } catch (IOException e) {
        return false; // the peer is gone or we are closing; reading the control connection tells
      }
    }
  }

  @Override
  public void released() {
    noteWithdrawal();
  }

  @Override
  public void stalled() {
    counters.stalled();
  }

  @Override
  public void buffersChanged(int inBytes, int outBytes) {
    counters.rings(inBytes, outBytes);
    counters.mode(stream.fabric().mode(), fast(), stream.transport());
  }

  @Override
  public boolean wanted() {
    return !channel.closing();
  }

  @Override
  public boolean peerLost(boolean giveUp) {
    if (channel.closing() || controlEnded) {
      nudgeSelectors();
      return true;
    }
    if (outMode == OUT_TCP && stream.withdraw()) {
      plainAgain = true; // TCP goes on, and knows itself when it ends
      plain(Reason.PEER_LOST);
      nudgeSelectors();
      return true;
    }
    switchOutIfEstablished();
    if (inMode != IN_FABRIC) {
      controlReadable();
    } else if (drainBells(true)) {
      wake(); // this thread has read what was for another
    }
    if (!controlEnded && giveUp) {
      giveUp();
    }
    if (controlEnded) {
      nudgeSelectors();
    }
    return controlEnded;
  }

  /**
   * The peer's process does not answer for this connection any more, and TCP has not said how it
   * ended. Writes break now; reading ends when TCP does, or with a reset once all is taken from it.
   */
  private void giveUp() {
    if (inMode != IN_FABRIC) {
      if (!abandoned) {
        abandoned = true;
        stream.outputLost();
        waiter.wakeAll();
        nudgeSelectors();
      }
      return;
    }
    if (abandoned) {
      long now = System.nanoTime();
      if (abandonedInFabricAtNs == 0) {
        abandonedInFabricAtNs = now;
      }
      if (now - abandonedInFabricAtNs < LAST_LOOK_NS) {
        return;
      }
    }
    endedByReset = stream.controlEnded(true);
    controlEnded = true;
    waiter.wakeAll();
  }

  // ---- selecting: any thread

  /** Whether the fabric has a say in this connection's readiness. */
  boolean attached() {
    return inMode != IN_TCP && !plainAgain;
  }

  /** Whether our output is on the fabric, so that bells may come. */
  boolean switchedOut() {
    return outMode == OUT_FABRIC;
  }

  /** Whether both directions are on the fabric, so that TCP brings nothing but bells. */
  boolean switched() {
    return inMode == IN_FABRIC && outMode == OUT_FABRIC;
  }

  boolean controlOpen() {
    return !controlEnded;
  }

  FabricStream stream() {
    return stream;
  }

  /**
   * Whether several selectors, or none with a home, look at this connection: bells serve them all.
   */
  boolean shared() {
    return shared;
  }

  void shared(boolean value) {
    shared = value;
  }

  /** A selector gives the stream its place, or null if bells are to serve several. */
  void moveTo(Home home) {
    synchronized (homeLock) {
      if (!homeless) {
        stream.moveTo(home);
      }
    }
  }

  /** A selector has the channel no more. */
  void leave(Home home) {
    synchronized (homeLock) {
      if (!homeless) {
        stream.leave(home);
      }
    }
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
    FabricStream fast = stream;
    if (fast == null) {
      return;
    }
    synchronized (homeLock) {
      if (homeless) {
        return;
      }
      homeless = forGood;
      fast.moveTo(null);
    }
    nudgeSelectors();
  }

  /** Which of the given FabricStream operations the fabric and the carry know to be ready. */
  int readiness(int ops) {
    if (inMode == IN_FABRIC && outMode == OUT_FABRIC && carry == null && !channel.inputClosed()) {
      return stream.readiness(ops);
    }
    return readinessWhileSwitching(ops);
  }

  private int readinessWhileSwitching(int ops) {
    int ready = 0;
    if (attached()) {
      if (inMode == IN_ACCEPTED && stream.peerSwitchAt() >= 0) {
        controlReadable();
      }
      int fast = stream.readiness(ops);
      if (inMode == IN_FABRIC) {
        ready |= fast & FabricStream.READ;
      }
      if (outMode == OUT_FABRIC) {
        ready |= fast & FabricStream.WRITE;
      }
    }
    if (carry != null
        || (inMode != IN_FABRIC && (tcpEnd || tcpFailure != null))
        || channel.inputClosed()) {
      ready |= FabricStream.READ;
    }
    if (outMode == OUT_TCP && inMode != IN_FABRIC && tcpFailure != null) {
      ready |= FabricStream.WRITE; // which fails at once, while TCP may be listened to no more
    }
    return ready & ops;
  }

  /** How many bytes can be read at once. Under the read lock. */
  int available() throws IOException {
    if (inMode == IN_ACCEPTED && carry == null) {
      pull(CARRY_BYTES); // the peer may have switched, and whoever only asks never reads
    }
    ByteBuffer kept = carry;
    if (kept != null) {
      return kept.remaining();
    }
    if (inMode == IN_FABRIC) {
      return stream.available();
    }
    return control.socket().getInputStream().available();
  }

  // ---- ending

  /** Under the state lock. */
  void shutdownInput() throws IOException {
    FabricStream fast = stream;
    if (fast == null || withdraw(fast)) {
      control.shutdownInput();
    } // else the control connection stays as it is, for bells
  }

  /** Keeps this connection plain because it is about to end, unless it is too late for that. */
  private boolean withdraw(FabricStream fast) {
    boolean withdrawn = fast.withdraw();
    if (withdrawn && !plainAgain) {
      withdrawnHere = true;
      plainSoFar(Reason.CLOSED_EARLY);
    }
    return withdrawn;
  }

  void wakeReader() {
    waiter.wake(ControlWaiter.READER);
  }

  void wakeWriter() {
    waiter.wake(ControlWaiter.WRITER);
  }

  /**
   * Shuts the output down on TCP, or decides that it ends on the fabric.
   *
   * @param mark forbids further writes; true if they were forbidden already
   * @return true if {@link #finishOutput} is to follow, once no writer is inside
   */
  boolean shutdownOutput(BooleanSupplier mark) throws IOException {
    synchronized (outLock) {
      if (mark.getAsBoolean()) {
        return false;
      }
      if (endsOnTcp()) {
        control.shutdownOutput();
        return false;
      }
      return true;
    }
  }

  /** Whether the output ends on TCP; else it has switched. Under the out lock. */
  private boolean endsOnTcp() {
    FabricStream fast = stream;
    if (outMode == OUT_TCP && fast != null && !withdraw(fast)) {
      switchOut();
    }
    return outMode == OUT_TCP;
  }

  /** Writes in the fabric that no more bytes come. What writes have taken must stand before. */
  void finishOutput() {
    synchronized (outLock) {
      if (!ended) { // else a close has been faster, and the stream may be gone
        stream.finishOutput();
      }
    }
  }

  /** Whether {@link #endOutput} is still to be called, and has something to write. */
  boolean endsOnFabric() {
    synchronized (outLock) {
      return !ended && !endsOnTcp();
    }
  }

  /**
   * Writes in the fabric how this side ends, before the control connection does; only once. What
   * writes have taken must stand before.
   */
  void endOutput() {
    synchronized (outLock) {
      if (ended) {
        return;
      }
      ended = true;
      if (!endsOnTcp()) {
        FabricStream fast = stream;
        boolean unread = fast.unread() || carry != null || unreadTcp();
        fast.abandonInput();
        if (unread || channel.lingerZero()) {
          fast.abort();
        } else {
          fast.finishOutput();
        }
      }
    }
  }

  private boolean unreadTcp() {
    if (inMode != IN_ACCEPTED || !readLock.tryLock()) {
      return false;
    }
    try {
      pull(1);
      return carry != null;
    } finally {
      readLock.unlock();
    }
  }

  /** Wakes threads that sleep in this channel because it closes. */
  void wakeAll() {
    inputShut = true;
    try {
      control.shutdownInput();
      // Nobody waits for room on TCP after the switch, and what a fabric still sends must be there
      // before FIN. After a linger of 0 the peer would see an end before the reset.
      if (outMode == OUT_TCP && !channel.lingerZero()) {
        control.shutdownOutput();
      }
    } catch (IOException | RuntimeException e) {
      // It has ended already, which wakes them too.
    }
    waiter.wakeAll();
  }

  /** Closes the control connection once the peer has what was put on TCP. Nobody is inside. */
  void closeControl() {
    context.negotiator().closed(this, role == Role.ACCEPTED, stream != null);
    counters.close();
    try {
      context.guarded(this::closeControlWhenRead);
    } finally {
      synchronized (this) {
        closeDecided = true;
      }
      releaseIfDue();
    }
  }

  private void closeControlWhenRead() {
    FabricStream fast = stream;
    if (outMode == OUT_FABRIC && !controlEnded && !delivered(fast)) {
      long deadlineNs = System.nanoTime() + LINGER_NS;
      lingering = true;
      context.negotiator().repeat(() -> lingered(deadlineNs));
    } else {
      closeControlNow();
    }
  }

  /** Whether the peer needs the control connection no more: FIN says that all is said. */
  private boolean delivered(FabricStream fast) {
    return fast.flushed() && (tcpOut == 0 || fast.peerInputSwitched());
  }

  private boolean lingered(long deadlineNs) {
    drainBells();
    if (!controlEnded && !delivered(stream) && System.nanoTime() < deadlineNs) {
      return false;
    }
    closeControlNow();
    lingering = false;
    releaseIfDue();
    return true;
  }

  private void closeControlNow() {
    if (outMode == OUT_FABRIC && !controlEnded) {
      drainBells(); // an unread bell would turn our FIN into a reset
    }
    try {
      control.close();
    } catch (IOException e) {
      // The descriptor is free all the same.
    }
  }

  /**
   * Gives the stream back, now or when the control connection has ended: the channel is closed, and
   * in no selector.
   */
  void release() {
    synchronized (this) {
      releaseWanted = true;
    }
    releaseIfDue();
  }

  private void releaseIfDue() {
    synchronized (this) {
      if (!releaseWanted || !closeDecided || lingering || released) {
        return;
      }
      released = true;
    }
    if (stream != null) {
      stream.release();
    }
  }

  @Override
  public String toString() {
    return shownFast ? stream.transport() : "tcp";
  }
}
