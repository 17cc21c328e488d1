// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.EndState;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.FabricStream;
import io.talaria.nio.fabric.Home;
import io.talaria.nio.fabric.StreamOwner;
import io.talaria.ucx.Endpoint;
import io.talaria.ucx.StreamChunk;
import io.talaria.ucx.UcxException;
import io.talaria.ucx.WorkerAddress;
import java.nio.ByteBuffer;

/**
 * One connection over UCX: a {@link UcxOutput} and a {@link UcxInput}, and what belongs to both:
 * the ways, the agreement, who waits, and how it ends. Lives on one engine; all its fields are that
 * engine's, except what is marked.
 */
final class UcxStream implements FabricStream {
  private final UcxFabric fabric;
  private final UcxPeer peer;
  private final Engine engine;
  private final long token;
  private final Agreement agreement;
  private final EndState ends = new EndState();
  private final UcxOutput output;
  private final UcxInput input;

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

  /** Whether this side has said how its output ends. */
  private boolean outputEnded;

  /** Not null once the control connection has ended and the peer's last bytes are to come yet. */
  private LastWords lastWords;

  private boolean breached;
  private boolean releasedHere;
  private boolean releasedThere;

  // Who waits: operations.
  private int watched;
  private int awaited;

  // Any thread's.
  private volatile int ready;
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
    output = new UcxOutput(this, engine, ends);
    input = new UcxInput(this, engine, ends);
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

  /** The way out, or null. */
  Pipe pipe() {
    return pipe;
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
        output.appendWord(peerToken);
        output.push();
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
      output.peerWindow(bytes);
    } finally {
      engine.exit();
    }
  }

  /** The peer neither sends nor reads any more. */
  void peerReleased() {
    engine.enter();
    try {
      releasedThere = true;
      ends.peerReadsNoMore();
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
            ? UcxMessages.window(type, peerToken, input.windowBytes())
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
      input.window(receiveBytes);
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
        output.appendWord(tcpBytes);
        output.push();
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
      ends.fail();
      output.dropFilling();
      peer.complain(what);
      news();
    }
  }

  /** Whether the peer has done so. */
  boolean breached() {
    return breached;
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
    return peerTookTcp || ends.ended();
  }

  // ---- bytes

  @Override
  public int write(ByteBuffer src) {
    engine.enter();
    try {
      int n = output.write(src);
      publish();
      return n;
    } finally {
      engine.exit();
    }
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) {
    engine.enter();
    try {
      long n = output.write(srcs, offset, length);
      publish();
      return n;
    } finally {
      engine.exit();
    }
  }

  @Override
  public int read(ByteBuffer dst) {
    if (!dst.hasRemaining()) {
      return 0;
    }
    engine.enter();
    try {
      int n = input.read(dst);
      if (n > 0) {
        publish();
      }
      return n;
    } finally {
      engine.exit();
    }
  }

  /** Takes bytes over. */
  void receive(StreamChunk chunk, int offset, int length) {
    input.receive(chunk, offset, length);
  }

  /**
   * Looks whether UCX is done with the send under way, and sends what follows.
   *
   * @return whether nothing is under way any more
   */
  boolean pollSend() {
    return output.pollSend();
  }

  /** Whether UCX still has memory of ours. */
  boolean sending() {
    return output.sending();
  }

  private void fail() {
    engine.enter();
    try {
      ends.fail();
      news();
    } finally {
      engine.exit();
    }
  }

  // ---- what the peer says

  /** Takes a small message. */
  void noted(int type, long value) {
    switch (type) {
      case UcxMessages.GRANT -> output.raiseLimit(value);
      case UcxMessages.IN_CLOSED -> ends.peerReadsNoMore();
      case UcxMessages.FINISHED, UcxMessages.ABORTED ->
          input.peerEnds(type == UcxMessages.ABORTED, value);
      default -> breach("a note of type " + type);
    }
    news();
  }

  /** Sends the peer a small message. */
  void note(int type, long value) {
    if (pipe != null) {
      engine.note(pipe, peerToken, type, value);
    }
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
    return input.unread();
  }

  @Override
  public boolean unread() {
    return input.unread() > 0;
  }

  /** Shows other threads what is ready. */
  private void publish() {
    int now = 0;
    if (input.unread() > 0 || ends.ended() || input.allHasCome()) {
      now |= READ;
    }
    if (ends.nobodyReads() || output.hasRoom()) {
      now |= WRITE;
    }
    if (now != ready) {
      ready = now;
    }
  }

  /** Something has changed: wakes those who wait for it. */
  void news() {
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
      if (!outputEnded && !releasedHere) {
        outputEnded = true;
        ends.outputEnded();
        note(how, output.written());
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
      if (input.close() && !releasedHere) {
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
      if (!output.idle()) {
        int unused = engine.turn();
      }
      return ends.noReaderLeft() || (output.idle() && engine.notesSent());
    } finally {
      engine.exit();
    }
  }

  @Override
  public boolean controlEnded(boolean byReset) {
    engine.enter();
    try {
      engine.turnUntilQuiet(); // what the peer sent before stands before
      if (!ends.ended() && peer.betweenHosts() && !input.allHasCome()) {
        if (lastWords == null) {
          lastWords = new LastWords(byReset);
          engine.expecting(this);
        }
      } else {
        endWithControl(byReset);
      }
      return ends.wasReset();
    } finally {
      engine.exit();
    }
  }

  @Override
  public void outputLost() {
    engine.enter();
    try {
      engine.turnUntilQuiet();
      ends.outputLost(!ends.peerEnded() && output.leftUnread());
      output.dropFilling();
      news();
    } finally {
      engine.exit();
    }
  }

  private void endWithControl(boolean byReset) {
    if (!ends.ended()) {
      boolean unused = ends.controlEnded(byReset, !ends.peerEnded() && output.leftUnread());
      output.dropFilling();
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
    if (!ends.ended() && !input.allHasCome() && !lastWords.over(peer.gone())) {
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
    return input.windowBytes();
  }

  @Override
  public int outBytes() {
    return output.peerWindowBytes();
  }

  @Override
  public void release() {
    engine.enter();
    try {
      moveTo(null);
      releasedHere = true;
      waits(0);
      ends.fail(); // for whoever comes late
      int unused = ends.report(false);
      input.release();
      output.dropFilling();
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

  void lookWhetherOver() {
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
