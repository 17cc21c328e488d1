// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Writes a file that others read: under a temporary name first, so that no reader sees half of it.
 */
public final class WholeFile {
  private WholeFile() {}

  /**
   * Writes a file, or replaces it. A symbolic link stays, and the file that it names is written. A
   * device or a pipe stays, too; the text is written to it.
   *
   * @param file the file
   * @param text all of it
   * @throws HarnessException if that cannot be done; a file that was there is as before
   */
  public static void write(Path file, String text) throws HarnessException {
    try {
      if (Files.isRegularFile(file)) {
        replace(file.toRealPath(), text);
      } else if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        // A device or a pipe; or a link to a file that does not exist yet.
        Files.writeString(file, text);
      } else {
        replace(file.toAbsolutePath(), text);
      }
    } catch (IOException e) {
      throw new HarnessException("cannot write " + file + ": " + e, e);
    }
  }

  private static void replace(Path target, String text) throws IOException {
    // A new name each time: another process may write the same file now.
    Path temporary =
        Files.createTempFile(target.getParent(), "." + target.getFileName() + ".", ".new");
    try {
      Files.writeString(temporary, text);
      if (Files.getFileStore(temporary).supportsFileAttributeView("posix")) {
        // A collector of another user is to read it.
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
  }
}
