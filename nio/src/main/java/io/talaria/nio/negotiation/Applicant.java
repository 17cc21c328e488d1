// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;

/** A client connection's search for an upgrade. Negotiation thread. */
abstract class Applicant {
  /** A listener that has just been bound may not be found yet: when to seek again. */
  private static final long[] SEEK_AGAIN_NS = {20_000_000L, 200_000_000L, 2_000_000_000L};

  private final Negotiator negotiator;
  private final Upgradable channel;
  private int seeks;
  private long soughtAtNs;
  private boolean waiting;
  private Session session;
  private int offerId;
  private long offeredAtNs;
  private boolean shown;
  private boolean open = true;

  Applicant(Negotiator negotiator, Upgradable channel) {
    this.negotiator = negotiator;
    this.channel = channel;
  }

  final Negotiator negotiator() {
    return negotiator;
  }

  final Upgradable channel() {
    return channel;
  }

  /** Whether the channel still wants the upgrade. */
  final boolean open() {
    return open;
  }

  /** Begins, or begins anew. */
  final void begin() {
    soughtAtNs = System.nanoTime();
    session = null;
    seek();
  }

  abstract void seek();

  /** Has it sought again later, for a few times; false if it has been. */
  final boolean seekLater(Reason reason) {
    if (seeks == SEEK_AGAIN_NS.length) {
      return false;
    }
    channel.plainSoFar(reason);
    waiting = true;
    return true;
  }

  /** A session has made the channel's offer. */
  final void offered(Session to, int id) {
    session = to;
    offerId = id;
    offeredAtNs = System.nanoTime();
  }

  /** The session refuses, or has ended: looks elsewhere, or ends with the reason. */
  final void refused(Reason reason) {
    session = null;
    next(reason);
  }

  abstract void next(Reason reason);

  /**
   * Nobody else is left to be asked: ends, or seeks later if the reason may pass.
   *
   * @param own whether this side is the reason, and not what another has said
   */
  final void none(Reason last, boolean own) {
    // Nobody was there, or only names of processes that have ended; or descriptors have run out.
    boolean mayPass = last == Reason.PEER_PLAIN || (own && last == Reason.LIMIT);
    if (!open || !mayPass || !seekLater(last)) {
      failed(last);
    }
  }

  /** This side cannot offer it over this fabric: looks for another, or ends with the reason. */
  final void unable(Reason reason) {
    session = null;
    nextFabric(reason);
  }

  abstract void nextFabric(Reason reason);

  final void failed(Reason reason) {
    if (open) {
      negotiator.counters().refused(reason);
      channel.plain(reason);
    }
    done();
  }

  /** It is had, or wanted no more. */
  final void done() {
    open = false;
    session = null;
    negotiator.finished(this);
  }

  /** The channel closes: it wants nothing any more. */
  final void cancel() {
    open = false;
    if (session != null) {
      session.withdraw(offerId);
    }
    negotiator.finished(this);
  }

  /** Does what is due by the clock. */
  final void check(long nowNs, long silenceNs) {
    if (waiting && nowNs - soughtAtNs >= SEEK_AGAIN_NS[seeks]) {
      waiting = false;
      seeks++;
      begin();
    }
    if (session == null || nowNs - offeredAtNs < silenceNs) {
      return;
    }
    if (elsewhere()) {
      session.withdraw(offerId);
      offeredAtNs = nowNs; // the refusal that follows leads there
    } else if (!shown) {
      shown = true;
      channel.plainSoFar(Reason.NOT_MATCHED);
    }
  }

  /** Whether there is another to be asked if one keeps silent; the next refusal leads to it. */
  boolean elsewhere() {
    return false;
  }

  /** Whether time has a say in what comes next. */
  final boolean watched() {
    return open && !shown;
  }

  /** Whether it is sought again soon. */
  final boolean young() {
    return waiting && seeks == 0;
  }
}
