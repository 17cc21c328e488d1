// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import java.util.concurrent.TimeUnit;

/** The number of live mappings, once what earlier tests closed has been unmapped. */
public final class StableMappings {
  /** A session ends about a second after its listener, and gives its pool back then. */
  private static final long STABLE_NS = TimeUnit.MILLISECONDS.toNanos(1500);

  private static long known;

  private StableMappings() {}

  /** Waits until the number has not changed for a while, unless it is one that did not before. */
  public static synchronized long count() throws InterruptedException {
    long count = Mapping.live();
    long since = System.nanoTime();
    while (count != known && System.nanoTime() - since < STABLE_NS) {
      Thread.sleep(5);
      long now = Mapping.live();
      if (now != count) {
        count = now;
        since = System.nanoTime();
      }
    }
    known = count;
    return count;
  }
}
