// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;

/** A search at the rendezvous port of another host. Negotiation thread. */
final class HostAttempt extends Applicant {
  private final Hosts hosts;
  private final Where where;

  HostAttempt(Hosts hosts, Negotiator negotiator, Upgradable channel, Where where) {
    super(negotiator, channel);
    this.hosts = hosts;
    this.where = where;
  }

  @Override
  void seek() {
    hosts.call(where, this);
  }

  /** Nobody answers: it may be too early. */
  void unanswered(Reason reason, boolean mayComeYet) {
    if (open() && !(mayComeYet && seekLater(reason))) {
      hosts.remember(where, reason);
      failed(reason);
    }
  }

  @Override
  void next(Reason reason) {
    failed(reason);
  }

  @Override
  void nextFabric(Reason reason) {
    none(reason, true);
  }
}
