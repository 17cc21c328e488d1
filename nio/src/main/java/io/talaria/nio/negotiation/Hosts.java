// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.hosts.HostSettings;
import io.talaria.nio.process.Descriptors;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
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
final class Hosts {
  /** So many may be connected that have not proved yet who they are; a new one ousts the oldest. */
  static final int MOST_STRANGERS = 64;

  /** How long a call or an answer may take until both have proved themselves. */
  static final long STRANGER_LIMIT_NS = 5_000_000_000L;

  /** How long nobody is called who could not be reached, or was not who he should be. */
  private static final long REMEMBER_NS = 60_000_000_000L;

  private static final int MOST_REMEMBERED = 1024;
  private static final int ACCEPTS_AT_ONCE = 64;

  private final Negotiator negotiator;
  private final SelectorProvider jdk;
  private final HostSettings settings;
  private final byte[] key;
  private final List<Fabric> fabrics;
  private final Map<Announcement, Rendezvous> doors = new HashMap<>();
  private final Map<Where, Caller> calls = new HashMap<>();
  private final Set<Caller> strangers = new LinkedHashSet<>();
  private final Map<Where, Remembered> remembered = new HashMap<>();

  private record Remembered(Reason reason, long untilNs) {}

  /**
   * @param fabrics those that reach other hosts
   */
  Hosts(Negotiator negotiator, SelectorProvider jdk, HostSettings settings, List<Fabric> fabrics) {
    this.negotiator = negotiator;
    this.jdk = jdk;
    this.settings = settings;
    this.fabrics = fabrics;
    key = settings.problem() == null ? settings.key() : new byte[0];
  }

  byte[] key() {
    return key;
  }

  /** Says what keeps all of this from working, and looks names up. First of all. */
  void begin() {
    if (settings.problem() == null) {
      settings.rules().resolve(line -> negotiator.report(Reason.NO_RULE, line));
    } else {
      negotiator.report(
          Reason.HOSTS_OFF, "connections between hosts stay plain: " + settings.problem());
    }
  }

  // ---- this process's listeners

  /** Any thread. */
  void listen(Announcement announcement, InetSocketAddress listener) {
    if (settings.problem() == null) {
      negotiator.repeat(
          () -> {
            boolean known = settings.rules().resolved();
            if (known && settings.rules().listens(listener)) {
              open(announcement, listener);
            }
            return known;
          },
          () -> negotiator.report(Reason.INTERNAL, "no rendezvous for " + listener));
    }
  }

  private void open(Announcement announcement, InetSocketAddress listener) {
    if (announcement.retired()) {
      return;
    }
    int port = settings.rendezvousPort(listener.getPort());
    InetSocketAddress at = new InetSocketAddress(listener.getAddress(), port);
    Rendezvous door = new Rendezvous(announcement, settings.rules());
    try {
      door.open(jdk, at, negotiator.selector());
    } catch (IOException | RuntimeException e) {
      negotiator.report(
          Reason.NO_RENDEZVOUS, "no rendezvous at " + at + " for " + listener + ": " + e);
      if (Descriptors.ranOut(e)) {
        negotiator.later(() -> open(announcement, listener));
      }
      return;
    }
    doors.put(announcement, door);
    negotiator.repeat(() -> !starting() && opened(announcement, door), door::close);
  }

  private boolean opened(Announcement announcement, Rendezvous door) {
    if (usable() == null) {
      doors.remove(announcement, door);
      door.close();
    } else {
      door.listen();
    }
    return true;
  }

  /** Whether it is not known yet what reaches other hosts. */
  private boolean starting() {
    return fabrics.stream().anyMatch(Fabric::starting);
  }

  void retire(Announcement announcement) {
    Rendezvous door = doors.remove(announcement);
    if (door != null) {
      door.close();
      for (Caller stranger : List.copyOf(strangers)) {
        if (stranger.door() == door) {
          stranger.fail(Reason.CLOSED_EARLY, "the listener is closed");
        }
      }
    }
  }

  /** Somebody calls. */
  void knock(Rendezvous door) {
    try {
      for (int i = 0; i < ACCEPTS_AT_ONCE; i++) { // the selector brings us back for the rest
        SocketChannel channel = door.accept();
        if (channel == null) {
          break;
        }
        take(door, channel);
      }
    } catch (IOException e) {
      negotiator.report(Reason.LIMIT, "cannot accept a rendezvous: " + e);
      door.pause();
      negotiator.later(door::listen);
    }
  }

  private void take(Rendezvous door, SocketChannel channel) {
    if (strangers.size() >= MOST_STRANGERS) {
      strangers.iterator().next().fail(Reason.BUSY, "too many others call");
    }
    Caller stranger = new Caller(this, channel, null, door);
    strangers.add(stranger);
    try {
      stranger.answer(negotiator.selector());
    } catch (IOException e) {
      stranger.fail(Reason.PEER_LOST, e.getMessage());
    }
  }

  // ---- this process's connections

