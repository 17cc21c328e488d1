// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/** A writer to {@link System#out} that knows when that could not be written. */
final class StandardOutput extends PrintWriter {
  StandardOutput(PrintWriter toSystemOut) {
    super(toSystemOut, true);
  }

  @Override
  public boolean checkError() {
    // System.out keeps its errors to itself.
    return super.checkError() || System.out.checkError();
  }

  /**
   * Whether a write has failed, for another reason than that the reader has ended, as {@code head}
   * does when it has seen enough.
   */
  boolean failed() {
    return checkError() && !isPipe();
  }

  /** Writes to a pipe fail only if its reader has ended. */
  private static boolean isPipe() {
    try {
      String name = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return name.startsWith("pipe:") || name.startsWith("socket:");
    } catch (IOException e) {
      return false;
    }
  }
}
