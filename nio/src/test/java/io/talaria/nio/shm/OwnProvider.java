// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import io.talaria.nio.TalariaProvider;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;

/** A provider with directories of its own. */
public final class OwnProvider {
  private OwnProvider() {}

  public static SelectorProvider in(Path directory) {
    System.setProperty("talaria.dir", directory.resolve("run").toString());
    System.setProperty("talaria.shm.dir", directory.resolve("shm").toString());
    try {
      return new TalariaProvider();
    } finally {
      System.clearProperty("talaria.dir");
      System.clearProperty("talaria.shm.dir");
    }
  }
}
