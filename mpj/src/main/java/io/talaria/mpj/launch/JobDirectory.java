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

  /**
   * Makes one.
   *
   * @param inside the folder it is made in; null for the shared memory, or where there is none, for
   *     the folder of temporary files
   * @throws IOException if it cannot be made there
   */
  static Path create(String inside) throws IOException {
    Path parent = inside == null ? usual() : Path.of(inside);
    if (!Files.isDirectory(parent) || !Files.isWritable(parent)) {
      throw new IOException(
          "talaria.mpj.dir=" + parent + ": a directory that can be written to is allowed");
    }
    return Files.createTempDirectory(
        parent,
        "talaria-mpj-",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private static Path usual() {
    Path shared = Path.of("/dev/shm");
    return Files.isDirectory(shared) && Files.isWritable(shared)
        ? shared
        : Path.of(System.getProperty("java.io.tmpdir"));
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
