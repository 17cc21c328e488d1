// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.context.Context;
import io.talaria.nio.control.ControlOptions;
import io.talaria.nio.control.Earning;
import io.talaria.nio.counters.ConnectionCounters;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.negotiation.Upgradable;
import io.talaria.nio.privileged.Privileged;
import io.talaria.nio.transport.ReadySet;
import io.talaria.nio.transport.TransportProvider;
import io.talaria.nio.transport.TransportStream;

/**
 * How a connection comes to its stream, and how it is given up again: the connection as the
 * negotiation sees it. Here is told, too, for those who watch, which transport the connection takes
 * and why. Any thread.
 *
 * <p>A stream is attached under the connection path's out lock and the channel's state lock, in
 * this order: so a thread that holds the out lock and sees none may use TCP, and one that holds the
 * state lock and sees none may end the connection on TCP. Withdrawal takes no lock: the stream
 * decides which side comes first.
 */
final class PathUpgrade implements Upgradable {
  private static final int ACCEPT_TRIES = 10;

  /** How long a channel waits for a selector before its stream is made without one. */
  private static final long PLACE_BLOCKING_NS = 2_000_000L;

  private static final long PLACE_NON_BLOCKING_NS = 100_000_000L;

  private final Context context;
  private final ConnectionPath connectionPath;
  private final TalariaSocketChannel channel;
  private final Role role;
  private final ConnectionKey key;
  private final ConnectionCounters counters;
  private final LostPeer lostPeer;
  private final long madeAtNs = System.nanoTime();

  /** The stream was withdrawn, so this connection is plain TCP for good. Never false again. */
  private volatile boolean plainAgain;

  /** It was withdrawn on this side, because the connection began to end. */
  private volatile boolean withdrawnHere;

  private volatile boolean shownFast;

  /** Counts what TCP carries until the search begins; null if it begins at once, or never. */
  private final Earning earning;

  /**
   * Whether the negotiation may know this client connection though it has no stream. Set before the
   * search begins, and taken back when it has ended.
   */
  private volatile boolean searching;

  PathUpgrade(
      Context context,
      ConnectionPath connectionPath,
      TalariaSocketChannel channel,
      Role role,
      ConnectionKey key,
      ConnectionCounters counters) {
    this.context = context;
    this.connectionPath = connectionPath;
    this.channel = channel;
    this.role = role;
    this.key = key;
    this.counters = counters;
    lostPeer = new LostPeer(connectionPath, channel, this);
    earning = earnsIt() ? new Earning(context.upgradeAfter(), this::beginEarned) : null;
  }

  /** Whether it is a client connection that may have an upgrade once TCP has carried enough. */
  private boolean earnsIt() {
    return role == Role.CLIENT
        && context.upgradeAfter() > 0
        && context.wants(key.server().getPort())
        && (nearby() || context.negotiator().mayReachHost(key));
  }

  /** Whether the peer may be on this host. */
  private boolean nearby() {
    return key.local() || (context.negotiator().sharesNamespaces() && key.mayBeNeighbours());
  }

  // ---- looking for it

  /** Counts what TCP carries until the search begins, or null. */
  Earning earning() {
    return earning;
  }

  /**
   * Begins the search, or says what it waits for. Once, when connected, before the program reads
   * and writes.
   */
  void seek() {
    if (!context.wants(key.server().getPort())) {
      plain(Reason.PORT_LEFT_OUT);
    } else if (role == Role.ACCEPTED) {
      context.negotiator().accepted(this);
    } else if (earning == null) {
      begin();
    } else {
      counters.transport(NioTransport.TCP, Reason.NOT_EARNED, earning.toString());
    }
  }

  /**
   * Begins the search while a read or a write is under way, whose bytes have been moved: nothing
   * that goes wrong here may be taken for its failure.
   */
  private void beginEarned() {
    if (!channel.upgradable()) { // half of it is closed: nobody need be asked
      plainSoFar(Reason.CLOSED_EARLY);
      return;
    }
    try {
      plainSoFar(Reason.PENDING);
      Privileged.run(this::begin);
    } catch (RuntimeException | Error e) {
      context.negotiator().reports().failure("the begin of an upgrade", e);
      plainSoFar(Reason.INTERNAL);
    }
  }

  private void begin() {
    searching = true;
    if (nearby()) {
      context.negotiator().connected(this);
    } else if (context.negotiator().reachesHosts()) {
      context.negotiator().connectedToHost(this);
    } else {
      plain(Reason.NOT_LOCAL);
    }
  }

  /** The channel is closed: the search ends. */
  void closed() {
    boolean upgraded = connectionPath.stream() != null;
    boolean accepted = role == Role.ACCEPTED;
    if (accepted || upgraded || searching) { // else nobody there knows it
      context.negotiator().closed(this, accepted, upgraded);
    }
  }

