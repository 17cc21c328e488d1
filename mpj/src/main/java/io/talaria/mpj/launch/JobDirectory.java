// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The directory of a job: shared memory and the control socket. Only its owner may look into it.
 */
final class JobDirectory {
  static final String CONTROL = "control";

  private JobDirectory() {}

  static Path create() throws IOException {
    Path shared = Path.of("/dev/shm");
    Path parent =
        Files.isDirectory(shared) && Files.isWritable(shared)
            ? shared
            : Path.of(System.getProperty("java.io.tmpdir"));
    return Files.createTempDirectory(
        parent,
        "talaria-mpj-",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /** Deletes the directory and what is in it; others may do the same at once. */
  static void delete(Path directory) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // Gone already, or going.
    }
    try {
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      // A rank made a file just now; whoever comes next deletes it.
    }
  }
}
