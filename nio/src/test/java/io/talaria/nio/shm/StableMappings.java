// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import java.util.concurrent.TimeUnit;

/** The number of live mappings, once what earlier tests closed has been unmapped. */
public final class StableMappings {
  private static final long STABLE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private StableMappings() {}

  /** Waits until the number has not changed for a while. */
  public static long count() {
    long count = Mapping.live();
    long since = System.nanoTime();
    while (System.nanoTime() - since < STABLE_NS) {
      Thread.onSpinWait();
      long now = Mapping.live();
      if (now != count) {
        count = now;
        since = System.nanoTime();
      }
    }
    return count;
  }
}
