// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.EndState;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.StreamOwner;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.ucx.binding.BindingException;
import io.talaria.nio.ucx.binding.Received;
import io.talaria.nio.ucx.binding.UcxBinding;
import java.nio.ByteBuffer;

/**
 * One connection over UCX, on one engine from beginning to end: the ways that it goes and comes by,
 * and the parts: {@link Agreement} whether it is used at all, {@link UcxOutput} and {@link
 * UcxInput} for the bytes, {@link UcxWaits} for the threads that wait, {@link UcxEnding} for how it
 * ends. Fields are the engine's, except what is marked.
 */
final class UcxStream implements TransportStream {
  private final UcxTransport transport;
  private final UcxPeer peer;
  private final Engine engine;
  private final long token;
  private final Agreement agreement;
  private final EndState ends = new EndState();
  private final UcxOutput output;
  private final UcxInput input;
  private final UcxWaits waits;
  private final UcxEnding ending;

  /** Set once, before the stream is used. */
  private long peerToken;

  private byte[] address;
  private volatile StreamOwner owner;
  private volatile Object attachment;

  /** The way out. */
  private Pipe pipe;

  /** The way in; null: not known yet. */
  private Pipe comesBy;

  /** What follows in the output is the program's: a second switch would be taken for that. */
  private boolean switchSaid;

  // Any thread's.
  private volatile long peerSwitchAt = -1;
  private volatile boolean peerTookTcp;

  /** The engine is entered. */
  UcxStream(UcxTransport transport, UcxPeer peer, Engine engine, long token, boolean decides) {
    this.transport = transport;
    this.peer = peer;
    this.engine = engine;
    this.token = token;
    agreement = new Agreement(this, decides);
    output = new UcxOutput(this, engine, ends);
    input = new UcxInput(this, engine, ends);
    waits = new UcxWaits(this, engine, output, input, ends);
    ending = new UcxEnding(this, engine, output, input, waits, ends);
    engine.streams().put(this);
    engine.streamMade();
    peer.add(this);
    transport.endMade();
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

  /** The way in, or null. */
  Pipe comesBy() {
    return comesBy;
  }

  // ---- negotiation thread

  /** Learns where the peer's half is. */
  void reaches(UcxMessages.Place place) {
    peerToken = place.token();
    address = place.address();
  }

  /**
   * Makes the way out, and tells the peer at once which stream comes by it.
   *
   * @throws TransportException if UCX refuses, or memory is short; further ones between the two
   *     workers are refused, too
   */
  void connect() throws TransportException {
    engine.enter();
    try {
      if (pipe == null && !ending.over()) {
        makeWayOut();
      }
    } catch (BindingException e) {
      throw new TransportException(Reason.LIMIT, "no UCX endpoint: " + e.getMessage(), e);
    } catch (InternalError e) {
      throw e; // perhaps of another stream's memory that is gone
    } catch (VirtualMachineError e) { // no direct memory, most likely
      if (pipe == null) {
        throw new TransportException(
            Reason.LIMIT, "no memory for a UCX endpoint: " + e.getMessage(), e);
      }
      // The first word alone could not be sent: the engine sends it later.
    } finally {
      engine.exit();
    }
  }

  private void makeWayOut() {
    boolean made = false;
    try {
      engine.reserveBuffer(); // first, while there is no endpoint that would be left behind
      pipe = new Pipe(engine, address, this);
      made = true;
    } finally {
      if (!made) {
        engine.refuse(address); // the peer makes its own, and UCX counts
      }
    }
    output.appendWord(peerToken);
    output.push();
  }

  /** Tells the peer's other streams by which way this one goes. */
  void lookHowItGoes() {
    if (peer.betweenHosts() && pipe != null) {
      engine.enter();
      try {
        peer.goesBy(pipe.endpoint().transports(), transport.binding().tellsTransports());
      } finally {
        engine.exit();
      }
    }
  }

  /** No thread has used it, and nothing was made. */
  void cancel() {
    ending.cancel();
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
    ending.peerReleased();
  }

  /** The session has ended; the control connection will tell what became of the peer. */
  void peerGone() {
    ending.peerGone();
  }

  /** Tells the peer's negotiation thread. Any thread. */
  void tell(byte type, boolean withWindow) {
    peer.send(
        withWindow
            ? UcxMessages.window(type, peerToken, input.windowBytes())
            : UcxMessages.about(type, peerToken));
  }

  /** As {@link #tell}, but not before the engine can be left. */
  void tellLater(byte type) {
    peer.sendLater(UcxMessages.about(type, peerToken));
  }

  // ---- TransportStream: agreeing and switching

  @Override
  public TransportProvider transport() {
    return transport;
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
    } catch (TransportException e) {
      peer.unreachable(e.getMessage());
      if (!agreement.withdraw()) {
        ending.fail();
      }
    }
  }

