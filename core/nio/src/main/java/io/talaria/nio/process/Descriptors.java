// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells whether something failed because this process has no file descriptor left. */
public final class Descriptors {
  private static final Path ANY_FILE = Path.of("/dev/null");
  private static final String AS_THE_SYSTEM_SAYS_IT = "Too many open files";

  private Descriptors() {}

  /**
   * Whether a failure is for want of descriptors. To be asked after a failure only: if the text
   * does not tell, which is in the user's language, it tries to open a file.
   *
   * @param failure what came of an attempt to open something
   */
  public static boolean ranOut(Throwable failure) {
    return String.valueOf(failure.getMessage()).contains(AS_THE_SYSTEM_SAYS_IT) || noneLeft();
  }

  private static boolean noneLeft() {
    try (Closeable opened = Files.newInputStream(ANY_FILE)) {
      return opened == null;
    } catch (IOException e) {
      return true;
    }
  }
}
