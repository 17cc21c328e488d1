// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;

/** A client connection's search for an upgrade. Negotiation thread. */
public abstract class UpgradeAttempt {
  /** A listener that has just been bound may not be found yet: when to seek again. */
  private static final long[] SEEK_AGAIN_NS = {20_000_000L, 200_000_000L, 2_000_000_000L};

  /** How long an offer is left without an answer before that is shown, or another is asked. */
  private static final long SILENCE_NS = 2_000_000_000L;

  private final Negotiator negotiator;
  private final Upgradable channel;
  private int timesSought;
  private long soughtAtNs;
  private boolean waiting;
  private Session session;
  private int offerId;
  private long offeredAtNs;
  private boolean shown;
  private boolean open = true;

  /** Kept for {@link Attempts}: when it is to be looked at, or null. */
  private Attempts.Due due;

  /** Begun by {@link Negotiator#begin}. */
  protected UpgradeAttempt(Negotiator negotiator, Upgradable channel) {
    this.negotiator = negotiator;
    this.channel = channel;
  }

  protected final Negotiator negotiator() {
    return negotiator;
  }

  /** Whose upgrade it is. */
  public final Upgradable channel() {
    return channel;
  }

  /** Whether the channel still wants the upgrade. */
  protected final boolean open() {
    return open;
  }

  /** Begins, or begins anew. */
  final void begin() {
    soughtAtNs = System.nanoTime();
    session = null;
    seek();
  }

  /** Looks for a peer, and has a session {@linkplain Session#offer offer} it. */
  protected abstract void seek();

  /** Seeks again later, a few times; false if that has been done. */
  protected final boolean seekLater(Reason reason) {
    if (timesSought == SEEK_AGAIN_NS.length) {
      return false;
    }
    channel.plainSoFar(reason);
    waiting = true;
    negotiator.attempts().lookAt(this, soughtAtNs + SEEK_AGAIN_NS[timesSought]);
    return true;
  }

  /** A session has made the channel's offer. */
  final void offered(Session to, int id) {
    session = to;
    offerId = id;
    awaitAnswer(System.nanoTime());
  }

  private void awaitAnswer(long nowNs) {
    offeredAtNs = nowNs;
    negotiator.attempts().lookAt(this, nowNs + SILENCE_NS);
  }

  /** The session refuses, or has ended: looks elsewhere, or ends with the reason. */
  final void refused(Reason reason) {
    session = null;
    next(reason);
  }

  /** Looks elsewhere, or ends with the reason. */
  protected abstract void next(Reason reason);

  /**
   * No other peer is left to be asked: ends, or seeks later if the reason may pass.
   *
   * @param own whether this side is the reason, and not what another has said
   */
  protected final void none(Reason last, boolean own) {
    // No peer was there, or only names of processes that have ended; or descriptors have run out.
    boolean mayPass = last == Reason.PEER_NOT_ACCELERATED || (own && last == Reason.LIMIT);
    if (!open || !mayPass || !seekLater(last)) {
      gaveUp(last);
    }
  }

  /** Nothing is left to be asked, now or later. */
  protected void gaveUp(Reason last) {
    failed(last);
  }

  /** This side cannot offer it over this transport: looks for another, or ends with the reason. */
  public final void unable(Reason reason) {
    session = null;
    nextTransport(reason);
  }

  /** Looks for another transport, or ends with the reason. */
  protected abstract void nextTransport(Reason reason);

  /** Ends: the channel stays on TCP, for this reason. */
  public final void failed(Reason reason) {
    boolean wanted = open;
    done(); // first: the listener may throw
    if (wanted) {
      negotiator.counters().refused(reason);
      channel.plain(reason);
    }
  }

  /** Ends, with the upgrade or without. */
  protected final void done() {
    open = false;
    session = null;
    negotiator.attempts().finished(this);
  }

  /** The channel closes: it wants nothing any more. */
  final void cancel() {
    open = false;
    if (session != null) {
      session.withdraw(offerId);
    }
    negotiator.attempts().finished(this);
  }

  /** Does what is due: called once the time has come that was set, or later. */
  final void check(long nowNs) {
    if (waiting && nowNs - soughtAtNs >= SEEK_AGAIN_NS[timesSought]) {
      waiting = false;
      timesSought++;
      begin();
    }
    if (session == null || nowNs - offeredAtNs < SILENCE_NS) {
      return;
    }
    if (elsewhere()) {
      session.withdraw(offerId);
      awaitAnswer(nowNs); // the refusal that follows leads there
    } else if (!shown) {
      shown = true;
      channel.plainSoFar(Reason.NOT_MATCHED);
    }
  }

  /** Whether there is another to be asked if one keeps silent; the next refusal leads to it. */
  protected boolean elsewhere() {
    return false;
  }

  /** When it is to be looked at, or null. */
  final Attempts.Due due() {
    return due;
  }

  final void due(Attempts.Due time) {
    due = time;
  }
}
