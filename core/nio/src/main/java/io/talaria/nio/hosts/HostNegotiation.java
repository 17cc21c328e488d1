// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Announcement;
import io.talaria.nio.negotiation.ConnectionKey;
import io.talaria.nio.negotiation.NegotiationLoop;
import io.talaria.nio.negotiation.Negotiator;
import io.talaria.nio.negotiation.RemoteHosts;
import io.talaria.nio.negotiation.Session;
import io.talaria.nio.negotiation.Upgradable;
import io.talaria.nio.process.Descriptors;
import io.talaria.nio.transport.KeepAlive;
import io.talaria.nio.transport.TransportProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The negotiation between hosts: rendezvous ports of this process's listeners, calls to those of
 * others, and what became of them. Negotiation thread, except where marked.
 */
public final class HostNegotiation implements RemoteHosts {
  /** So many may be connected that have not proved yet who they are; a new one ousts the oldest. */
  public static final int MAX_UNAUTHENTICATED = 64;

  /** How long a call or an answer may take until both have proved themselves. */
  public static final long HANDSHAKE_LIMIT_NS = 5_000_000_000L;

  /** How long an address is not called that could not be reached, or was not the expected peer. */
  private static final long REMEMBER_NS = 60_000_000_000L;

  private static final int MAX_REMEMBERED = 1024;
  private static final int ACCEPTS_AT_ONCE = 64;

  private static final int KEEP_ALIVE_S = 30;
  private static final int KEEP_ALIVE_TRIES = 6;

  private final HostSettings settings;
  private final byte[] key;
  private final List<TransportProvider> transports;
  private final Map<Announcement, Rendezvous> listening = new HashMap<>();
  private final Map<RendezvousAddress, HandshakeConnection> calls = new HashMap<>();

  /** The callers that have not proved who they are yet, the oldest first. */
  private final Set<HandshakeConnection> unauthenticated = new LinkedHashSet<>();

  private final Map<RendezvousAddress, Remembered> remembered = new HashMap<>();

  /** The turn in which a rendezvous was closed last; its port is free after the next select. */
  private long closedIn = -1;

  /** Set once, before anything else. */
  private Negotiator negotiator;

  private record Remembered(Reason reason, long untilNs) {}

  /**
   * @param settings which hosts are asked, and how
   * @param transports those that reach other hosts, in order of preference
   */
  public HostNegotiation(HostSettings settings, List<TransportProvider> transports) {
    this.settings = settings;
    this.transports = List.copyOf(transports);
    key = settings.problem() == null ? settings.key() : new byte[0];
  }

  @Override
  public void join(Negotiator with) {
    negotiator = with;
  }

  NegotiationLoop loop() {
    return negotiator.loop();
  }

  private void report(Reason reason, String text) {
    negotiator.reports().report(reason, text);
  }

  byte[] key() {
    return key;
  }

  /** Says what keeps all of this from working, and looks names up. */
  @Override
  public void begin() {
    if (settings.problem() == null) {
      settings.rules().resolve(line -> report(Reason.NO_RULE, line));
    } else {
      report(Reason.HOSTS_OFF, "connections between hosts stay on TCP: " + settings.problem());
    }
  }

  // ---- this process's listeners

  @Override
  public void listen(Announcement announcement, InetSocketAddress listener) {
    if (settings.problem() == null) {
      loop()
          .repeat(
              () -> {
                boolean ready = settings.rules().resolved() && loop().turnNumber() != closedIn;
                if (ready && settings.rules().listens(listener)) {
                  open(announcement, listener);
                }
                return ready;
              },
              () -> report(Reason.INTERNAL, "no rendezvous for " + listener));
    }
  }

  private void open(Announcement announcement, InetSocketAddress listener) {
    if (announcement.retired()) {
      return;
    }
    int port = settings.rendezvousPort(listener.getPort());
    InetSocketAddress at = new InetSocketAddress(listener.getAddress(), port);
    Rendezvous rendezvous = new Rendezvous(this, announcement, settings.rules());
    try {
      rendezvous.open(at);
    } catch (IOException | RuntimeException e) {
      report(Reason.NO_RENDEZVOUS, "no rendezvous at " + at + " for " + listener + ": " + e);
      if (Descriptors.ranOut(e)) {
        loop().later(() -> open(announcement, listener));
      }
      return;
    }
    listening.put(announcement, rendezvous);
    loop().repeat(() -> !starting() && opened(announcement, rendezvous), rendezvous::close);
  }

