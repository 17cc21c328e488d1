// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.Status;
import io.talaria.ucx.StreamChunk;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.WorkerAddress;
import java.nio.ByteBuffer;

/**
 * One connection over UCX. Lives on one engine; all its fields are that engine's, except what is
 * marked.
 *
 * <p><b>Output.</b> Bytes are copied into a {@link SendBuffer} and sent from there, so the caller's
 * memory is free at return. Usually UCX is done at once. If not, the buffer is {@link #inFlight},
 * and what is written meanwhile gathers in {@link #filling}, which follows when the first is done:
 * two buffers at most. The peer's {@link #limit} bounds what is unread there.
 *
 * <p><b>Input.</b> What arrives is copied at once: into the reader's buffer if one waits just then,
 * else into {@link Slab}s. A new limit is granted whenever a quarter of the window has been read.
 */
final class UcxStream implements FabricStream {
  static final int WINDOW_BYTES = 4 << 20;
  private static final int LEAST_WINDOW_BYTES = 64 << 10;
  private static final long MOST_WINDOW_BYTES = Integer.MAX_VALUE;

  /** A buffer takes more if so much of it is free. */
  private static final int FREE_BYTES = SendBuffer.BYTES / 4;

  private static final int OPEN = 0;

  private final UcxFabric fabric;
  private final UcxPeer peer;
  private final Engine engine;
  private final long token;
  private final Agreement agreement;

  /** Set once, before the stream is used. */
  private long peerToken;

  private WorkerAddress address;
  private volatile StreamOwner owner;
  private volatile Object attachment;

  /** The way out. */
  private Pipe pipe;

  /** The way in; null: not known yet. */
  private Pipe comesBy;

  private UcxHome home;

  // Output.
  private SendBuffer inFlight;
  private SendBuffer filling;
  private boolean queued;
  private long written;
  private long limit;
  private int peerWindowBytes;
  private int outEnd = OPEN;
  private boolean wroteToClosed;
  private boolean peerInClosed;

  /** Whether the peer's process was lost before its control connection ended. */
  private boolean outputLost;

  // Input.
  private Slab first;
  private Slab last;
  private int windowBytes = WINDOW_BYTES;
  private long received;
  private long read;
  private long granted = WINDOW_BYTES;
  private int peerEnd = OPEN;
  private long peerTotal;
  private boolean inClosed;

  private boolean ended;
  private boolean reset;

  /** Not null once the control connection has ended and the peer's last bytes are to come yet. */
  private LastWords lastWords;

  private boolean breached;
  private boolean releasedHere;
  private boolean releasedThere;

  // Who waits: operations.
  private int watched;
  private int awaited;

  // Any thread's: what is ready, and how much is unread.
  private volatile int ready;
  private volatile int unread;
  private volatile long peerSwitchAt = -1;
  private volatile boolean peerTookTcp;
  private volatile boolean homeless = true;

  /** The engine is entered. */
  UcxStream(UcxFabric fabric, UcxPeer peer, Engine engine, long token, boolean decides) {
    this.fabric = fabric;
    this.peer = peer;
    this.engine = engine;
    this.token = token;
    agreement = new Agreement(this, decides);
    engine.streams().put(this);
    peer.add(this);
  }

  Engine engine() {
    return engine;
  }

  UcxPeer peer() {
    return peer;
  }

  long token() {
    return token;
  }

  Agreement agreement() {
    return agreement;
  }

  StreamOwner owner() {
    return owner;
  }

  // ---- negotiation thread

  /** Learns where the peer's half is. */
  void reaches(UcxMessages.Place place) {
    peerToken = place.token();
    address = place.address();
  }

  /** Makes the way out, and tells the peer at once which stream comes by it. */
  void connect() throws FabricException {
    engine.enter();
    try {
      if (pipe == null) {
        Endpoint endpoint = engine.worker().connect(Endpoint.Options.to(address));
        pipe = new Pipe(engine, endpoint, this);
        appendWord(peerToken);
        push();
      }
    } catch (UcxException e) {
      throw new FabricException(Reason.INTERNAL, "no endpoint: " + e.getMessage(), e);
    } finally {
      engine.exit();
    }
  }

