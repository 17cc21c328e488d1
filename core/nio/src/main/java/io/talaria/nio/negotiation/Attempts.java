// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.PeerCredentials;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The client connections that look for an upgrade. Thousands may do so at once, and none is looked
 * at before its time. Negotiation thread, except where marked.
 */
final class Attempts implements NegotiationLoop.Timed {
  private final Negotiator negotiator;
  private final PrivateDirectory directory;

  /** Whether a transport waits for channels to find their selectors. */
  private final boolean placing;

  private final Map<Upgradable, UpgradeAttempt> attempts = new HashMap<>();

  /** Those that are to be looked at when a time comes, the next first. */
  private final TreeMap<Due, UpgradeAttempt> due = new TreeMap<>(Due.ORDER);

  /** The last turn of the thread in which nothing kept this process from upgrades. */
  private long usableIn = -1;

  /** How many times were set, ever. */
  private long set;

  /**
   * When an attempt is to be looked at.
   *
   * @param atNs on the clock of {@link System#nanoTime}
   * @param number tells apart those of one time
   */
  record Due(long atNs, long number) {
    private static final Comparator<Due> ORDER =
        (one, other) ->
            one.atNs == other.atNs
                ? Long.compare(one.number, other.number)
                : Long.signum(one.atNs - other.atNs); // as that clock may overflow
  }

  Attempts(Negotiator negotiator, PrivateDirectory directory) {
    this.negotiator = negotiator;
    this.directory = directory;
    placing = negotiator.transports().placeStreams();
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
    boolean placed = !negotiator.transports().starting() && channel.placed();
    if (placed) {
      begin(channel);
    }
    return placed;
  }

  private void begin(Upgradable channel) {
    if (!channel.wanted()) {
      return;
    }
    Reason unusable = unusable();
    if (unusable != null && !channel.key().local() && negotiator.reachesHosts()) {
      negotiator.connectedToHost(channel); // which needs no directories
      return;
    }
    if (unusable != null) {
      channel.plain(unusable);
      return;
    }
    begin(new LocalAttempt(negotiator, channel));
  }

  /** What keeps this process from any upgrade, or null. */
  private Reason unusable() {
    long turn = negotiator.loop().turnNumber();
    if (turn == usableIn) {
      return null;
    }
    Reason reason = PeerCredentials.known() ? directory.prepare() : Reason.NO_JDK_NET;
    if (reason == null) {
      reason = negotiator.transports().unusable();
    }
    if (reason == null) {
      usableIn = turn;
    }
    return reason;
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
    forgetTime(attempt);
    attempts.remove(attempt.channel(), attempt);
  }

  /** A channel is closed. */
  void forget(Upgradable channel) {
    UpgradeAttempt attempt = attempts.get(channel);
    if (attempt != null) {
      attempt.cancel();
    }
  }

  // ---- the clock

  /** Has an attempt looked at when a time has come, in place of what was set before. */
  void lookAt(UpgradeAttempt attempt, long atNs) {
    forgetTime(attempt);
    Due time = new Due(atNs, ++set);
    attempt.due(time);
    due.put(time, attempt);
  }

  private void forgetTime(UpgradeAttempt attempt) {
    Due time = attempt.due();
    if (time != null) {
      attempt.due(null);
      due.remove(time);
    }
  }

  @Override
  public int tickMs(long nowNs) {
    if (due.isEmpty()) {
      return NegotiationLoop.NO_TICK;
    }
    long leftNs = due.firstKey().atNs() - nowNs;
    return leftNs <= 0 ? 1 : (int) TimeUnit.NANOSECONDS.toMillis(leftNs) + 1;
  }

  @Override
  public void check(long nowNs) {
    while (!due.isEmpty() && due.firstKey().atNs() - nowNs <= 0) {
      UpgradeAttempt attempt = due.firstEntry().getValue();
      forgetTime(attempt);
      negotiator
          .loop()
          .runGuarded(
              "an upgrade", () -> attempt.check(nowNs), () -> attempt.failed(Reason.INTERNAL));
    }
  }
}