  private boolean opened(Announcement announcement, Rendezvous rendezvous) {
    if (usable() == null) {
      listening.remove(announcement, rendezvous);
      rendezvous.close();
    } else {
      rendezvous.listen();
    }
    return true;
  }

  /** Whether it is not known yet what reaches other hosts. */
  private boolean starting() {
    return transports.stream().anyMatch(TransportProvider::starting);
  }

  @Override
  public void retire(Announcement announcement) {
    Rendezvous rendezvous = listening.remove(announcement);
    if (rendezvous != null) {
      rendezvous.close();
      closedIn = loop().turnNumber();
      for (HandshakeConnection caller : List.copyOf(unauthenticated)) {
        if (caller.rendezvous() == rendezvous) {
          caller.fail(Reason.CLOSED_EARLY, "the listener is closed");
        }
      }
    }
  }

  /** Takes the connections of the peers that have called. */
  void accept(Rendezvous rendezvous) {
    try {
      for (int i = 0; i < ACCEPTS_AT_ONCE; i++) { // the selector brings us back for the rest
        SocketChannel channel = rendezvous.accept();
        if (channel == null) {
          break;
        }
        take(rendezvous, channel);
      }
    } catch (IOException e) {
      report(Reason.LIMIT, "cannot accept a rendezvous: " + e);
      rendezvous.pause(loop());
    }
  }

  private void take(Rendezvous rendezvous, SocketChannel channel) {
    if (unauthenticated.size() >= MAX_UNAUTHENTICATED) {
      unauthenticated.iterator().next().fail(Reason.BUSY, "too many others call");
    }
    HandshakeConnection caller = new HandshakeConnection(this, channel, null, rendezvous);
    unauthenticated.add(caller);
    try {
      caller.answer(loop().selector());
    } catch (IOException e) {
      caller.fail(Reason.PEER_LOST, e.getMessage());
    }
  }

  // ---- this process's connections

  @Override
  public boolean mayReach(ConnectionKey key) {
    return settings.problem() == null
        && (!settings.rules().resolved() || settings.rules().connects(key.server()));
  }

  @Override
  public void connected(Upgradable channel) {
    InetSocketAddress service = channel.key().server();
    if (settings.problem() != null) {
      channel.plain(Reason.HOSTS_OFF);
    } else if (settings.rules().resolved() && !settings.rules().connects(service)) {
      channel.plain(Reason.NO_RULE);
    } else {
      channel.plainSoFar(Reason.PENDING);
      loop().repeat(() -> seek(channel), () -> channel.plain(Reason.INTERNAL));
    }
  }

  private boolean seek(Upgradable channel) {
    if (!channel.wanted()) {
      return true;
    }
    if (!settings.rules().resolved()) {
      return false;
    }
    InetSocketAddress service = channel.key().server();
    if (!settings.rules().connects(service)) {
      channel.plain(Reason.NO_RULE);
      return true;
    }
    if (starting() || !channel.placed()) {
      return false;
    }
    int port = settings.rendezvousPort(service.getPort());
    RendezvousAddress address =
        new RendezvousAddress(
            channel.key().client().getAddress(), new InetSocketAddress(service.getAddress(), port));
    RendezvousAttempt attempt = new RendezvousAttempt(this, negotiator, channel, address);
    negotiator.begin(attempt);
    return true;
  }

  /** Finds or makes the session for an attempt, or tells it why there is none. */
  void call(RendezvousAddress address, RendezvousAttempt attempt) {
    TransportProvider transport = usable();
    if (transport == null) {
      transports.stream()
          .filter(each -> each.unavailable() == Reason.NO_UCX)
          .forEach(each -> negotiator.counters().ucxUnavailable(each.problem()));
      attempt.failed(transports.isEmpty() ? Reason.NO_UCX : transports.get(0).unavailable());
      return;
    }
    Session standing = negotiator.standing(address.name());
    if (standing != null) {
      standing.offer(attempt);
      return;
    }
    Remembered last = remembered.get(address);
    if (last != null && last.untilNs() - System.nanoTime() > 0) {
      attempt.failed(last.reason());
      return;
    }
    HandshakeConnection under = calls.get(address);
    if (under != null) {
      under.waiting().add(attempt);
      return;
    }
    dial(address, attempt);
  }

  private void dial(RendezvousAddress address, RendezvousAttempt attempt) {
    SocketChannel channel;
    try {
      channel = loop().jdk().openSocketChannel();
    } catch (IOException e) {
      report(Reason.LIMIT, "no socket to call " + address + ": " + e);
      attempt.unable(Reason.LIMIT);
      return;
    }
    HandshakeConnection caller = new HandshakeConnection(this, channel, address, null);
    caller.waiting().add(attempt);
    calls.put(address, caller);
    try {
      caller.call(loop().selector());
    } catch (IOException | RuntimeException e) {
      caller.fail(Reason.NO_RENDEZVOUS, e.getMessage());
    }
  }

