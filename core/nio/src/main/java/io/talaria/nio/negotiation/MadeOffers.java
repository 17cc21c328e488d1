// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The upgrades for which this side of a {@link Session} asks the peer, if it has dialled: attempts
 * that wait to be offered, and offers without an answer yet. Negotiation thread.
 */
final class MadeOffers {
  private final Negotiator negotiator;
  private final Session session;

  /** Attempts that have not been offered: before the welcome, or while much waits to be sent. */
  private final ArrayDeque<UpgradeAttempt> waiting = new ArrayDeque<>();

  private final Map<Integer, Offered> offered = new HashMap<>();
  private int lastId;

  /** An offer that has no answer yet. */
  private record Offered(UpgradeAttempt attempt, Upgrade upgrade, SegmentProof proof) {}

  MadeOffers(Negotiator negotiator, Session session) {
    this.negotiator = negotiator;
    this.session = session;
  }

  /** Offers an upgrade, or keeps the attempt until the peer has said welcome and takes more. */
  void offer(UpgradeAttempt attempt) {
    if (!attempt.open()) {
      return; // closed while it waited
    }
    if (session.closed()) {
      attempt.refused(Reason.PEER_LOST);
      return;
    }
    if (offered.size() + waiting.size() + session.proving() >= Session.MAX_PENDING_OFFERS) {
      attempt.refused(Reason.BUSY);
      return;
    }
    if (!session.sendsOffers()) {
      waiting.add(attempt);
      return;
    }
    Reason elsewhere = session.elsewhere(attempt.channel().key());
    if (elsewhere != null) {
      attempt.refused(elsewhere);
    } else if (session.across()) {
      session.prove(attempt);
    } else {
      make(attempt, null);
    }
  }

  /**
   * Makes an offer.
   *
   * @param proof of where the connection ends, if that is another network namespace; or null
   */
  void make(UpgradeAttempt attempt, SegmentProof proof) {
    if (!attempt.open()) {
      return; // closed while it was proved
    }
    if (session.closed()) {
      attempt.refused(Reason.PEER_LOST);
      return;
    }
    try {
      Upgrade upgrade =
          session.transport().offer(session, attempt.channel().readySet(session.transport()));
      int id = ++lastId;
      offered.put(id, new Offered(attempt, upgrade, proof));
      attempt.offered(session, id);
      negotiator.counters().offerMade();
      session.write(Wire.offer(id, attempt.channel().key(), proof, upgrade.payload()));
    } catch (TransportException e) {
      attempt.unable(e.reason());
    }
  }

  /** Whether attempts wait to be offered. */
  boolean anyWaiting() {
    return !waiting.isEmpty();
  }

  /** Offers what waited, as far as the session sends it now. */
  void offerWaiting() {
    while (session.sendsOffers() && !waiting.isEmpty()) {
      offer(waiting.poll());
    }
  }

  /** Whether an offer has no answer yet. */
  boolean unanswered(int id) {
    return offered.containsKey(id);
  }

  /** The peer grants an upgrade. */
  void answered(int id, ByteBuffer payload) throws TransportException, MalformedFrameException {
    Offered offer = taken(id);
    try {
      join(offer, payload);
    } catch (TransportException e) {
      offer.attempt().failed(e.reason()); // the session ends, and no longer knows it
      throw e;
    } catch (InternalError e) {
      throw e; // perhaps of memory that is gone
    } catch (RuntimeException | Error e) {
      // The channel may have the stream all the same: so it is withdrawn, and not released here.
      negotiator.reports().failure("taking an answer", e);
      negotiator
          .loop()
          .runGuarded("withdrawing a stream", () -> offer.upgrade().stream().withdraw());
      offer.attempt().failed(Reason.INTERNAL);
    }
  }

  /** Gives the channel its stream, if it still wants it. */
  private void join(Offered offer, ByteBuffer payload) throws TransportException {
    offer.upgrade().answered(payload);
    Upgradable to = offer.attempt().channel();
    Reason worthless = offer.upgrade().worthless();
    if (worthless == null && offer.attempt().open()) {
      worthless = changed(to, offer.proof());
    }
    if (worthless == null && offer.attempt().open() && to.attach(offer.upgrade().stream())) {
      session.attached(to);
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

  /**
   * Why the peer may have found another connection with the same addresses; null if it has not,
   * because the kernel still keeps them for this one.
   */
  private Reason changed(Upgradable channel, SegmentProof proof) {
    if (channel.over()) {
      return Reason.CLOSED_EARLY;
    }
    if (proof == null) {
      return null;
    }
    ConnectionKey key = channel.key();
    try {
      SegmentEnd end = SegmentEnd.look(key.client().getAddress(), key.server().getAddress());
      return end.equals(proof.end()) ? null : Reason.NOT_DIRECT;
    } catch (TransportException e) {
      negotiator.reports().detail(e.reason(), e.detail());
      return e.reason();
    }
  }

  /** The peer refuses an upgrade. */
  void refused(int id, Reason reason) throws MalformedFrameException {
    Offered offer = taken(id);
    offer.upgrade().cancel(reason);
    if (reason == Reason.PEER_NOT_ACCELERATED) {
      negotiator.sessions().leave(session);
    }
    offer.attempt().refused(reason);
  }

  private Offered taken(int id) throws MalformedFrameException {
    Offered offer = offered.remove(id);
    if (offer == null) {
      throw new MalformedFrameException("an answer to offer " + id + ", which was not made");
    }
    return offer;
  }

  /** The session has ended: nothing is answered any more. */
  void fail(Reason reason) {
    NegotiationLoop loop = negotiator.loop();
    List<UpgradeAttempt> failed = new ArrayList<>(waiting);
    failed.addAll(session.endProving());
    waiting.clear();
    for (Offered offer : offered.values()) {
      loop.runGuarded("taking an offer back", () -> offer.upgrade().cancel(reason), () -> {});
      failed.add(offer.attempt());
    }
    offered.clear();
    for (UpgradeAttempt attempt : failed) {
      loop.runGuarded(
          "an upgrade", () -> attempt.refused(reason), () -> attempt.failed(Reason.INTERNAL));
    }
  }
}
