// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds claims of rings that are open for long: their thread is in a codec that takes its time, or
 * has no core. Others go on until the ring is full. For the conductor, which looks twice: what is
 * open at both is told, once.
 */
final class StallDetector {
  /** Between the two looks. */
  static final long OPEN_NS = 1_000_000;

  private record Seen(ThreadContext context, int claim) {}

  private final LocalNode node;
  private List<Seen> seen = List.of();
  private long seenNs;

  StallDetector(LocalNode node) {
    this.node = node;
  }

  /** The first look; whether there is anything to look at again, {@link #OPEN_NS} later. */
  boolean look() {
    List<Seen> open = new ArrayList<>();
    ThreadContext.forEach(
        context -> {
          int claim = context.openClaim();
          Connection on = context.claimOn;
          if (claim != 0 && on != null && on.node == node && context.told != claim) {
            open.add(new Seen(context, claim));
          }
        });
    seen = open;
    seenNs = System.nanoTime();
    return !open.isEmpty();
  }

  /** The second look. */
  void lookAgain() {
    for (Seen each : seen) {
      ThreadContext context = each.context;
      Connection on = context.claimOn;
      String type = context.claimName();
      if (context.openClaim() == each.claim && on != null) {
        context.told = each.claim;
        node.stalled(on.peer, type, context.thread.getName(), System.nanoTime() - seenNs);
      }
    }
    seen = List.of();
  }

  /** What is open on a connection now, for whoever found no room; empty if nothing is. */
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