  @Override
  public ConnectionKey key() {
    return key;
  }

  @Override
  public boolean wanted() {
    return !channel.closing();
  }

  @Override
  public boolean over() {
    return channel.closing() || connectionPath.link().tcpOver();
  }

  @Override
  public int ttl() {
    return channel.ttl();
  }

  @Override
  public int receivedTtl() {
    return connectionPath.link().receivedTtl();
  }

  @Override
  public long stoodAtNs() {
    return madeAtNs;
  }

  @Override
  public boolean placed() {
    long limitNs = channel.isBlocking() ? PLACE_BLOCKING_NS : PLACE_NON_BLOCKING_NS;
    return channel.keys().all().length > 0
        || channel.closing()
        || System.nanoTime() - madeAtNs > limitNs;
  }

  @Override
  public ReadySet readySet(TransportProvider transport) {
    TalariaSelectionKey[] registered = channel.keys().all();
    return registered.length == 1 ? registered[0].owner().readySet(transport) : null;
  }

  // ---- taking it

  @Override
  public boolean attach(TransportStream fast) {
    synchronized (connectionPath.output().lock()) {
      synchronized (channel.stateLock()) {
        if (!channel.upgradable() || connectionPath.stream() != null) {
          plainSoFar(Reason.CLOSED_EARLY);
          return false;
        }
        plainSoFar(Reason.PENDING); // before anyone can switch
        fast.owner(connectionPath, channel);
        ControlOptions options = channel.options();
        fast.buffers(options.sendBuffer(), options.receiveBuffer());
        connectionPath.attach(fast);
      }
    }
    channel.options().shadow();
    if (!connectionPath.input().tryAccept()) {
      // A short read is over in a moment; a reader that sleeps inside does it when it wakes.
      int[] tries = {ACCEPT_TRIES};
      context.negotiator().repeat(() -> --tries[0] == 0 || connectionPath.input().tryAccept());
    }
    return true;
  }

  // ---- giving it up

  /** Whether the stream was withdrawn, so that this connection is plain TCP for good. */
  boolean plainAgain() {
    return plainAgain;
  }

  /** Takes note that one side has withdrawn the stream, so that this connection stays on TCP. */
  void noteWithdrawal() {
    if (!plainAgain && connectionPath.stream().withdrawn()) {
      plainAgain = true;
      plain(withdrawnHere ? Reason.CLOSED_EARLY : Reason.REFUSED);
      connectionPath.nudgeSelectors();
    }
  }

  /** Keeps this connection plain because it is about to end, unless it is too late for that. */
  boolean withdraw(TransportStream fast) {
    boolean withdrawn = fast.withdraw();
    if (withdrawn && !plainAgain) {
      withdrawnHere = true;
      plainSoFar(Reason.CLOSED_EARLY);
    }
    return withdrawn;
  }

  /** Keeps this connection plain because the peer is lost, unless it is too late for that. */
  boolean withdrawFromLostPeer() {
    boolean withdrawn = connectionPath.stream().withdraw();
    if (withdrawn) {
      plainAgain = true; // TCP continues, and finds its own end
      plain(Reason.PEER_LOST);
      connectionPath.nudgeSelectors();
    }
    return withdrawn;
  }

  @Override
  public boolean peerLost(boolean giveUp) {
    return lostPeer.look(giveUp);
  }

  /** Whether the peer's process is lost, while TCP may still bring bytes of its. */
  boolean peerAbandoned() {
    return lostPeer.abandoned();
  }

  // ---- telling of it

  @Override
  public void plainSoFar(Reason reason) {
    counters.transport(NioTransport.TCP, reason, "");
  }

  @Override
  public void plain(Reason reason) {
    searching = false; // it has ended, and without a stream nothing is kept of it
    plainSoFar(reason);
    context.connectionIs(reason, key);
  }

  /** The output has switched. Under the out lock. */
  void showFast() {
    assert Thread.holdsLock(connectionPath.output().lock());
    if (!shownFast) {
      shownFast = true;
      TransportStream fast = connectionPath.stream();
      showBuffers(fast.inBytes(), fast.outBytes());
      context.connectionIs(fast(), key);
    }
  }

  /** Takes note of buffer sizes. */
  void showBuffers(int inBytes, int outBytes) {
    TransportStream fast = connectionPath.stream();
    counters.transport(fast.transport().kind(), fast(), fast.detail(), inBytes, outBytes);
  }

  private Reason fast() {
    boolean near = key.local() || connectionPath.stream().transport().joinsNamespaces();
    return near ? Reason.SAME_HOST : Reason.BETWEEN_HOSTS;
  }

  @Override
  public String toString() {
    return shownFast ? connectionPath.stream().detail() : "tcp";
  }
}
