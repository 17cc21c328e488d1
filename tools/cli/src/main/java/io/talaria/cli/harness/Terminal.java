// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** What is known about the terminal. */
public final class Terminal {
  private static final Size USUAL = new Size(24, 80);
  private static final int SIZE_LIMIT_S = 2;

  /**
   * How much a terminal shows.
   *
   * @param rows lines
   * @param columns characters in a line
   */
  public record Size(int rows, int columns) {}

  private Terminal() {}

  /** Returns whether standard output goes to a terminal that can move its cursor. */
  public static boolean onStandardOutput() {
    return on(1);
  }

  /** Returns whether standard error goes to a terminal that can move its cursor. */
  public static boolean onStandardError() {
    return on(2);
  }

  /** Returns whether standard input comes from a terminal. */
  public static boolean onStandardInput() {
    return on(0);
  }

  private static boolean on(int descriptor) {
    if ("dumb".equals(System.getenv("TERM"))) {
      return false;
    }
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /**
   * Returns the size of the terminal that controls this process, as {@code stty} knows it; 24 lines
   * of 80 characters if it knows none.
   *
   * @throws InterruptedException if this thread is interrupted
   */
  public static Size size() throws InterruptedException {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(new File("/dev/tty"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        if (!stty.waitFor(SIZE_LIMIT_S, TimeUnit.SECONDS)) {
          return USUAL;
        }
        return parse(
            new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
      } finally {
        stty.destroyForcibly();
      }
    } catch (IOException e) {
      return USUAL;
    }
  }

  /** Reads «rows columns». */
  static Size parse(String text) {
    if (!text.matches("[1-9]\\d{0,4} [1-9]\\d{0,4}")) {
      return USUAL; // a terminal that was never told has 0 of both
    }
    int blank = text.indexOf(' ');
    return new Size(
        Integer.parseInt(text.substring(0, blank)), Integer.parseInt(text.substring(blank + 1)));
  }
}