  // ---- both

  /** Both sides have proved themselves. */
  void authenticated(HandshakeConnection caller, SocketChannel channel, SealedLink link) {
    settled(caller);
    if (caller.address() == null) {
      answered(channel, caller.rendezvous(), link);
      return;
    }
    Session session = called(channel, usable(), link);
    for (RendezvousAttempt attempt : List.copyOf(caller.waiting())) {
      if (session == null) {
        attempt.unable(Reason.LIMIT);
      } else {
        session.offer(attempt);
      }
    }
  }

  /** It fails: no peer is there, or not the expected one. */
  void failed(HandshakeConnection caller, Reason reason, String why) {
    settled(caller);
    if (caller.address() == null) {
      negotiator.counters().refused(reason);
      if (reason == Reason.NOT_AUTHENTICATED || reason == Reason.VERSION_MISMATCH) {
        report(reason, "a caller is turned away"); // nothing that a caller has said
      }
      return;
    }
    if (reason != Reason.NO_RENDEZVOUS) {
      report(reason, "rendezvous at " + caller.address() + ": " + why);
    }
    boolean early =
        reason == Reason.NO_RENDEZVOUS && System.nanoTime() - caller.begunNs() < HANDSHAKE_LIMIT_NS;
    for (RendezvousAttempt attempt : List.copyOf(caller.waiting())) {
      attempt.unanswered(reason, early);
    }
  }

  private void answered(SocketChannel channel, Rendezvous rendezvous, SealedLink link) {
    if (keptAlive(channel)) {
      Session.answered(negotiator, channel, rendezvous, link);
    }
  }

  /** Null if there is no session all the same. */
  private Session called(SocketChannel channel, TransportProvider transport, SealedLink link) {
    return keptAlive(channel) ? Session.called(negotiator, channel, transport, link) : null;
  }

  /** A host that is gone is to be noticed, and a firewall is not to forget an idle session. */
  private static boolean keptAlive(SocketChannel channel) {
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      KeepAlive.enable(channel, KEEP_ALIVE_S, KEEP_ALIVE_S / 3, KEEP_ALIVE_TRIES);
      return true;
    } catch (IOException e) {
      closeQuietly(channel);
      return false;
    }
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // It is closed as far as it can be.
    }
  }

  private void settled(HandshakeConnection caller) {
    unauthenticated.remove(caller);
    if (caller.address() != null) {
      calls.remove(caller.address(), caller);
    }
  }

  /** The address is not called for a while, unless the reason may pass sooner. */
  void remember(RendezvousAddress address, Reason reason) {
    if (reason == Reason.LIMIT) {
      return;
    }
    long now = System.nanoTime();
    if (remembered.size() >= MAX_REMEMBERED) {
      remembered.values().removeIf(each -> each.untilNs() - now <= 0);
      Iterator<RendezvousAddress> any = remembered.keySet().iterator();
      if (remembered.size() >= MAX_REMEMBERED && any.hasNext()) {
        any.next();
        any.remove();
      }
    }
    remembered.put(address, new Remembered(reason, now + REMEMBER_NS));
  }

  /** Ends what takes too long. */
  @Override
  public void check(long nowNs) {
    List<HandshakeConnection> all = new ArrayList<>(unauthenticated);
    all.addAll(calls.values());
    for (HandshakeConnection caller : all) {
      if (nowNs - caller.begunNs() >= HANDSHAKE_LIMIT_NS) {
        caller.fail(
            caller.address() == null ? Reason.TIMED_OUT : Reason.NO_RENDEZVOUS,
            "no answer in time");
      }
    }
  }

  @Override
  public int tickMs(long nowNs) {
    boolean watched = !unauthenticated.isEmpty() || !calls.isEmpty();
    return watched ? NegotiationLoop.SLOW_TICK_MS : NegotiationLoop.NO_TICK;
  }

  /** The preferred transport that works, or null. */
  private TransportProvider usable() {
    for (TransportProvider transport : transports) {
      Reason reason = transport.unavailable();
      if (reason == null) {
        return transport;
      }
      report(reason, "nothing reaches other hosts. " + transport.problem());
    }
    return null;
  }

  /** A usable transport by its name, or null. */
  TransportProvider usable(String name) {
    TransportProvider transport = usable();
    return transport != null && transport.name().equals(name) ? transport : null;
  }
}
