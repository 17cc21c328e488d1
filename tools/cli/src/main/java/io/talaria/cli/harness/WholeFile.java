// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Writes a file that others read: under a temporary name first, so that no reader sees half of it.
 */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes a file, or takes its place.
   *
   * @param file the file
   * @param text all of it
   * @throws HarnessException if that cannot be done; a file that was there is as before
   */
  public static void write(Path file, String text) throws HarnessException {
    Path target = file.toAbsolutePath();
    Path temporary = target.resolveSibling("." + target.getFileName() + ".new");
    try {
      Files.writeString(temporary, text);
      if (Files.getFileStore(temporary).supportsFileAttributeView("posix")) {
        // A collector of another user is to read it.
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + e, e);
    }
  }
}
