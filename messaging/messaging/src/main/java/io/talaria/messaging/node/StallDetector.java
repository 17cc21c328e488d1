// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.node;

import io.talaria.messaging.engine.Connection;
import io.talaria.messaging.records.ThreadContext;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports claims in rings that stay open for long, because their thread is in a slow codec or has
 * no core. While a claim is open the consumer sees no later record, and other threads can send
 * until the ring is full.
 *
 * <p>For the conductor, which looks twice: a claim that is open at both looks is reported, once.
 */
public final class StallDetector {
  /** The time between the two looks. */
  public static final long OPEN_NS = 1_000_000;

  private record Seen(ThreadContext context, int claim) {}

  private final LocalNode node;
  private List<Seen> seen = List.of();
  private long seenNs;

  public StallDetector(LocalNode node) {
    this.node = node;
  }

  /** The first look; true if {@link #lookAgain} is to be called {@link #OPEN_NS} later. */
  public boolean look() {
    List<Seen> open = new ArrayList<>();
    ThreadContext.forEach(
        context -> {
          int claim = context.openClaim();
          if (claim != 0
              && context.claimOn instanceof Connection on
              && on.node == node
              && context.reported != claim) {
            open.add(new Seen(context, claim));
          }
        });
    seen = open;
    seenNs = System.nanoTime();
    return !open.isEmpty();
  }

  /** The second look, which reports. */
  public void lookAgain() {
    for (Seen each : seen) {
      ThreadContext context = each.context;
      Object claimOn = context.claimOn;
      String type = context.claimName();
      if (context.openClaim() == each.claim && claimOn instanceof Connection on) {
        context.reported = each.claim;
        node.events().stalled(on.peer, type, context.thread.getName(), System.nanoTime() - seenNs);
      }
    }
    seen = List.of();
  }

  /** Describes the claims that are open on a connection, for an error text; else empty. */
  static String openOn(Connection connection) {
    StringBuilder text = new StringBuilder();
    ThreadContext.forEach(
        context -> {
          String type = context.claimName();
          if (context.claimOn == connection && context.openClaim() != 0) {
            text.append("; thread ").append(context.thread.getName());
            text.append(" has not finished writing a ").append(type);
          }
        });
    return text.toString();
  }
}
