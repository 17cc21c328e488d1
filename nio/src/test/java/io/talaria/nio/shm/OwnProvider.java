// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.TalariaProvider;
import io.talaria.nio.counters.ProcessCounters;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;

/**
 * A provider with directories of its own, and its counters. Those of the provider before it stay
 * the current ones, because its tests may not be over.
 *
 * @param provider the provider
 * @param counters what it counts
 */
public record OwnProvider(SelectorProvider provider, ProcessCounters counters) {

  static SelectorProvider in(Path directory) {
    return open(directory.resolve("run"), directory.resolve("shm")).provider();
  }

  /** Makes a provider with these directories. */
  public static OwnProvider open(Path run, Path shm) {
    ProcessCounters before = ProcessCounters.current();
    System.setProperty("talaria.dir", run.toString());
    System.setProperty("talaria.shm.dir", shm.toString());
    try {
      SelectorProvider provider = new TalariaProvider();
      return new OwnProvider(provider, ProcessCounters.current());
    } finally {
      System.clearProperty("talaria.dir");
      System.clearProperty("talaria.shm.dir");
      if (before != null) {
        before.makeCurrent();
      }
    }
  }
}
