// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.transport.TransportException;
import io.talaria.nio.transport.TransportProvider;
import java.util.Collections;
import java.util.Iterator;

/**
 * A search on this host: the announcements of the connection's port, one after the other, and at
 * each the transports in order of preference. If the connection leaves this network namespace, and
 * no peer in another one of this host has its end, other hosts may have. Negotiation thread.
 */
final class LocalAttempt extends UpgradeAttempt {
  private Iterator<String> candidates = Collections.emptyIterator();
  private Iterator<TransportProvider> transports = Collections.emptyIterator();
  private String candidate;

  LocalAttempt(Negotiator negotiator, Upgradable channel) {
    super(negotiator, channel);
  }

  /** Looks for announcements of the port, and asks the first. */
  @Override
  protected void seek() {
    transports = Collections.emptyIterator();
    try {
      candidates = negotiator().dialler().known(channel().key().server().getPort()).iterator();
      next(Reason.PEER_NOT_ACCELERATED);
    } catch (TransportException e) {
      none(e.reason(), true);
    }
  }

  /** Asks for the next transport, or the next announcement, or ends with the last one's reason. */
  @Override
  protected void next(Reason reason) {
    if (!open()) {
      return;
    }
    Reason last = reason;
    boolean own = false;
    while (transports.hasNext() || candidates.hasNext()) {
      if (!transports.hasNext()) {
        candidate = candidates.next();
        transports = negotiator().transports().usable(negotiator().loop().turnNumber()).iterator();
        continue;
      }
      try {
        Session next = negotiator().dialler().dial(candidate, transports.next());
        if (next != null) {
          next.offer(this);
          return;
        }
        transports = Collections.emptyIterator(); // no peer is there
      } catch (TransportException e) {
        last = e.reason();
        own = true;
      }
    }
    if (mayReachHosts()) {
      gaveUp(last);
    } else {
      none(last, own);
    }
  }

  private boolean mayReachHosts() {
    return !channel().key().local() && negotiator().reachesHosts();
  }

  @Override
  protected void gaveUp(Reason last) {
    if (!open() || channel().key().local()) {
      failed(last);
    } else if (negotiator().reachesHosts()) {
      done();
      negotiator().connectedToHost(channel());
    } else {
      failed(last == Reason.PEER_NOT_ACCELERATED ? Reason.NOT_LOCAL : last);
    }
  }

  @Override
  protected void nextTransport(Reason reason) {
    if (transports.hasNext()) {
      next(reason);
    } else {
      none(reason, true);
    }
  }

  @Override
  protected boolean elsewhere() {
    if (!candidates.hasNext()) {
      return false;
    }
    transports = Collections.emptyIterator();
    return true;
  }
}