  /** A client connection to another host stands. Any thread. */
  void connected(Upgradable channel) {
    InetSocketAddress service = channel.key().server();
    if (settings.problem() != null) {
      channel.plain(Reason.HOSTS_OFF);
    } else if (settings.rules().resolved() && !settings.rules().connects(service)) {
      channel.plain(Reason.NO_RULE);
    } else {
      channel.plainSoFar(Reason.PENDING);
      negotiator.repeat(() -> seek(channel), () -> channel.plain(Reason.INTERNAL));
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
    Where where =
        new Where(
            channel.key().client().getAddress(), new InetSocketAddress(service.getAddress(), port));
    HostAttempt attempt = new HostAttempt(this, negotiator, channel, where);
    negotiator.begun(attempt);
    attempt.begin();
    return true;
  }

  /** Finds or makes the session for an attempt, or tells it why there is none. */
  void call(Where where, HostAttempt attempt) {
    Fabric fabric = usable();
    if (fabric == null) {
      attempt.failed(fabrics.isEmpty() ? Reason.NO_UCX : fabrics.get(0).unavailable());
      return;
    }
    Session standing = negotiator.standing(where.name());
    if (standing != null) {
      standing.offer(attempt);
      return;
    }
    Remembered last = remembered.get(where);
    if (last != null && last.untilNs() - System.nanoTime() > 0) {
      attempt.failed(last.reason());
      return;
    }
    Caller under = calls.get(where);
    if (under != null) {
      under.waiting().add(attempt);
      return;
    }
    dial(where, attempt);
  }

  private void dial(Where where, HostAttempt attempt) {
    SocketChannel channel;
    try {
      channel = jdk.openSocketChannel();
    } catch (IOException e) {
      negotiator.report(Reason.LIMIT, "no socket to call " + where + ": " + e);
      attempt.unable(Reason.LIMIT);
      return;
    }
    Caller caller = new Caller(this, channel, where, null);
    caller.waiting().add(attempt);
    calls.put(where, caller);
    try {
      caller.call(negotiator.selector());
    } catch (IOException | RuntimeException e) {
      caller.fail(Reason.NO_RENDEZVOUS, e.getMessage());
    }
  }

  // ---- both

  /** Both sides have proved themselves. */
  void authenticated(Caller caller, SocketChannel channel, HostLink link) {
    settled(caller);
    if (caller.where() == null) {
      negotiator.answeredFrom(channel, caller.door(), link);
      return;
    }
    Session session = negotiator.answeredBy(channel, usable(), link);
    for (HostAttempt attempt : List.copyOf(caller.waiting())) {
      if (session == null) {
        attempt.unable(Reason.LIMIT);
      } else {
        session.offer(attempt);
      }
    }
  }

  /** It is not to be: nobody is there, or not who it should be. */
  void failed(Caller caller, Reason reason, String why) {
    settled(caller);
    if (caller.where() == null) {
      negotiator.counters().refused(reason);
      if (reason == Reason.NOT_AUTHENTICATED || reason == Reason.VERSION_MISMATCH) {
        negotiator.report(reason, "a caller is turned away"); // nothing that a stranger has said
      }
      return;
    }
    if (reason != Reason.NO_RENDEZVOUS) {
      negotiator.report(reason, "rendezvous at " + caller.where() + ": " + why);
    }
    boolean early =
        reason == Reason.NO_RENDEZVOUS && System.nanoTime() - caller.beganNs() < STRANGER_LIMIT_NS;
    for (HostAttempt attempt : List.copyOf(caller.waiting())) {
      attempt.unanswered(reason, early);
    }
  }

  private void settled(Caller caller) {
    strangers.remove(caller);
    if (caller.where() != null) {
      calls.remove(caller.where(), caller);
    }
  }

  /** Nobody is called there for a while, unless the reason may pass sooner. */
  void remember(Where where, Reason reason) {
    if (reason == Reason.LIMIT) {
      return;
    }
    long now = System.nanoTime();
    if (remembered.size() >= MOST_REMEMBERED) {
      remembered.values().removeIf(each -> each.untilNs() - now <= 0);
      Iterator<Where> any = remembered.keySet().iterator();
      if (remembered.size() >= MOST_REMEMBERED && any.hasNext()) {
        any.next();
        any.remove();
      }
    }
    remembered.put(where, new Remembered(reason, now + REMEMBER_NS));
  }

  /** Ends what takes too long. */
  void check(long nowNs) {
    List<Caller> all = new ArrayList<>(strangers);
    all.addAll(calls.values());
    for (Caller caller : all) {
      if (nowNs - caller.beganNs() >= STRANGER_LIMIT_NS) {
        caller.fail(
            caller.where() == null ? Reason.TIMED_OUT : Reason.NO_RENDEZVOUS, "no answer in time");
      }
    }
  }

  /** Whether time has a say in what comes next. */
  boolean watched() {
    return !strangers.isEmpty() || !calls.isEmpty();
  }

  /** The preferred fabric that works, or null. */
  private Fabric usable() {
    for (Fabric fabric : fabrics) {
      Reason reason = fabric.unavailable();
      if (reason == null) {
        return fabric;
      }
      negotiator.report(reason, "nothing reaches other hosts. " + fabric.problem());
    }
    return null;
  }

  /** A usable fabric by its name, or null. */
  Fabric usable(String name) {
    Fabric fabric = usable();
    return fabric != null && fabric.name().equals(name) ? fabric : null;
  }
}
