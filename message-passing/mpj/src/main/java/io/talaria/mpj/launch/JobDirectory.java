// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.Host;
import io.talaria.nio.process.ProcFiles;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The directory of a job: shared memory and the control socket. Only its owner may look into it.
 */
final class JobDirectory {
  static final String CONTROL = "control";

  /** The directory itself, and the control socket or the owner's file. */
  static final int FILES = 2;

  /** How often {@link #delete} tries. */
  private static final int ROUNDS = 1000;

  /** How the name of each begins. */
  static final String PREFIX = "talaria-mpj-";

  /** The file with the ranks' pages. */
  static final String PAGES = "pages";

  private static final String OWNER = "owner";

  private JobDirectory() {}

  /**
   * The folder that directories are made in.
   *
   * @param inside its name; null for the shared memory, or where there is none, for the folder of
   *     temporary files
   * @throws IOException if nothing can be made there
   */
  static Path parent(String inside) throws IOException {
    Path parent = inside == null ? usual() : Path.of(inside);
    if (!Files.isDirectory(parent) || !Files.isWritable(parent)) {
      throw new IOException(
          "talaria.mpj.dir=" + parent + ": a directory that can be written to is allowed");
    }
    return parent;
  }

  /**
   * Makes one.
   *
   * @param inside as for {@link #parent}
   * @throws IOException if it cannot be made there
   */
  static Path create(String inside) throws IOException {
    return PrivateDirectory.createFresh(parent(inside), PREFIX);
  }

  /**
   * Says in a directory whose it is, for {@link #sweep}: the process id, when it was started, which
   * tells it from later ones of its number, and the namespace of the number.
   *
   * @param directory of the job, this process's
   * @throws IOException if it cannot be written
   */
  static void own(Path directory) throws IOException {
    String owner = Host.pid() + " " + ProcFiles.startTicks(Host.pid()) + " " + Host.pidNamespace();
    Files.writeString(directory.resolve(OWNER), owner);
  }

  /**
   * Deletes the directories of jobs whose owner was killed. Those of other users, and of processes
   * that cannot be seen from here, are left alone.
   *
   * @param inside as for {@link #parent}
   */
  static void sweep(String inside) {
    Path parent = inside == null ? usual() : Path.of(inside);
    try (DirectoryStream<Path> jobs = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path job : jobs) {
        if (isDead(job)) {
          delete(job);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // What cannot be read is not swept.
    }
  }

  /** A directory of another user, or a link to one, is not a job's of ours, whatever it says. */
  private static boolean isDead(Path job) {
    try {
      PrivateDirectory.require(job);
      String[] words = Files.readString(job.resolve(OWNER)).strip().split(" ");
      return words.length == 3
          && words[2].equals(Host.pidNamespace())
          && ProcFiles.startTicks(Long.parseLong(words[0])) != Long.parseLong(words[1]);
    } catch (IOException | NumberFormatException e) {
      return false;
    }
  }

  private static Path usual() {
    Path shared = Path.of("/dev/shm");
    return Files.isDirectory(shared) && Files.isWritable(shared)
        ? shared
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  /**
   * Deletes the directory and what is in it. Others may do the same at once, and ranks that still
   * run may make files in it: so it is tried again until the directory itself is gone.
   */
  static void delete(Path directory) {
    for (int i = 0; i < ROUNDS && !deleted(directory); i++) {
      Thread.onSpinWait();
    }
  }

  private static boolean deleted(Path directory) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(directory);
      return true;
    } catch (DirectoryNotEmptyException e) {
      // A rank made a file just now.
      return false;
    } catch (IOException | DirectoryIteratorException e) {
      // Gone already, or not to be deleted.
      return true;
    }
  }
}
