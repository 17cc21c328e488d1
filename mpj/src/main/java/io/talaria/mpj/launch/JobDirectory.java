// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The directory of a job: shared memory and the control socket. Only its owner may look into it.
 */
final class JobDirectory {
  static final String CONTROL = "control";

  /** How often {@link #delete} tries. */
  private static final int ROUNDS = 1000;

  private static final String PREFIX = "talaria-mpj-";
  private static final String OWNER = "owner";
  private static final String NAMESPACE = "/proc/self/ns/pid";

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
        PREFIX,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /**
   * Says in a directory whose it is, for {@link #sweep}.
   *
   * @param directory of the job, this process's
   * @throws IOException if it cannot be written
   */
  static void own(Path directory) throws IOException {
    Files.writeString(directory.resolve(OWNER), owner(ProcessHandle.current().pid()));
  }

  /** A process, and what tells it from others with its number; its number stands first. */
  private static String owner(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    // Behind the name, which may have any characters, the 20th is when it was started.
    String started = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19];
    return pid + " " + started + " " + Files.readSymbolicLink(Path.of(NAMESPACE));
  }

  /**
   * Deletes the directories of jobs whose owner was killed. Those of other users, and of processes
   * that cannot be seen from here, are left alone.
   *
   * @param inside as for {@link #create}
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

  private static boolean isDead(Path job) {
    try {
      String owner = Files.readString(job.resolve(OWNER)).strip();
      String[] words = owner.split(" ");
      if (words.length != 3
          || !words[2].equals(Files.readSymbolicLink(Path.of(NAMESPACE)).toString())) {
        return false;
      }
      long pid = Long.parseLong(words[0]);
      return !Files.exists(Path.of("/proc/" + pid)) || !owner.equals(owner(pid));
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
