// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.memory.Faults;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.negotiation.Wire.Welcome;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.Peer;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * One connection to a peer process, over which any number of upgrades are negotiated: a Unix-domain
 * one, or one to or from a rendezvous port, with a {@link SessionLink}. Its end tells that the peer
 * process has ended. Negotiation thread, except {@link #send} and {@link #execute}.
 *
 * <p>This class is its life: who the peer is, what either may say when, and the end. {@link
 * FrameConnection} carries the frames; {@link MadeOffers} and {@link ReceivedOffers} are what the
 * two sides say to each other.
 */
public final class Session implements Peer, NegotiationLoop.Ready {
  /** Of all sessions together where they are received, of one where they are made. */
  static final int MAX_PENDING_OFFERS = 1 << 16;

  private static final long HANDSHAKE_LIMIT_NS = 5_000_000_000L;

  /** The peer may be loading a native library first, on a busy machine. */
  private static final long STARTING_LIMIT_NS = 60_000_000_000L;

  private enum State {
    HELLO_EXPECTED,
    WELCOME_EXPECTED,
    READY,
    CLOSED
  }

  private final Negotiator negotiator;
  private final FrameConnection connection;
  private final MadeOffers made;
  private final ReceivedOffers received;
  private final String dialled;

  /** Null on one host. */
  private final SessionLink link;

  /** What it is about: chosen by the side that dials. */
  private TransportProvider transport;

  private final long openedAtNs = System.nanoTime();
  private final Set<Upgradable> attached = new HashSet<>();
  private State state;
  private long peerPid;

  /**
   * The proofs of where connections end, if the peer is in another network namespace; else null.
   */
  private SegmentProbes probes;

  /** The peer's proofs. */
  private SegmentEchoes echoes;

  private Object attachment;

  /** What the connection has for the session, and asks of it. */
  private final class Frames implements FrameConnection.User {
    @Override
    public void received(int type, ByteBuffer body)
        throws MalformedFrameException, TransportException {
      handleGuarded(type, body);
    }

    @Override
    public boolean keepsBack() {
      return state == State.READY && made.anyWaiting();
    }

    @Override
    public void unread() {
      drop(Reason.BUSY, "it does not read what is sent to it");
    }
  }

  /** A session that this side dials; the link is null on one host. */
  Session(
      Negotiator negotiator,
      SocketChannel channel,
      String dialled,
      TransportProvider transport,
      SessionLink link) {
    this(negotiator, channel, null, dialled, link, State.WELCOME_EXPECTED);
    this.transport = transport;
  }

  /** A session that the peer has dialled; the link is null on one host. */
  Session(Negotiator negotiator, SocketChannel channel, Acceptor acceptor, SessionLink link) {
    this(negotiator, channel, acceptor, null, link, State.HELLO_EXPECTED);
  }

  private Session(
      Negotiator negotiator,
      SocketChannel channel,
      Acceptor acceptor,
      String dialled,
      SessionLink link,
      State state) {
    this.negotiator = negotiator;
    this.dialled = dialled;
    this.link = link;
    this.state = state;
    connection =
        new FrameConnection(negotiator.loop(), channel, link, dialled != null, new Frames());
    made = new MadeOffers(negotiator, this);
    received = new ReceivedOffers(negotiator, this, acceptor, link);
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
      Negotiator negotiator, SocketChannel channel, TransportProvider transport, SessionLink link) {
    Session session = new Session(negotiator, channel, link.name(), transport, link);
    try {
      negotiator.sessions().add(session);
    } catch (IOException e) {
      Sessions.closeQuietly(channel);
      return null;
    }
    try {
      negotiator.sessions().begin(session);
    } catch (TransportException e) {
      // Reported; the session is closed, and tells its callers so.
    }
    return session;
  }

  void register(Selector selector) throws IOException {
    connection.register(selector, this);
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

  TransportProvider transport() {
    return transport;
  }

  @Override
  public long pid() {
    return peerPid;
  }

  @Override
  public void send(ByteBuffer message) {
    ByteBuffer frame = Wire.transport(message);
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
  public long turnNumber() {
    return negotiator.loop().turnNumber();
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

  void sayHello() throws TransportException {
    ByteBuffer payload = transport.openPeer(this);
    write(Handshake.hello(transport, link == null && negotiator.sharesNamespaces(), payload));
  }

  /** Offers an upgrade, or keeps the attempt until the peer has said welcome and takes more. */
  public void offer(UpgradeAttempt attempt) {
    made.offer(attempt);
  }

  /** Takes an offer back; the peer answers it all the same. */
  void withdraw(int id) {
    if (state == State.READY && made.unanswered(id)) {
      write(Wire.withdraw(id));
    }
  }

  /** Whether an offer is sent now, and need not wait. */
  boolean sendsOffers() {
    return state == State.READY && !connection.congested();
  }

  private void welcomed(Welcome welcome) throws MalformedFrameException {
    peerPid = Handshake.known(welcome.pid());
    if (welcome.across()) {
      if (link != null || !negotiator.sharesNamespaces()) {
        throw new MalformedFrameException("another network namespace");
      }
      probes = new SegmentProbes(negotiator, this);
    }
    state = State.READY;
    transport.peerAccepted(this);
    negotiator.counters().sessionOpened();
    made.offerWaiting();
  }

  /** Whether the peer is in another network namespace, as this dialling side knows. */
  boolean across() {
    return probes != null;
  }

  /** Why the peer cannot have the other end of a connection, as far as addresses tell; or null. */
  Reason elsewhere(ConnectionKey key) {
    if (across()) {
      return key.local()
          ? Reason.OTHER_NAMESPACE
          : key.mayBeNeighbours() ? null : Reason.NOT_DIRECT;
    }
    return link == null && !key.local() ? Reason.NOT_LOCAL : null;
  }

  /** How many attempts wait until it is proved where their connections end. */
  int proving() {
    return probes == null ? 0 : probes.waiting();
  }

  /** Has an attempt offered once it is proved where its connection ends. */
  void prove(UpgradeAttempt attempt) {
    probes.prove(attempt);
  }

  void offerProved(UpgradeAttempt attempt, SegmentProof proof) {
    made.make(attempt, proof);
  }

  /** Nothing is proved any more: the attempts that waited for it. */
  List<UpgradeAttempt> endProving() {
    return probes == null ? List.of() : probes.close();
  }

  // ---- the dialled side

  /** The peer's proofs, if it is in another network namespace. */
  SegmentEchoes echoes() {
    return echoes;
  }

  private void greeted(Hello hello) throws MalformedFrameException {
    try {
      transport =
          Handshake.transport(hello, link, negotiator.sharesNamespaces(), negotiator.transports());
      peerPid = Handshake.known(hello.pid());
      transport.acceptPeer(this, hello.payload());
    } catch (TransportException e) {
      negotiator.counters().refused(e.reason());
      write(Wire.reject(e.reason()));
      close(e.reason());
      return;
    }
    state = State.READY;
    boolean across = link == null && Handshake.across(hello);
    if (across) {
      echoes = new SegmentEchoes(negotiator);
    }
    negotiator.counters().sessionOpened();
    write(Wire.welcome(new Welcome(Host.pid(), across)));
  }

  // ---- both sides

  boolean closed() {
    return state == State.CLOSED;
  }

  /** A channel has got its stream by this session. */
  void attached(Upgradable channel) {
    attached.add(channel);
  }

  void forget(Upgradable channel) {
    attached.remove(channel);
  }

  /** Whether the listener and all connections are gone: no other can come, but for latecomers. */
  boolean useless(long nowNs, long graceNs) {
    return state == State.READY && attached.isEmpty() && received.over(nowNs, graceNs);
  }

  /** Ends a session that takes too long over its handshake. */
  void checkHandshake(long nowNs) {
    boolean mayStart = initiator() && transport.placesStreams();
    long limitNs = mayStart ? STARTING_LIMIT_NS : HANDSHAKE_LIMIT_NS;
    if (handshake() && nowNs - openedAtNs > limitNs) {
      close(Reason.TIMED_OUT);
    }
  }

  boolean handshake() {
    return state == State.HELLO_EXPECTED || state == State.WELCOME_EXPECTED;
  }

  @Override
  public void failed() {
    close(Reason.INTERNAL);
  }

  @Override
  public void ready() {
    try {
      if (connection.writable()) {
        connection.flush();
        made.offerWaiting();
      }
      if (connection.readable() && !connection.read()) {
        close(lost());
      }
    } catch (MalformedFrameException e) {
      broken(Reason.PROTOCOL, e.getMessage());
    } catch (TransportException e) {
      broken(e.reason(), e.detail());
    } catch (IOException e) {
      close(lost());
    } catch (RuntimeException | Error e) {
      // Half a batch of frames is handled: it is unknown where to continue.
      broken(Reason.INTERNAL, e.toString());
    }
  }

  private void broken(Reason reason, String why) {
    negotiator.reports().report(reason, "session with process " + peerPid + ": " + why);
    close(reason);
  }

  /** A listener that has taken its announcement back before it answered is as good as plain. */
  private Reason lost() {
    boolean takenBack =
        state == State.WELCOME_EXPECTED
            && link == null
            && !negotiator.dialler().stillAnnounced(this);
    return takenBack ? Reason.PEER_NOT_ACCELERATED : Reason.PEER_LOST;
  }

  /** Handles a frame; if shared memory turns out to be gone, that ends its streams only. */
  private void handleGuarded(int type, ByteBuffer body)
      throws MalformedFrameException, TransportException {
    try {
      handle(type, body);
      Faults.take();
    } catch (InternalError e) {
      if (!negotiator.examine()) {
        throw e;
      }
    }
  }

  private void handle(int type, ByteBuffer body)
      throws MalformedFrameException, TransportException {
    if (type == Wire.REJECT && initiator()) {
      close(Wire.reason(body));
    } else if (state == State.HELLO_EXPECTED && type == Wire.HELLO) {
      greeted(Wire.hello(body));
    } else if (state == State.WELCOME_EXPECTED && type == Wire.WELCOME) {
      welcomed(Wire.welcome(body));
    } else if (state == State.READY && type == Wire.TRANSPORT) {
      transport.received(this, body);
    } else if (state == State.READY && initiator() && type == Wire.ANSWER) {
      int id = Wire.id(body);
      made.answered(id, Wire.atEnd(body, Wire.payload(body)));
    } else if (state == State.READY && initiator() && type == Wire.REFUSE) {
      made.refused(Wire.id(body), Wire.reason(body));
    } else if (state == State.READY && !initiator() && type == Wire.OFFER) {
      int id = Wire.id(body);
      ConnectionKey about = ConnectionKey.decode(body);
      SegmentProof proof = Wire.proof(body);
      if ((proof != null) != (echoes != null)) {
        throw new MalformedFrameException("an offer with or without a proof");
      }
      received.offered(id, about, proof, Wire.atEnd(body, Wire.payload(body)));
    } else if (state == State.READY && !initiator() && type == Wire.WITHDRAW) {
      received.withdrawn(Wire.atEnd(body, Wire.id(body)));
    } else if (state == State.READY && probes != null && type == Wire.PROBE_AT) {
      probes.listens(Wire.id(body), Wire.atEnd(body, Wire.unsignedShort(body)));
    } else if (state == State.READY && echoes != null && type == Wire.PROBE) {
      int id = Wire.id(body);
      ConnectionKey between = ConnectionKey.decode(body);
      write(Wire.probeAt(id, received.listen(echoes, id, between, Wire.nonce(body))));
    } else {
      throw new MalformedFrameException("type " + type + " in state " + state);
    }
  }

  /** Sends a frame, unless it is closed. */
  void write(ByteBuffer frame) {
    connection.send(frame);
  }

  @Override
  public void drop(String why) {
    drop(Reason.PROTOCOL, why);
  }

  /** Closes the session soon, not now: the caller is in the middle of something. */
  private void drop(Reason reason, String why) {
    execute(
        () -> {
          if (state != State.CLOSED) {
            broken(reason, why);
          }
        });
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
    connection.close();
    negotiator.sessions().ended(this, dialled);
    received.forgetAll();
    if (echoes != null) {
      echoes.close();
    }
    negotiator.sessions().orphaned(attached); // before what may fail
    attached.clear();
    if (attachment != null) {
      negotiator.loop().runGuarded("the end of a peer", () -> transport.peerGone(this), () -> {});
    }
    made.fail(reason);
  }
}
