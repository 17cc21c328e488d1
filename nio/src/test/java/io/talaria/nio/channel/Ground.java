// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.channel;

import io.talaria.nio.TalariaProvider;
import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;

/** On what a contract is tested: a difference between two grounds is a bug. */
enum Ground {
  /** The JDK's own channels and selectors: the reference. */
  JDK,

  /** Our channels with both directions on the fabric. */
  ACCELERATED,

  /** Our channels from the moment they are connected, while the negotiation is on its way. */
  NEGOTIATING;

  private static final SelectorProvider TALARIA = talaria();

  private static SelectorProvider talaria() {
    try {
      Path base = Path.of("target").toAbsolutePath();
      Files.createDirectories(base);
      String oldDir = System.getProperty("talaria.dir");
      String oldShm = System.getProperty("talaria.shm.dir");
      System.setProperty("talaria.dir", base.resolve("channel-run").toString());
      System.setProperty("talaria.shm.dir", base.resolve("channel-shm").toString());
      try {
        return new TalariaProvider();
      } finally {
        restore("talaria.dir", oldDir);
        restore("talaria.shm.dir", oldShm);
      }
    } catch (IOException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static void restore(String name, String value) {
    if (value == null) {
      System.clearProperty(name);
    } else {
      System.setProperty(name, value);
    }
  }

  SelectorProvider provider() {
    return this == JDK ? JdkNio.provider() : TALARIA;
  }

  /** Two connected channels in blocking mode, in the state that the name says. */
  Pair pair() throws IOException {
    Pair pair = Pair.connect(provider());
    if (this == ACCELERATED) {
      pair.accelerate();
    }
    return pair;
  }
}
