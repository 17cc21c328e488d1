// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportStream;
import io.talaria.nio.transport.Upgrade;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The upgrades for which the peer asks this side of a {@link Session}, if the peer has dialled:
 * each waits at the {@link Matcher} for its channel, and gets one answer or one refusal.
 * Negotiation thread.
 */
final class ReceivedOffers {
  private final Negotiator negotiator;
  private final Session session;
  private final Acceptor acceptor;

  /** Null on one host. */
  private final SessionLink link;

  /** Those without an answer yet, by the peer's number. */
  private final Map<Integer, ConnectionKey> received = new HashMap<>();

  ReceivedOffers(Negotiator negotiator, Session session, Acceptor acceptor, SessionLink link) {
    this.negotiator = negotiator;
    this.session = session;
    this.acceptor = acceptor;
    this.link = link;
  }

  /**
   * The peer makes an offer.
   *
   * @param proof of where the connection ends, if the peer is in another network namespace; or null
   */
  void offered(int id, ConnectionKey connection, SegmentProof proof, ByteBuffer payload)
      throws MalformedFrameException {
    negotiator.counters().offerReceived();
    if (received.containsKey(id)) {
      throw new MalformedFrameException("offer " + id + " while it waits for its answer");
    }
    if (payload.remaining() > session.transport().maxOfferBytes()) {
      throw new MalformedFrameException("an offer with " + payload.remaining() + " bytes");
    }
    if (negotiator.matcher().pending() >= Session.MAX_PENDING_OFFERS) {
      refuse(id, Reason.BUSY);
    } else if (!covers(connection)) {
      refuse(id, Reason.NOT_MATCHED);
    } else if (cameElsewhere(connection)) {
      refuse(id, Reason.PEER_NOT_ACCELERATED);
    } else if (proof != null && !session.echoes().heard(connection, proof)) {
      refuse(id, Reason.NOT_DIRECT);
    } else {
      received.put(id, connection);
      negotiator.matcher().offered(new ReceivedOffer(this, id, connection, proof, payload));
    }
  }

  /** Whether the connection may be one that has come to the listener, from this very peer. */
  private boolean covers(ConnectionKey connection) {
    return acceptor.covers(connection) && (link == null || link.joins(connection));
  }

  /** Whether the listener is closed, and no other of this process can have the connection. */
  private boolean cameElsewhere(ConnectionKey connection) {
    return acceptor.closedFor(System.nanoTime(), Sessions.LATECOMERS_NS)
        && !negotiator.matcher().awaits(connection)
        && !negotiator.announcer().covers(connection);
  }

  /** The port for the datagrams of a probe; 0 if it is about no connection to the listener. */
  int listen(SegmentEchoes echoes, int id, ConnectionKey between, Nonce nonce)
      throws MalformedFrameException {
    return acceptor.covers(between) ? echoes.listen(id, between, nonce) : 0;
  }

  /** Whether a channel has to find its selector before its offer is answered. */
  boolean placesStreams() {
    return session.transport().placesStreams();
  }

  /** Joins an offer with the accepted channel it is for. */
  void accept(ReceivedOffer offer, Upgradable accepted) {
    received.remove(offer.id());
    Upgrade upgrade;
    try {
      if (offer.proof() != null) {
        session.echoes().check(offer.connection(), offer.proof(), accepted);
      }
      upgrade =
          session
              .transport()
              .answer(session, offer.payload(), accepted.readySet(session.transport()));
    } catch (InternalError e) {
      throw e; // perhaps of memory that is gone
    } catch (RuntimeException | Error e) {
      negotiator.reports().failure("answering an offer", e);
      accepted.plain(Reason.INTERNAL);
      refuse(offer.id(), Reason.INTERNAL);
      return;
    } catch (TransportException e) {
      if (e.reason() == Reason.NOT_DIRECT) {
        negotiator.reports().detail(e.reason(), e.detail());
      }
      accepted.plain(e.reason());
      refuse(offer.id(), e.reason());
      if (e.reason() == Reason.PROTOCOL) {
        session.close(Reason.PROTOCOL);
      }
      return;
    }
    TransportStream stream = upgrade.stream();
    boolean attached;
    try {
      attached = accepted.attach(stream);
    } catch (InternalError e) {
      throw e; // perhaps of memory that is gone
    } catch (RuntimeException | Error e) {
      // The channel may have it all the same: so the peer gets it, too, but it carries nothing.
      negotiator.reports().failure("attaching a stream", e);
      negotiator.loop().runGuarded("withdrawing a stream", stream::withdraw);
      negotiator.counters().refused(Reason.INTERNAL);
      accepted.plain(Reason.INTERNAL);
      session.write(Wire.answer(offer.id(), upgrade.payload()));
      return;
    }
    if (!attached) {
      upgrade.cancel(Reason.CLOSED_EARLY);
      refuse(offer.id(), Reason.CLOSED_EARLY);
      return;
    }
    session.attached(accepted);
    negotiator.counters().acceptedByUs();
    session.write(Wire.answer(offer.id(), upgrade.payload()));
  }

  /** Refuses an offer. */
  void refuse(int id, Reason reason) {
    received.remove(id);
    negotiator.counters().refused(reason);
    session.write(Wire.refuse(id, reason));
  }

  /** The peer takes an offer back, which may have been answered already. */
  void withdrawn(int id) {
    ConnectionKey connection = received.get(id);
    if (connection != null) {
      negotiator.matcher().withdrawn(connection, this);
      refuse(id, Reason.CLOSED_EARLY);
    }
  }

  /** Whether the listener is gone, and no offer waits for an answer: see {@link Acceptor}. */
  boolean over(long nowNs, long graceNs) {
    return acceptor != null && acceptor.closedFor(nowNs, graceNs) && received.isEmpty();
  }

  /** The session has ended: none is answered any more. */
  void forgetAll() {
    received.values().forEach(connection -> negotiator.matcher().withdrawn(connection, this));
    received.clear();
  }
}
