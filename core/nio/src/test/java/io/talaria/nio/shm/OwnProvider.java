// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.TalariaProvider;
import io.talaria.nio.counters.ProcessCounters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A provider with directories of its own, and its counters. Those of the provider before it stay
 * the current ones, because its tests may not be over.
 *
 * @param provider the provider
 * @param counters what it counts
 */
public record OwnProvider(SelectorProvider provider, ProcessCounters counters) {

  /**
   * Makes a provider with a directory of its own, which stays as long as the JVM: so do the
   * provider's threads, and make anew what is deleted before.
   */
  public static OwnProvider open() throws IOException {
    Path directory = Files.createTempDirectory("talaria-own-");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
    return open(directory.resolve("run"), directory.resolve("shm"));
  }

  /** Tries a few times: threads of the provider may still make something. */
  private static void delete(Path directory) {
    for (int i = 0; i < 10 && Files.exists(directory); i++) {
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(each);
        }
      } catch (IOException | UncheckedIOException e) {
        // Made or deleted just now.
      }
    }
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
