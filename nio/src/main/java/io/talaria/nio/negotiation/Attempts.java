// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.PeerCredentials;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The client connections that look for an upgrade. Negotiation thread, except where marked. */
final class Attempts implements NegotiationLoop.Timed {
  private static final long SILENCE_LIMIT_NS = 2_000_000_000L;

  private final Negotiator negotiator;
  private final PrivateDirectory directory;

  /** Whether a fabric waits for channels to find their selectors. */
  private final boolean placing;

  private final Map<Upgradable, UpgradeAttempt> attempts = new HashMap<>();

  Attempts(Negotiator negotiator, PrivateDirectory directory) {
    this.negotiator = negotiator;
    this.directory = directory;
    placing = negotiator.fabrics().placeStreams();
  }

  /** A client connection on this host stands. Any thread. */
  void connected(Upgradable channel) {
    NegotiationLoop loop = negotiator.loop();
    if (!loop.started()) {
      channel.plainSoFar(Reason.LIMIT);
    }
    if (placing) {
      loop.repeat(() -> beginOncePlaced(channel), () -> fail(channel));
    } else {
      loop.isolate("an upgrade", () -> begin(channel), () -> fail(channel));
    }
  }

  private boolean beginOncePlaced(Upgradable channel) {
    boolean placed = !negotiator.fabrics().starting() && channel.placed();
    if (placed) {
      begin(channel);
    }
    return placed;
  }

  private void begin(Upgradable channel) {
    if (!channel.wanted()) {
      return;
    }
    Reason unusable = PeerCredentials.known() ? directory.prepare() : Reason.NO_JDK_NET;
    if (unusable == null) {
      unusable = negotiator.fabrics().unusable();
    }
    if (unusable != null) {
      channel.plain(unusable);
      return;
    }
    begin(new LocalAttempt(negotiator, channel));
  }

  void begin(UpgradeAttempt attempt) {
    attempts.put(attempt.channel(), attempt);
    attempt.begin();
  }

  /** The channel's upgrade has failed for an error of ours. */
  private void fail(Upgradable channel) {
    UpgradeAttempt attempt = attempts.get(channel);
    if (attempt == null) {
      channel.plain(Reason.INTERNAL);
    } else {
      attempt.failed(Reason.INTERNAL);
    }
  }

  void finished(UpgradeAttempt attempt) {
    attempts.remove(attempt.channel(), attempt);
  }

  /** A channel is closed. */
  void forget(Upgradable channel) {
    UpgradeAttempt attempt = attempts.get(channel);
    if (attempt != null) {
      attempt.cancel();
    }
  }

  @Override
  public int tickMs(long nowNs) {
    int tickMs = NegotiationLoop.NO_TICK;
    for (UpgradeAttempt attempt : attempts.values()) {
      if (attempt.young()) {
        return NegotiationLoop.YOUNG_TICK_MS;
      }
      if (attempt.watched()) {
        tickMs = NegotiationLoop.SLOW_TICK_MS;
      }
    }
    return tickMs;
  }

  @Override
  public void check(long nowNs) {
    for (UpgradeAttempt attempt : List.copyOf(attempts.values())) {
      negotiator
          .loop()
          .runGuarded(
              "an upgrade",
              () -> attempt.check(nowNs, SILENCE_LIMIT_NS),
              () -> attempt.failed(Reason.INTERNAL));
    }
  }
}
