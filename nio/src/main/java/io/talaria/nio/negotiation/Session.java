// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import io.talaria.nio.fabric.Peer;
import io.talaria.nio.fabric.Upgrade;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.process.Host;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One connection to a peer process, over which any number of upgrades are negotiated: a Unix-domain
 * one, or one to or from a rendezvous port, with a {@link SessionLink}. Its end tells that the peer
 * process has ended. Negotiation thread, except {@link #send} and {@link #execute}.
 */
public final class Session implements Peer, NegotiationLoop.Ready {
  /** No offer is made while more waits to be sent. */
  private static final int MAX_QUEUED_BYTES = 1 << 20;

  /** A peer that lets so much wait does not read: room for an answer to every pending offer. */
  private static final int MOST_QUEUED_BYTES = 4 << 20;

  private static final int MAX_PENDING = 1 << 16;
  private static final long GREETING_LIMIT_NS = 5_000_000_000L;

  /** The peer may be loading a native library first, on a busy machine. */
  private static final long STARTING_LIMIT_NS = 60_000_000_000L;

  /**
   * While more answers wait, no offer is read: who does not read them is not to fill our memory.
   */
  private static final int MOST_WAITING_ANSWERS = 1000;

  private enum State {
    HELLO_EXPECTED,
    WELCOME_EXPECTED,
    READY,
    CLOSED
  }

  private final Negotiator negotiator;
  private final SocketChannel channel;
  private final Acceptor acceptor;
  private final String dialled;

  /** Null on one host. */
  private final SessionLink link;

  /** What it is about: chosen by the side that dials. */
  private Fabric fabric;

  private final long openedAtNs = System.nanoTime();
  private final ByteBuffer input =
      ByteBuffer.allocate(2 * (Wire.LENGTH_BYTES + Wire.MAX_FRAME_BYTES));
  private final ArrayDeque<ByteBuffer> output = new ArrayDeque<>();

  /** Attempts that have not been offered: before the welcome, or while much waits to be sent. */
  private final ArrayDeque<UpgradeAttempt> waiting = new ArrayDeque<>();

  private final Map<Integer, Offered> offered = new HashMap<>();
  private final Map<Integer, ConnectionKey> received = new HashMap<>();
  private final Set<Upgradable> attached = new HashSet<>();
  private SelectionKey key;
  private State state;
  private long queuedBytes;
  private long peerPid;
  private int lastId;
  private Object attachment;

  /** An offer this side has made and that has no answer yet. */
  private record Offered(UpgradeAttempt attempt, Upgrade upgrade) {}

  /** A session that this side dials. */
  Session(Negotiator negotiator, SocketChannel channel, String dialled, Fabric fabric) {
    this(negotiator, channel, null, dialled, null, State.WELCOME_EXPECTED);
    this.fabric = fabric;
  }

  /** A session with another host, which this side has called. */
  private Session(Negotiator negotiator, SocketChannel channel, Fabric fabric, SessionLink link) {
    this(negotiator, channel, null, link.name(), link, State.WELCOME_EXPECTED);
    this.fabric = fabric;
  }

  /** A session with another host, which has called this side. */
  private Session(
      Negotiator negotiator, SocketChannel channel, Acceptor acceptor, SessionLink link) {
    this(negotiator, channel, acceptor, null, link, State.HELLO_EXPECTED);
  }

  /** A session that was dialled at an announcement. */
  Session(Negotiator negotiator, SocketChannel channel, Announcement announcement) {
    this(negotiator, channel, announcement, null, null, State.HELLO_EXPECTED);
  }

  private Session(
      Negotiator negotiator,
      SocketChannel channel,
      Acceptor acceptor,
      String dialled,
      SessionLink link,
      State state) {
    this.negotiator = negotiator;
    this.channel = channel;
    this.acceptor = acceptor;
    this.dialled = dialled;
    this.link = link;
    this.state = state;
  }

  /**
   * Begins a session with another host, which has called this side and has proved itself.
   *
   * @param channel owned by the session from now on
   * @param acceptor what it has called
   */
  public static void answered(
      Negotiator negotiator, SocketChannel channel, Acceptor acceptor, SessionLink link) {
    try {
      negotiator.sessions().add(new Session(negotiator, channel, acceptor, link));
    } catch (IOException e) {
      Sessions.closeQuietly(channel);
    }
  }

  /**
   * Begins a session with another host, which this side has called and which has proved itself.
   *
   * @param channel owned by the session from now on
   * @return the session, which may have ended already; null if there is none
   */
  public static Session called(
      Negotiator negotiator, SocketChannel channel, Fabric fabric, SessionLink link) {
    Session session = new Session(negotiator, channel, fabric, link);
    try {
      negotiator.sessions().add(session);
    } catch (IOException e) {
      Sessions.closeQuietly(channel);
      return null;
    }
    try {
      negotiator.sessions().begin(session);
    } catch (FabricException e) {
      // Reported; it is closed, and tells whoever asks.
    }
    return session;
  }

  void register(Selector selector) throws IOException {
    channel.configureBlocking(false);
    key = channel.register(selector, SelectionKey.OP_READ, this);
  }

  // ---- Peer

  @Override
  public boolean initiator() {
    return dialled != null;
  }

  @Override
  public boolean betweenHosts() {
    return link != null;
  }

  /** What this side has dialled, by the name of the negotiator; null if it was dialled. */
  public String dialled() {
    return dialled;
  }

  /** Whether a channel has to find its selector before it is offered or answered. */
  boolean placesStreams() {
    return fabric.placesStreams();
  }

  @Override
  public long pid() {
    return peerPid;
  }

  @Override
  public void send(ByteBuffer message) {
    ByteBuffer frame = Wire.fabric(message);
    if (negotiator.loop().isCurrentThread()) {
      write(frame); // at once, or an offer made after it would overtake it
    } else {
      execute(() -> write(frame));
    }
  }

  @Override
  public void execute(Runnable task) {
    negotiator.execute(task);
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object attachment) {
    this.attachment = attachment;
  }

  // ---- the dialling side

  void sayHello() throws FabricException {
    ByteBuffer payload = fabric.openPeer(this);
    write(
        Wire.hello(
            new Hello(
                Wire.VERSION,
                Host.pid(),
                Host.bootId(),
                Host.networkNamespace(),
                fabric.name(),
                payload)));
  }

  /** Offers an upgrade, or keeps the attempt until the peer has said welcome and takes more. */
  public void offer(UpgradeAttempt attempt) {
    if (!attempt.open()) {
      return; // closed while it waited
    }
    if (state == State.CLOSED) {
      attempt.refused(Reason.PEER_LOST);
      return;
    }
    if (offered.size() + waiting.size() >= MAX_PENDING) {
      attempt.refused(Reason.BUSY);
      return;
    }
    if (state == State.WELCOME_EXPECTED || queuedBytes > MAX_QUEUED_BYTES) {
      waiting.add(attempt);
      return;
    }
    try {
      Upgrade upgrade = fabric.offer(this, attempt.channel().home(fabric));
      int id = ++lastId;
      offered.put(id, new Offered(attempt, upgrade));
      attempt.offered(this, id);
      negotiator.counters().offerMade();
      write(Wire.offer(id, attempt.channel().key(), upgrade.payload()));
    } catch (FabricException e) {
      attempt.unable(e.reason());
    }
  }

  /** Takes an offer back; the peer answers it all the same. */
  void withdraw(int id) {
    if (state == State.READY && offered.containsKey(id)) {
      write(Wire.withdraw(id));
    }
  }

  private void welcomed(long pid) throws MalformedFrameException {
    peerPid = known(pid);
    state = State.READY;
    fabric.peerAccepted(this);
    negotiator.counters().sessionOpened();
    offerWaiting();
  }

  private void offerWaiting() {
    while (state == State.READY && queuedBytes <= MAX_QUEUED_BYTES && !waiting.isEmpty()) {
      offer(waiting.poll());
    }
  }

  private void answered(int id, ByteBuffer payload)
      throws FabricException, MalformedFrameException {
    Offered offer = taken(id);
    offer.upgrade().answered(payload);
    Upgradable to = offer.attempt().channel();
    Reason worthless = offer.upgrade().worthless();
    if (worthless == null && offer.attempt().open() && to.attach(offer.upgrade().stream())) {
      attached.add(to);
      negotiator.counters().acceptedByPeer();
    } else {
      offer.upgrade().stream().withdraw();
      offer.upgrade().stream().release();
    }
    if (worthless == null) {
      offer.attempt().done();
    } else {
      offer.attempt().unable(worthless);
    }
  }

  private void refused(int id, Reason reason) throws MalformedFrameException {
    Offered offer = taken(id);
    offer.upgrade().cancel(reason);
    offer.attempt().refused(reason);
  }

  private Offered taken(int id) throws MalformedFrameException {
    Offered offer = offered.remove(id);
    if (offer == null) {
      throw new MalformedFrameException("an answer to offer " + id + ", which was not made");
    }
    return offer;
  }

  // ---- the dialled side

  private void greeted(Hello hello) throws MalformedFrameException {
    Reason problem = problem(hello);
    if (problem == null) {
      peerPid = known(hello.pid());
      try {
        fabric.acceptPeer(this, hello.payload());
      } catch (FabricException e) {
        problem = e.reason();
      }
    }
    if (problem != null) {
      negotiator.counters().refused(problem);
      write(Wire.reject(problem));
      close(problem);
      return;
    }
    state = State.READY;
    negotiator.counters().sessionOpened();
    write(Wire.welcome(Host.pid()));
  }

  /** A peer names files of its own process only, so it must have said which that is. */
  private static long known(long pid) throws MalformedFrameException {
    if (pid <= 0) {
      throw new MalformedFrameException("process id " + pid);
    }
    return pid;
  }

  private Reason problem(Hello hello) {
    if (hello.version() != Wire.VERSION) {
      return Reason.VERSION_MISMATCH;
    }
    if (link != null) {
      fabric = link.fabric(hello.fabric());
      return fabric == null ? Reason.NO_UCX : null;
    }
    if (!hello.bootId().equals(Host.bootId())) {
      return Reason.OTHER_BOOT;
    }
    if (!hello.networkNamespace().equals(Host.networkNamespace())) {
      return Reason.OTHER_NAMESPACE;
    }
    fabric = negotiator.fabrics().usable(hello.fabric());
    return fabric == null ? Reason.REFUSED : null;
  }

  private void offeredByPeer(int id, ConnectionKey connection, ByteBuffer payload)
      throws MalformedFrameException {
    negotiator.counters().offerReceived();
    if (received.containsKey(id)) {
      throw new MalformedFrameException("offer " + id + " while it waits for its answer");
    }
    if (payload.remaining() > fabric.mostOfferBytes()) {
      throw new MalformedFrameException("an offer with " + payload.remaining() + " bytes");
    }
    if (negotiator.matcher().pending() >= MAX_PENDING) {
      refuse(id, Reason.BUSY);
    } else if (!covers(connection)) {
      refuse(id, Reason.NOT_MATCHED);
    } else {
      received.put(id, connection);
      negotiator.matcher().offered(new ReceivedOffer(this, id, connection, payload));
    }
  }

  /** Whether the connection may be one that has come to the listener, from this very peer. */
  private boolean covers(ConnectionKey connection) {
    return acceptor.covers(connection) && (link == null || link.joins(connection));
  }

  /** Joins a received offer with the accepted channel it is for. */
  void accept(ReceivedOffer offer, Upgradable accepted) {
    received.remove(offer.id());
    Upgrade upgrade;
    try {
      upgrade = fabric.answer(this, offer.payload(), accepted.home(fabric));
    } catch (InternalError e) {
      throw e; // perhaps of memory that is gone
    } catch (RuntimeException | Error e) {
      negotiator.reports().failure("answering an offer", e);
      accepted.plain(Reason.INTERNAL);
      refuse(offer.id(), Reason.INTERNAL);
      return;
    } catch (FabricException e) {
      accepted.plain(e.reason());
      refuse(offer.id(), e.reason());
      if (e.reason() == Reason.PROTOCOL) {
        close(Reason.PROTOCOL);
      }
      return;
    }
    if (!accepted.attach(upgrade.stream())) {
      upgrade.cancel(Reason.CLOSED_EARLY);
      refuse(offer.id(), Reason.CLOSED_EARLY);
      return;
    }
    attached.add(accepted);
    negotiator.counters().acceptedByUs();
    write(Wire.answer(offer.id(), upgrade.payload()));
  }

  void refuse(int id, Reason reason) {
    received.remove(id);
    negotiator.counters().refused(reason);
    write(Wire.refuse(id, reason));
  }

  private void withdrawn(int id) {
    ConnectionKey connection = received.get(id);
    if (connection != null) {
      negotiator.matcher().withdrawn(connection, this);
      refuse(id, Reason.CLOSED_EARLY);
    }
  }

  // ---- both sides

  void forget(Upgradable channel) {
    attached.remove(channel);
  }

  /** Whether the listener and all connections are gone: no other can come, but for latecomers. */
  boolean useless(long nowNs, long graceNs) {
    return state == State.READY
        && acceptor != null
        && acceptor.closedFor(nowNs, graceNs)
        && attached.isEmpty()
        && received.isEmpty();
  }

  /** Ends a session that takes too long over its greeting. */
  void checkGreeting(long nowNs) {
    boolean mayStart = initiator() && fabric.placesStreams();
    long limitNs = mayStart ? STARTING_LIMIT_NS : GREETING_LIMIT_NS;
    if ((state == State.HELLO_EXPECTED || state == State.WELCOME_EXPECTED)
        && nowNs - openedAtNs > limitNs) {
      close(Reason.TIMED_OUT);
    }
  }

  boolean greeting() {
    return state == State.HELLO_EXPECTED || state == State.WELCOME_EXPECTED;
  }

  @Override
  public void failed() {
    close(Reason.INTERNAL);
  }

  @Override
  public void ready() {
    try {
      if (key.isValid() && key.isWritable()) {
        flush();
        offerWaiting();
      }
      if (state != State.CLOSED && key.isValid() && key.isReadable()) {
        readFrames();
      }
    } catch (MalformedFrameException e) {
      negotiator
          .reports()
          .report(Reason.PROTOCOL, "session with process " + peerPid + ": " + e.getMessage());
      close(Reason.PROTOCOL);
    } catch (FabricException e) {
      negotiator
          .reports()
          .report(e.reason(), "session with process " + peerPid + ": " + e.getMessage());
      close(e.reason());
    } catch (IOException e) {
      close(lost());
    } catch (RuntimeException | Error e) {
      // Half a batch of frames is handled: nobody knows where to go on.
      negotiator.reports().report(Reason.INTERNAL, "session with process " + peerPid + ": " + e);
      close(Reason.INTERNAL);
    }
  }

  private void readFrames() throws IOException, MalformedFrameException, FabricException {
    int n = channel.read(input);
    input.flip();
    while (state != State.CLOSED && input.remaining() >= Wire.LENGTH_BYTES) {
      int length = Short.toUnsignedInt(input.getShort(input.position()));
      if (length < 1 || length > Wire.MAX_FRAME_BYTES + (link == null ? 0 : link.sealBytes())) {
        throw new MalformedFrameException("a frame of " + length + " bytes");
      }
      if (input.remaining() < Wire.LENGTH_BYTES + length) {
        break;
      }
      ByteBuffer frame = input.slice(input.position() + Wire.LENGTH_BYTES, length);
      input.position(input.position() + Wire.LENGTH_BYTES + length);
      if (link != null) {
        frame = link.open(frame);
      }
      handleGuarded(Byte.toUnsignedInt(frame.get()), frame);
    }
    input.compact();
    if (n < 0) {
      close(lost());
    }
  }

  /** A listener that has taken its announcement back before it answered is as good as plain. */
  private Reason lost() {
    boolean takenBack =
        state == State.WELCOME_EXPECTED
            && link == null
            && !negotiator.dialler().stillAnnounced(this);
    return takenBack ? Reason.PEER_PLAIN : Reason.PEER_LOST;
  }

  /** Handles a frame; if shared memory turns out to be gone, that ends its streams only. */
  private void handleGuarded(int type, ByteBuffer body)
      throws MalformedFrameException, FabricException {
    try {
      handle(type, body);
      Faults.take();
    } catch (InternalError e) {
      if (!negotiator.examine()) {
        throw e;
      }
    }
  }

  private void handle(int type, ByteBuffer body) throws MalformedFrameException, FabricException {
    if (type == Wire.REJECT && initiator()) {
      close(Wire.reason(body));
    } else if (state == State.HELLO_EXPECTED && type == Wire.HELLO) {
      greeted(Wire.hello(body));
    } else if (state == State.WELCOME_EXPECTED && type == Wire.WELCOME) {
      welcomed(Wire.welcome(body));
    } else if (state == State.READY && type == Wire.FABRIC) {
      fabric.received(this, body);
    } else if (state == State.READY && initiator() && type == Wire.ANSWER) {
      int id = Wire.id(body);
      answered(id, Wire.atEnd(body, Wire.payload(body)));
    } else if (state == State.READY && initiator() && type == Wire.REFUSE) {
      refused(Wire.id(body), Wire.reason(body));
    } else if (state == State.READY && !initiator() && type == Wire.OFFER) {
      int id = Wire.id(body);
      ConnectionKey connection = ConnectionKey.decode(body);
      offeredByPeer(id, connection, Wire.atEnd(body, Wire.payload(body)));
    } else if (state == State.READY && !initiator() && type == Wire.WITHDRAW) {
      withdrawn(Wire.atEnd(body, Wire.id(body)));
    } else {
      throw new MalformedFrameException("type " + type + " in state " + state);
    }
  }

  private void write(ByteBuffer message) {
    if (state == State.CLOSED) {
      return;
    }
    ByteBuffer frame = link == null ? message : link.seal(message);
    output.add(frame);
    queuedBytes += frame.remaining();
    if (queuedBytes > MOST_QUEUED_BYTES) {
      stopSending();
      drop(Reason.BUSY, "it does not read what is sent to it");
      return;
    }
    try {
      flush();
    } catch (IOException e) {
      // The reading side of this session sees the end and closes; closing here would re-enter.
      stopSending();
    }
  }

  private void stopSending() {
    output.clear();
    queuedBytes = 0;
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_READ);
    }
  }

  @Override
  public void drop(String why) {
    drop(Reason.PROTOCOL, why);
  }

  /** Closes the session soon: whoever calls is in the middle of something. */
  private void drop(Reason reason, String why) {
    execute(
        () -> {
          if (state != State.CLOSED) {
            negotiator.reports().report(reason, "session with process " + peerPid + ": " + why);
            close(reason);
          }
        });
  }

  private void flush() throws IOException {
    for (ByteBuffer frame = output.peek(); frame != null; frame = output.peek()) {
      queuedBytes -= channel.write(frame);
      if (frame.hasRemaining()) {
        break;
      }
      output.poll();
    }
    if (key.isValid()) {
      boolean more = !output.isEmpty() || (state == State.READY && !waiting.isEmpty());
      // The side that offers always reads, so the two never wait for each other.
      boolean reads = initiator() || output.size() <= MOST_WAITING_ANSWERS;
      key.interestOps((reads ? SelectionKey.OP_READ : 0) | (more ? SelectionKey.OP_WRITE : 0));
    }
  }

  /** Ends the session, and with it everything negotiated over it. Idempotent. */
  void close(Reason reason) {
    if (state == State.CLOSED) {
      return;
    }
    if (state == State.READY) {
      negotiator.counters().sessionClosed();
    } else if (state == State.WELCOME_EXPECTED && link != null) {
      link.failed(reason);
    }
    state = State.CLOSED;
    try {
      channel.close();
    } catch (IOException e) {
      // Closed as far as it can be.
    }
    negotiator.sessions().ended(this, dialled);
    received.values().forEach(connection -> negotiator.matcher().withdrawn(connection, this));
    received.clear();
    negotiator.sessions().orphaned(attached); // before what may fail
    attached.clear();
    if (attachment != null) {
      negotiator.loop().runGuarded("the end of a peer", () -> fabric.peerGone(this), () -> {});
    }
    List<UpgradeAttempt> failed = new ArrayList<>(waiting);
    waiting.clear();
    for (Offered offer : offered.values()) {
      negotiator
          .loop()
          .runGuarded("taking an offer back", () -> offer.upgrade().cancel(reason), () -> {});
      failed.add(offer.attempt());
    }
    offered.clear();
    for (UpgradeAttempt attempt : failed) {
      negotiator
          .loop()
          .runGuarded(
              "an upgrade", () -> attempt.refused(reason), () -> attempt.failed(Reason.INTERNAL));
    }
  }
}
