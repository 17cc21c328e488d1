// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;

/**
 * A client connection's search for an upgrade at the rendezvous port of another host. Negotiation
 * thread.
 */
final class HostAttempt implements Applicant {
  /** A listener that has just been bound may not have its rendezvous port yet. */
  private static final long[] CALL_AGAIN_NS = {20_000_000L, 200_000_000L, 2_000_000_000L};

  private final Hosts hosts;
  private final Negotiator negotiator;
  private final Upgradable channel;
  private final Where where;
  private int calls;
  private long calledAtNs;
  private boolean waiting;
  private Session session;
  private int offerId;
  private long offeredAtNs;
  private boolean shown;
  private boolean open = true;

  HostAttempt(Hosts hosts, Negotiator negotiator, Upgradable channel, Where where) {
    this.hosts = hosts;
    this.negotiator = negotiator;
    this.channel = channel;
    this.where = where;
  }

  @Override
  public Upgradable channel() {
    return channel;
  }

  @Override
  public boolean open() {
    return open;
  }

  void call() {
    calledAtNs = System.nanoTime();
    hosts.call(where, this);
  }

  /** Nobody answers: it may be too early. */
  void unanswered(Reason reason, boolean mayComeYet) {
    if (!open) {
      return;
    }
    if (mayComeYet && calls < CALL_AGAIN_NS.length) {
      channel.plainSoFar(reason);
      waiting = true;
    } else {
      hosts.remember(where, reason);
      failed(reason);
    }
  }

  @Override
  public void offered(Session to, int id) {
    session = to;
    offerId = id;
    offeredAtNs = System.nanoTime();
  }

  @Override
  public void next(Reason reason) {
    session = null;
    failed(reason);
  }

  @Override
  public void unable(Reason reason) {
    failed(reason);
  }

  void failed(Reason reason) {
    if (open) {
      negotiator.counters().refused(reason);
      channel.plain(reason);
    }
    done();
  }

  @Override
  public void done() {
    open = false;
    session = null;
    negotiator.finished(this);
  }

  @Override
  public void cancel() {
    open = false;
    if (session != null) {
      session.withdraw(offerId);
    }
    negotiator.finished(this);
  }

  @Override
  public void check(long nowNs, long silenceNs) {
    if (waiting && nowNs - calledAtNs >= CALL_AGAIN_NS[calls]) {
      waiting = false;
      calls++;
      call();
    }
    if (session != null && !shown && nowNs - offeredAtNs >= silenceNs) {
      shown = true;
      channel.plainSoFar(Reason.NOT_MATCHED);
    }
  }

  @Override
  public boolean watched() {
    return open && !shown;
  }

  @Override
  public boolean young() {
    return waiting && calls == 0;
  }
}
