// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.hosts;

import io.talaria.nio.Reason;
import io.talaria.nio.negotiation.Negotiator;
import io.talaria.nio.negotiation.Upgradable;
import io.talaria.nio.negotiation.UpgradeAttempt;

/** A search at the rendezvous port of another host. Negotiation thread. */
final class RendezvousAttempt extends UpgradeAttempt {
  private final HostNegotiation hosts;
  private final RendezvousAddress address;
  private boolean calledAnew;

  RendezvousAttempt(
      HostNegotiation hosts, Negotiator negotiator, Upgradable channel, RendezvousAddress address) {
    super(negotiator, channel);
    this.hosts = hosts;
    this.address = address;
  }

  @Override
  protected void seek() {
    hosts.call(address, this);
  }

  /** No peer answers: it may be too early. */
  void unanswered(Reason reason, boolean mayComeYet) {
    if (open() && !(mayComeYet && seekLater(reason))) {
      hosts.remember(address, reason);
      failed(reason);
    }
  }

  @Override
  protected void next(Reason reason) {
    if (open() && reason == Reason.PEER_NOT_ACCELERATED && !calledAnew) {
      calledAnew = true; // the listener behind the session is closed: who has its port now?
      seek();
    } else {
      failed(reason);
    }
  }

  @Override
  protected void nextTransport(Reason reason) {
    none(reason, true);
  }
}
