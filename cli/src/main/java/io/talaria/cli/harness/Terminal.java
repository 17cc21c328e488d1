// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What is known about the terminal. */
public final class Terminal {
  private Terminal() {}

  /** Returns whether standard error goes to a terminal that can move its cursor. */
  public static boolean onStandardError() {
    if ("dumb".equals(System.getenv("TERM"))) {
      return false;
    }
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