  /**
   * Stays on TCP, or fails if it is too late for that: nothing comes to its engine any more. The
   * engine is not entered.
   *
   * @return whether it has failed
   */
  boolean withdrawOrFail() {
    agreement.withdraw();
    if (agreement.withdrawn()) {
      return false; // in both directions
    }
    ending.fail();
    return true;
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
        if (!switchSaid) { // else memory was short after that, and the channel tries again
          output.appendWord(tcpBytes);
          switchSaid = true;
        }
        output.push();
      }
    } finally {
      engine.exit();
    }
  }

  @Override
  public long peerSwitchAt() {
    long at = peerSwitchAt;
    if (at < 0 && waits.homeless()) {
      engine.lookIn();
      at = peerSwitchAt;
    }
    return at;
  }

  /** Whether the peer's output comes here. */
  boolean peerHasSwitched() {
    return peerSwitchAt >= 0;
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
    ending.breach(what);
  }

  /** Bytes of the peer's could not be taken over, so what follows them is of no use. */
  void lost(Throwable cause) {
    ending.lost(cause);
  }

  /** Whether nothing of the peer is taken any more. */
  boolean breached() {
    return ending.breached();
  }

  /** Wakes the threads that use the stream, soon: at the exit from the engine. */
  void wakeOwner() {
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

  @Override
  public boolean peerInputClosed() {
    return ends.noReaderLeft();
  }

  // ---- bytes

  @Override
  public int write(ByteBuffer src) {
    engine.enter();
    try {
      int n = output.write(src);
      waits.publish();
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
      waits.publish();
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
        waits.publish();
      }
      return n;
    } finally {
      engine.exit();
    }
  }

  /** As {@link UcxInput#grant}; the engine is entered. */
  void grant() {
    input.grant();
  }

  /** Takes bytes over. */
  void receive(Received chunk, int offset, int length) {
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

  // ---- what the peer says

  /** Takes a small message. */
  void noted(int type, long value) {
    switch (type) {
      case UcxMessages.GRANT -> output.raiseLimit(value);
      case UcxMessages.IN_CLOSED -> ends.peerReadsNoMore(value == UcxMessages.LEFT_UNREAD);
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
    return waits.readiness(ops);
  }

  @Override
  public int available() {
    return input.unread();
  }

  @Override
  public boolean unread() {
    return input.unread() > 0;
  }

  /** Something has changed: wakes the threads that wait for it. */
  void news() {
    waits.news();
  }

  @Override
  public boolean watch(int ops) {
    return waits.watch(ops);
  }

  @Override
  public boolean await(int ops) {
    return waits.await(ops);
  }

  @Override
  public void awake(int ops) {
    waits.awake(ops);
  }

  @Override
  public void wakePeerBySession() {
    // It needs no doorbell: what wakes it comes through UCX.
  }

  @Override
  public void leave(ReadySet left) {
    waits.leave(left);
  }

  @Override
  public void moveTo(ReadySet next) {
    waits.moveTo(next);
  }

  // ---- ending

  @Override
  public void finishOutput() {
    ending.endOutput(UcxMessages.FINISHED);
  }

  @Override
  public void abort() {
    ending.endOutput(UcxMessages.ABORTED);
  }

  @Override
  public void abandonInput(boolean leftUnread) {
    ending.abandonInput(leftUnread);
  }

  @Override
  public boolean flushed() {
    return ending.flushed();
  }

  @Override
  public boolean controlEnded(boolean byReset) {
    return ending.controlEnded(byReset);
  }

  @Override
  public void outputLost() {
    ending.outputLost();
  }

  @Override
  public boolean expectsMore() {
    return ending.expectsMore();
  }

  @Override
  public boolean outputGoesOn() {
    return ending.outputGoesOn();
  }

  /** As {@link UcxEnding#pollLastWords}. */
  boolean pollLastWords() {
    return ending.pollLastWords();
  }

  @Override
  public void release() {
    ending.release();
  }

  /** Whether neither side uses it any more. */
  boolean over() {
    return ending.over();
  }

  void lookWhetherOver() {
    ending.lookWhetherOver();
  }

  /** UCX is done with something that was sent. */
  void someSent() {
    ending.lookWhetherSent();
  }

  /** As {@link UcxEnding#noteFailed}. */
  void noteFailed() {
    ending.noteFailed();
  }

  /** Neither side uses it any more, and it has no way out: it leaves nothing behind. */
  void gone() {
    peer.forget(this);
    transport.endGone();
    engine.streamGone();
  }

  /** UCX is done with the way out, which is closed once neither side uses it any more. */
  void wayClosed() {
    peer.forget(this); // not before: a way whose other end was never made waits for the session's
    transport.endGone();
  }

  /**
   * Whether what UCX has sent may be lost on its way if the way is closed by force, though the peer
   * may want it: of a peer that has not said that it is done, because the session has ended.
   */
  boolean mayBeUnderWay() {
    return !transport.sendsIntoMemory() && peer.mayLive();
  }

  // ---- what it is like

  @Override
  public int inBytes() {
    return input.windowBytes();
  }

  @Override
  public int outBytes() {
    return output.peerWindowBytes();
  }

  @Override
  public String detail() {
    String known = peer.detail();
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
      peer.detail(known);
    }
    UcxBinding binding = transport.binding();
    String name = binding.tellsTransports() ? "ucx" : "ucx by " + binding.versions();
    return known.isEmpty() ? name : name + " " + known;
  }
}