  /** Tells the peer's other streams by which way this one goes. */
  void lookHowItGoes() {
    if (peer.betweenHosts()) {
      engine.enter();
      try {
        peer.goesBy(pipe.endpoint().transports());
      } finally {
        engine.exit();
      }
    }
  }

  /** Nobody has used it, and nothing was made. */
  void cancel() {
    engine.enter();
    try {
      releasedHere = true;
      releasedThere = true;
      engine.streams().remove(this);
      if (pipe != null) {
        pipe.lookWhetherOver();
      }
    } finally {
      engine.exit();
    }
    peer.forget(this);
  }

  void peerTookTcp() {
    peerTookTcp = true;
  }

  void peerWindow(int bytes) {
    engine.enter();
    try {
      peerWindowBytes = bytes;
      raiseLimit(bytes);
    } finally {
      engine.exit();
    }
  }

  /** The peer neither sends nor reads any more. */
  void peerReleased() {
    engine.enter();
    try {
      releasedThere = true;
      peerInClosed = true;
      news();
      lookWhetherOver();
    } finally {
      engine.exit();
    }
    if (owner != null) {
      owner.released();
    }
  }

  /** The session has ended; the control connection will tell what became of the peer. */
  void peerGone() {
    engine.enter();
    try {
      releasedThere = true;
      lookWhetherOver();
      if (pipe != null) {
        pipe.peerGone();
      }
      if (comesBy != null && comesBy != pipe) {
        comesBy.peerGone();
      }
    } finally {
      engine.exit();
    }
  }

  void tell(byte type, boolean withWindow) {
    peer.send(
        withWindow
            ? UcxMessages.window(type, peerToken, windowBytes)
            : UcxMessages.about(type, peerToken));
  }

  // ---- FabricStream: agreeing and switching

  @Override
  public Fabric fabric() {
    return fabric;
  }

  @Override
  public boolean wakesByItself() {
    return true;
  }

