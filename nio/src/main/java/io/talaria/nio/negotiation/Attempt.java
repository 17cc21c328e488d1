// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.fabric.FabricException;
import java.util.Collections;
import java.util.Iterator;

/**
 * A client connection's search for an upgrade: the announcements of its port, one after the other,
 * and at each the fabrics in order of preference. Negotiation thread.
 */
final class Attempt implements Applicant {
  /** A listener that has just been bound may not have announced itself: when to look again. */
  private static final long[] LOOK_AGAIN_NS = {20_000_000L, 200_000_000L, 2_000_000_000L};

  private final Negotiator negotiator;
  private final Upgradable channel;
  private Iterator<String> candidates = Collections.emptyIterator();
  private Iterator<Fabric> fabrics = Collections.emptyIterator();
  private String candidate;
  private int looks;
  private long lookedAtNs;
  private Session session;
  private int offerId;
  private long offeredAtNs;
  private boolean waiting;
  private boolean shown;
  private boolean open = true;

  Attempt(Negotiator negotiator, Upgradable channel) {
    this.negotiator = negotiator;
    this.channel = channel;
  }

  /** Looks for announcements of the port, and asks the first. */
  void look() {
    lookedAtNs = System.nanoTime();
    candidates = negotiator.candidates(channel.key().server().getPort()).iterator();
    fabrics = Collections.emptyIterator();
    next(Reason.PEER_PLAIN);
  }

  @Override
  public Upgradable channel() {
    return channel;
  }

  /** Whether the channel still wants the upgrade. */
  @Override
  public boolean open() {
    return open;
  }

  /** Asks for the next fabric, or the next announcement, or ends with the last one's reason. */
  @Override
  public void next(Reason reason) {
    session = null;
    if (!open) {
      return;
    }
    Reason last = reason;
    while (fabrics.hasNext() || candidates.hasNext()) {
      if (!fabrics.hasNext()) {
        candidate = candidates.next();
        fabrics = negotiator.usable().iterator();
        continue;
      }
      try {
        Session next = negotiator.dial(candidate, fabrics.next());
        if (next != null) {
          next.offer(this);
          return;
        }
        fabrics = Collections.emptyIterator(); // nobody is there
      } catch (FabricException e) {
        last = e.reason();
      }
    }
    if (last == Reason.PEER_PLAIN && looks < LOOK_AGAIN_NS.length) {
      channel.plainSoFar(last); // nobody was there, or only names of processes that have ended
      waiting = true;
    } else {
      failed(last);
    }
  }

  /** This side cannot offer it: asks for the next fabric, if there is one. */
  @Override
  public void unable(Reason reason) {
    if (fabrics.hasNext()) {
      next(reason);
    } else {
      failed(reason);
    }
  }

  void failed(Reason reason) {
    if (open) {
      negotiator.counters().refused(reason);
      channel.plain(reason);
    }
    done();
  }

  @Override
  public void offered(Session to, int id) {
    session = to;
    offerId = id;
    offeredAtNs = System.nanoTime();
  }

  /** Asks another announcement if this one keeps silent; else says what the program sees. */
  @Override
  public void check(long nowNs, long limitNs) {
    if (waiting && nowNs - lookedAtNs >= LOOK_AGAIN_NS[looks]) {
      waiting = false;
      looks++;
      look();
    }
    if (session == null || nowNs - offeredAtNs < limitNs) {
      return;
    }
    if (candidates.hasNext()) {
      fabrics = Collections.emptyIterator();
      session.withdraw(offerId);
      offeredAtNs = nowNs; // the refusal that follows leads to the next one
    } else if (!shown) {
      shown = true;
      channel.plainSoFar(Reason.NOT_MATCHED);
    }
  }

  /** Whether time has a say in what comes next. */
  @Override
  public boolean watched() {
    return open && !shown;
  }

  /** Whether the next look is due soon. */
  @Override
  public boolean young() {
    return waiting && looks == 0;
  }

  @Override
  public void done() {
    open = false;
    session = null;
    negotiator.finished(this);
  }

  /** The channel closes: it wants nothing any more. */
  @Override
  public void cancel() {
    open = false;
    if (session != null) {
      session.withdraw(offerId);
    }
    negotiator.finished(this);
  }
}
