// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it.stress;

import io.talaria.it.kit.Console;

/** Says {@code @late} for every end at which what must happen has not, in time. */
final class Watch {
  private static final long LOOK_MS = 20;

  /**
   * How many times longer than an asker an answerer may wait, because it is also affected by what
   * is late at its asker.
   */
  private static final int ANSWERERS_PATIENCE = 4;

  private final Node node;
  private final long limitNs;

  Watch(Node node, long limitMs) {
    this.node = node;
    this.limitNs = limitMs * 1_000_000;
  }

  void run() throws InterruptedException {
    while (true) {
      for (End end : node.ends()) {
        look(end);
      }
      Thread.sleep(LOOK_MS);
    }
  }

  private void look(End end) {
    long sinceNs = end.awaitsSinceNs;
    if (sinceNs == 0 || end.late) {
      return;
    }
    long usualNs = end instanceof Answerer ? ANSWERERS_PATIENCE * limitNs : limitNs;
    long waitedNs = System.nanoTime() - sinceNs;
    if (waitedNs < usualNs || waitedNs < node.delay.limitNs(sinceNs, usualNs)) {
      return;
    }
    end.late = true;
    if (end.awaitsSinceNs != sinceNs) {
      end.late = false; // just in time
    } else {
      Console.say(
          "late",
          "waitedMs",
          waitedNs / 1_000_000,
          "delayMs",
          node.delay.worstSinceNs(sinceNs) / 1_000_000,
          "what",
          end);
    }
  }
}