  @Override
  public void owner(StreamOwner newOwner, Object newAttachment) {
    owner = newOwner;
    attachment = newAttachment;
    try {
      connect();
    } catch (FabricException e) {
      fail();
    }
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void buffers(int sendBytes, int receiveBytes) {
    if (receiveBytes > 0) {
      windowBytes = Math.max(LEAST_WINDOW_BYTES, Math.min(receiveBytes, WINDOW_BYTES));
      granted = windowBytes;
    }
  }

  @Override
  public void acceptInput() {
    agreement.accept();
  }

  @Override
  public boolean established() {
    return agreement.established();
  }

  @Override
  public boolean withdraw() {
    return agreement.withdraw();
  }

  @Override
  public boolean withdrawn() {
    return agreement.withdrawn();
  }

  @Override
  public void switchOut(long tcpBytes) {
    engine.enter();
    try {
      if (pipe != null) {
        appendWord(tcpBytes);
        push();
      }
    } finally {
      engine.exit();
    }
  }

  @Override
  public long peerSwitchAt() {
    long at = peerSwitchAt;
    if (at < 0 && homeless) {
      int unused = engine.lookIn();
      at = peerSwitchAt;
    }
    return at;
  }

  /** The peer's output comes here from now on. */
  void peerSwitched(long at) {
    if (at < 0) {
      breach("output that switches at " + at);
    }
    peerSwitchAt = Math.max(0, at);
    wakeOwner();
  }

  /**
   * Learns its way in.
   *
   * @return false if that cannot be it
   */
  boolean comesBy(Pipe from) {
    if (comesBy != null || !peer.sameProcess(from.peer())) {
      from.peer().complain("a token that is not its own");
      return false;
    }
    comesBy = from;
    return true;
  }

  /** The peer has done what no honest one does: nothing of it is believed any more. */
  void breach(String what) {
    if (!breached) {
      breached = true;
      reset = true;
      ended = true;
      dropFilling();
      peer.complain(what);
      news();
    }
  }

  private void wakeOwner() {
    if (owner != null) {
      engine.wake(owner);
    }
  }

  @Override
  public void inputSwitched() {
    tell(UcxMessages.IN_SWITCHED, false);
  }

  @Override
  public boolean peerInputSwitched() {
    return peerTookTcp || endedNow();
  }

  private boolean endedNow() {
    engine.enter();
    try {
      return ended;
    } finally {
      engine.exit();
    }
  }

  // ---- writing

  @Override
  public int write(ByteBuffer src) {
    engine.enter();
    try {
      int wanted = src.remaining();
      if (gone()) {
        return swallow(src, wanted);
      }
      int n = append(src, wanted);
      push();
      if (n < wanted) {
        n = goOn(src, n, wanted);
      }
      publish();
      return n;
    } finally {
      engine.exit();
    }
  }

  private int goOn(ByteBuffer src, int done, int wanted) {
    int unused = engine.turn();
    int n = done;
    if (!gone()) {
      n += append(src, wanted - n);
      push();
    }
    if (n < wanted) {
      owner.stalled();
    }
    return n;
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) {
    engine.enter();
    try {
      long total = 0;
      boolean full = false;
      for (int i = offset; i < offset + length && !full; i++) {
        int wanted = srcs[i].remaining();
        if (wanted > 0) {
          int n = gone() ? swallow(srcs[i], wanted) : append(srcs[i], wanted);
          if (n < 0) {
            return total > 0 ? total : BROKEN;
          }
          total += n;
          full = n < wanted;
        }
      }
      push();
      if (full) {
        int unused = engine.turn();
        owner.stalled();
      }
      publish();
      return total;
    } finally {
      engine.exit();
    }
  }

  private int swallow(ByteBuffer src, int wanted) {
    int n = writeToGone(wanted);
    if (n > 0) {
      src.position(src.position() + n);
    }
    return n;
  }

  private boolean gone() {
    return peerInClosed || ended || outEnd != OPEN;
  }

  /** As TCP: after the peer's clean end one write succeeds, later ones break. */
  private int writeToGone(int wanted) {
    if (wanted == 0) {
      return 0;
    }
    if (wroteToClosed || outEnd != OPEN || reset || peerEnd == UcxMessages.ABORTED) {
      return BROKEN;
    }
    wroteToClosed = true;
    return wanted;
  }

  /** Copies what the peer's limit and the buffers take, and moves the source along. */
  private int append(ByteBuffer src, int bytes) {
    int most = (int) Math.min(bytes, limit - written);
    int at = src.position();
    int done = 0;
    try {
      while (done < most) {
        if (filling == null) {
          filling = engine.takeBuffer();
        }
        int n = Math.min(most - done, filling.room());
        if (n == 0) {
          if (inFlight != null) {
            break;
          }
          push();
          continue;
        }
        filling.bytes.put(filling.length, src, at + done, n);
        filling.length += n;
        done += n;
      }
    } finally { // also where memory for a buffer is short: what has been taken will be sent
      src.position(at + done);
      written += done;
    }
    return done;
  }

  private void appendWord(long value) {
    if (filling == null) {
      filling = engine.takeBuffer();
    }
    filling.bytes.putLong(filling.length, value); // at the very beginning: there is room
    filling.length += Long.BYTES;
  }

  /** Sends what has gathered, unless a send is under way. */
  private void push() {
    SendBuffer buffer = filling;
    if (buffer == null || inFlight != null || pipe == null) {
      return;
    }
    filling = null;
    long answer = pipe.endpoint().sendStream(buffer.memory, 0, buffer.length, 0);
    if (answer > 0) {
      buffer.request = answer;
      inFlight = buffer;
      if (!queued) {
        queued = true;
        engine.sending(this);
      }
    } else {
      engine.giveBack(buffer);
      if (answer < 0) {
        failed();
      }
    }
  }

  /**
   * Looks whether UCX is done with the send under way, and sends what follows.
   *
   * @return whether nothing is under way any more
   */
  boolean pollSend() {
    if (inFlight == null) {
      return true; // an error came the last time, behind this
    }
    int status = engine.worker().poll(inFlight.request);
    if (status == Status.IN_PROGRESS) {
      return false;
    }
    engine.giveBack(inFlight);
    inFlight = null;
    if (status < 0) {
      failed();
    } else {
      push();
    }
    if (inFlight == null) {
      queued = false;
      if (over()) {
        lookWhetherOver();
      }
    }
    news();
    return inFlight == null;
  }

  /** Whether UCX still has memory of ours. */
  boolean sending() {
    return inFlight != null;
  }

  /** The way to the peer has failed: nothing reaches it. */
  private void failed() {
    dropFilling();
    if (!ended) {
      ended = true;
      reset |= peerEnd == OPEN;
    }
  }

  private void dropFilling() {
    if (filling != null) {
      engine.giveBack(filling);
      filling = null;
    }
  }

  private void fail() {
    engine.enter();
    try {
      reset = true;
      ended = true;
      news();
    } finally {
      engine.exit();
    }
  }

  // ---- what the peer says

  /** Takes a small message. */
  void noted(int type, long value) {
    switch (type) {
      case UcxMessages.GRANT -> raiseLimit(value);
      case UcxMessages.IN_CLOSED -> peerInClosed = true;
      case UcxMessages.FINISHED, UcxMessages.ABORTED -> {
        if (peerEnd == OPEN) {
          peerEnd = type;
          peerTotal = value;
          if (value < received) {
            breach("an end after " + value + " of " + received + " bytes");
          }
        }
      }
      default -> breach("a note of type " + type);
    }
    news();
  }

  private void raiseLimit(long value) {
    if (value < 0 || value - written > MOST_WINDOW_BYTES) {
      breach("a limit of " + value + " after " + written + " bytes");
    } else if (value > limit) {
      limit = value;
      news();
    }
  }

  /** Takes bytes over. */
  void receive(StreamChunk chunk, int offset, int length) {
    received += length;
    if (releasedHere || inClosed || breached) {
      return;
    }
    if (received > granted || (peerEnd != OPEN && received > peerTotal)) {
      breach("more bytes than it may send: " + received);
      return;
    }
    int at = offset;
    int left = length;
    if (unread == 0) {
      int direct = engine.receiveDirectly(this, chunk, at, left);
      read += direct;
      at += direct;
      left -= direct;
    }
    int kept = left;
    int before = unread;
    while (left > 0) {
      if (last == null || last.to == Slab.BYTES) {
        addSlab();
      }
      int n = Math.min(left, Slab.BYTES - last.to);
      chunk.copyTo(at, last.bytes, last.to, n);
      last.to += n;
      at += n;
      left -= n;
    }
    if (kept > 0) {
      unread = before + kept;
      news();
    }
  }

  private void addSlab() {
    Slab slab = engine.takeSlab();
    if (last == null) {
      first = slab;
    } else {
      last.next = slab;
    }
    last = slab;
  }

  // ---- reading

  @Override
  public int read(ByteBuffer dst) {
    if (!dst.hasRemaining()) {
      return 0;
    }
    engine.enter();
    try {
      int n = unread > 0 ? take(dst) : engine.turnInto(this, dst);
      if (n > 0) {
        grant();
        publish();
        return n;
      }
      return unread > 0 ? 0 : end();
    } finally {
      engine.exit();
    }
  }

  private int take(ByteBuffer dst) {
    int before = unread;
    int total = Math.min(before, dst.remaining());
    int left = total;
    while (left > 0) {
      Slab slab = first;
      int n = Math.min(left, slab.to - slab.from);
      dst.put(slab.bytes, slab.from, n);
      slab.from += n;
      left -= n;
      if (slab.from == slab.to && (slab.to == Slab.BYTES || slab == last)) {
        first = slab.next;
        if (first == null) {
          last = null;
        }
        engine.giveBack(slab);
      }
    }
    unread = before - total;
    read += total;
    return total;
  }

  /** Lets the peer send more, once enough has been read. */
  private void grant() {
    if (read + windowBytes - granted >= windowBytes >> 2 && !ended && pipe != null) {
      granted = read + windowBytes;
      note(UcxMessages.GRANT, granted);
    }
  }

  private void note(int type, long value) {
    if (pipe != null) {
      engine.note(pipe, peerToken, type, value);
    }
  }

  /** What it means that nothing is there: 0 for nothing yet, END or RESET. */
  private int end() {
    if (peerEnd != OPEN && received >= peerTotal) {
      reset |= peerEnd == UcxMessages.ABORTED;
      return reset ? RESET : END;
    }
    if (ended) {
      reset |= peerEnd != OPEN; // not all has come
      return reset ? RESET : END;
    }
    return 0;
  }

  // ---- looking and waiting

  @Override
  public int readiness(int ops) {
    int now = ready & ops;
    if (now == 0 && homeless && ops != 0) {
      int unused = engine.lookIn();
      now = ready & ops;
    }
    return now;
  }

  @Override
  public int available() {
    return unread;
  }

  @Override
  public boolean unread() {
    return unread > 0;
  }

  private void publish() {
    int now = 0;
    if (unread > 0 || ended || (peerEnd != OPEN && received >= peerTotal)) {
      now |= READ;
    }
    if (gone() || (limit > written && (filling == null || filling.room() >= FREE_BYTES))) {
      now |= WRITE;
    }
    if (now != ready) {
      ready = now;
    }
  }

  /** Something has changed: wakes those who wait for it. */
  private void news() {
    publish();
    int now = ready;
    if ((awaited & now) != 0) {
      waits(awaited & ~now);
      watched &= ~now;
      wakeOwner();
    } else if ((watched & now) != 0) {
      watched &= ~now;
      if (home == null) {
        wakeOwner();
      } else {
        home.hint(this);
      }
    }
  }

  private void waits(int ops) {
    engine.awaiting((ops == 0 ? 0 : 1) - (awaited == 0 ? 0 : 1));
    awaited = ops;
  }

  @Override
  public boolean watch(int ops) {
    engine.enter();
    try {
      publish();
      watched = (ready & ops) == 0 ? ops : 0;
      return watched == ops;
    } finally {
      engine.exit();
    }
  }

  @Override
  public boolean await(int ops) {
    engine.enter();
    try {
      int unused = engine.turn();
      publish();
      if ((ready & ops) != 0) {
        return false;
      }
      waits(awaited | ops);
      engine.fallAsleep();
      return (awaited & ops) == ops;
    } finally {
      engine.exit();
    }
  }

  @Override
  public void awake(int ops) {
    engine.enter();
    try {
      if (awaited != 0) {
        waits(awaited & ~ops);
      }
    } finally {
      engine.exit();
    }
  }

  // ---- ending

  @Override
  public void finishOutput() {
    endOutput(UcxMessages.FINISHED);
  }

  @Override
  public void abort() {
    endOutput(UcxMessages.ABORTED);
  }

  private void endOutput(int how) {
    engine.enter();
    try {
      if (outEnd == OPEN && !releasedHere) {
        outEnd = how;
        note(how, written);
        publish();
      }
    } finally {
      engine.exit();
    }
  }

  @Override
  public void abandonInput() {
    engine.enter();
    try {
      int unused = engine.turn();
      if (!inClosed && !releasedHere) {
        inClosed = true;
        note(UcxMessages.IN_CLOSED, 0);
      }
    } finally {
      engine.exit();
    }
  }

  @Override
  public boolean flushed() {
    engine.enter();
    try {
      if (inFlight != null || filling != null) {
        int unused = engine.turn();
      }
      return peerInClosed || ended || (inFlight == null && filling == null && engine.notesSent());
    } finally {
      engine.exit();
    }
  }

  @Override
  public boolean controlEnded(boolean byReset) {
    engine.enter();
    try {
      engine.turnUntilQuiet(); // what the peer sent before stands before
      if (!ended && peer.betweenHosts() && !allHasCome()) {
        if (lastWords == null) {
          lastWords = new LastWords(byReset);
          engine.expecting(this);
        }
      } else {
        endWithControl(byReset);
      }
      return reset;
    } finally {
      engine.exit();
    }
  }

  /** As far as is known: a peer tells how far it has read, but not for a quarter of the window. */
  private boolean leftOurs() {
    return written > 0 && (sending() || limit - written <= peerWindowBytes / 4 * 3L - 1);
  }

  @Override
  public void outputLost() {
    engine.enter();
    try {
      engine.turnUntilQuiet();
      if (!ended && !outputLost) {
        reset |= peerEnd == OPEN && leftOurs();
        outputLost = true;
        peerInClosed = true;
        dropFilling();
        news();
      }
    } finally {
      engine.exit();
    }
  }

  private boolean allHasCome() {
    return peerEnd != OPEN && received >= peerTotal;
  }

  private void endWithControl(boolean byReset) {
    if (!ended) {
      if (peerEnd == OPEN) {
        reset |= byReset || (!outputLost && leftOurs());
      }
      ended = true;
      dropFilling();
      news();
    }
  }

  /**
   * The control connection of a peer on another host has ended: looks whether the rest has come by
   * the fabric, or is given up.
   *
   * @return whether the stream has ended
   */
  boolean pollLastWords() {
    if (releasedHere) {
      return true;
    }
    if (!ended && !allHasCome() && !lastWords.over(peer.gone())) {
      return false;
    }
    endWithControl(lastWords.byReset());
    return true;
  }

  @Override
  public void wakePeerBySession() {
    // It needs no bell: what wakes it comes through UCX.
  }

  @Override
  public void leave(Home left) {
    engine.enter();
    try {
      if (home == left) {
        moveTo(null);
      }
    } finally {
      engine.exit();
    }
  }

  @Override
  public void moveTo(Home next) {
    engine.enter();
    try {
      UcxHome target = (UcxHome) next;
      if (target != home) {
        UcxHome left = home;
        // Without a home, if it must be, the caretaker brings what comes: later, but all of it.
        home = target != null && target.add(engine) ? target : null;
        homeless = home == null;
        if (left != null) {
          left.remove(engine);
        }
      }
      watched = 0;
    } finally {
      engine.exit();
    }
  }

  @Override
  public int inBytes() {
    return windowBytes;
  }

  @Override
  public int outBytes() {
    return peerWindowBytes;
  }

  @Override
  public void release() {
    engine.enter();
    try {
      moveTo(null);
      releasedHere = true;
      waits(0);
      reset = true;
      ended = true;
      while (first != null) {
        Slab slab = first;
        first = slab.next;
        engine.giveBack(slab);
      }
      last = null;
      unread = 0;
      dropFilling();
      publish();
      lookWhetherOver();
    } finally {
      engine.exit();
    }
    tell(UcxMessages.RELEASED, false);
  }

  /** Whether neither side uses it any more. */
  boolean over() {
    return releasedHere && releasedThere;
  }

  private void lookWhetherOver() {
    if (over()) {
      engine.streams().remove(this);
      peer.forget(this);
      if (pipe != null) {
        pipe.lookWhetherOver();
      }
      if (comesBy != null && comesBy != pipe) {
        comesBy.lookWhetherOver();
      }
    }
  }

  @Override
  public String transport() {
    String known = peer.transport();
    if (known.isEmpty()) {
      engine.enter();
      try {
        known =
            pipe == null || !pipe.endpoint().isOpen()
                ? ""
                : String.join(" ", pipe.endpoint().transports());
      } finally {
        engine.exit();
      }
      peer.transport(known);
    }
    return known.isEmpty() ? "ucx" : "ucx " + known;
  }
}
