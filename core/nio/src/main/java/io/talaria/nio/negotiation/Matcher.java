// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Joins the offers of peers with the channels that the program accepts, whichever comes first. What
 * joins them is the addresses of the TCP connection, which the kernel gives to one connection at a
 * time: a channel whose connection is over is joined with nothing. Negotiation thread, except where
 * marked.
 */
final class Matcher {
  private final NegotiationLoop loop;

  /** Accepted channels that no peer has made an offer for yet. */
  private final Map<ConnectionKey, Upgradable> accepted = new ConcurrentHashMap<>();

  /** Offers for connections that the program has not accepted yet. */
  private final Map<ConnectionKey, ReceivedOffer> offers = new ConcurrentHashMap<>();

  Matcher(NegotiationLoop loop) {
    this.loop = loop;
  }

  /** The program has accepted a connection. Any thread. */
  void accepted(Upgradable channel) {
    ConnectionKey key = channel.key();
    accepted.put(key, channel);
    if (offers.containsKey(key)) {
      loop.execute(() -> match(key));
    }
  }

  /** This process can accelerate nothing: that no offer comes is not the client's doing. */
  void unusable(Reason reason) {
    accepted.values().forEach(channel -> channel.plainSoFar(reason));
  }

  /** An accepted channel is closed. Any thread. */
  void closed(Upgradable channel) {
    accepted.remove(channel.key(), channel);
  }

  /** Whether an accepted channel waits for an offer. */
  boolean awaits(ConnectionKey key) {
    return accepted.containsKey(key);
  }

  /** A peer has made an offer. */
  void offered(ReceivedOffer offer) {
    ReceivedOffer replaced = offers.put(offer.connection(), offer);
    if (replaced != null) {
      replaced.from().refuse(replaced.id(), Reason.REFUSED);
    }
    match(offer.connection());
  }

  /** A session takes an offer back that it has received. */
  void withdrawn(ConnectionKey key, ReceivedOffers from) {
    ReceivedOffer offer = offers.get(key);
    if (offer != null && offer.from() == from) {
      offers.remove(key);
    }
  }

  /** Number of offers that no accepted channel has been found for yet, of all sessions. */
  int pending() {
    return offers.size();
  }

  private void match(ConnectionKey key) {
    ReceivedOffer offer = offers.get(key);
    boolean place = offer != null && offer.from().placesStreams();
    Upgradable waiting = place ? accepted.get(key) : null;
    if (waiting == null || waiting.placed()) {
      matchNow(key);
    } else {
      loop.repeat(() -> matchOncePlaced(key, waiting), () -> fail(key));
    }
  }

  private boolean matchOncePlaced(ConnectionKey key, Upgradable waiting) {
    boolean placed = waiting.placed();
    if (placed) {
      matchNow(key);
    }
    return placed;
  }

  private void matchNow(ConnectionKey key) {
    ReceivedOffer offer = offers.get(key);
    if (offer == null) {
      return;
    }
    Upgradable channel = accepted.remove(key);
    if (channel == null) {
      return;
    }
    if (channel.over()) {
      // A client that resets a connection may make the next from the same port before the program
      // closes its end of the first. The offer is for the next, or withdrawn soon.
      channel.plainSoFar(Reason.CLOSED_EARLY);
    } else {
      offers.remove(key);
      offer.from().accept(offer, channel);
    }
  }

  private void fail(ConnectionKey key) {
    ReceivedOffer offer = offers.remove(key);
    if (offer != null) {
      offer.from().refuse(offer.id(), Reason.INTERNAL);
    }
    Upgradable channel = accepted.remove(key);
    if (channel != null) {
      channel.plain(Reason.INTERNAL);
    }
  }
}
