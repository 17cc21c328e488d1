// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import java.util.Collections;
import java.util.Iterator;

/**
 * A search on this host: the announcements of the connection's port, one after the other, and at
 * each the fabrics in order of preference. Negotiation thread.
 */
final class LocalAttempt extends UpgradeAttempt {
  private Iterator<String> candidates = Collections.emptyIterator();
  private Iterator<Fabric> fabrics = Collections.emptyIterator();
  private String candidate;

  LocalAttempt(Negotiator negotiator, Upgradable channel) {
    super(negotiator, channel);
  }

  /** Looks for announcements of the port, and asks the first. */
  @Override
  protected void seek() {
    fabrics = Collections.emptyIterator();
    try {
      candidates = negotiator().dialler().known(channel().key().server().getPort()).iterator();
      next(Reason.PEER_PLAIN);
    } catch (FabricException e) {
      none(e.reason(), true);
    }
  }

  /** Asks for the next fabric, or the next announcement, or ends with the last one's reason. */
  @Override
  protected void next(Reason reason) {
    if (!open()) {
      return;
    }
    Reason last = reason;
    boolean own = false;
    while (fabrics.hasNext() || candidates.hasNext()) {
      if (!fabrics.hasNext()) {
        candidate = candidates.next();
        fabrics = negotiator().fabrics().usable(negotiator().loop().turnNumber()).iterator();
        continue;
      }
      try {
        Session next = negotiator().dialler().dial(candidate, fabrics.next());
        if (next != null) {
          next.offer(this);
          return;
        }
        fabrics = Collections.emptyIterator(); // nobody is there
      } catch (FabricException e) {
        last = e.reason();
        own = true;
      }
    }
    none(last, own);
  }

  @Override
  protected void nextFabric(Reason reason) {
    if (fabrics.hasNext()) {
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
    fabrics = Collections.emptyIterator();
    return true;
  }
}
