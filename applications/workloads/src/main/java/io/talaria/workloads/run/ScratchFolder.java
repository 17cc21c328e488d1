// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import io.talaria.cli.harness.HarnessException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A folder for the files of a server, gone when it is closed or this process ends. Close it after
 * the servers. Used by one thread.
 */
public final class ScratchFolder implements AutoCloseable {
  private static final Path IN_MEMORY = Path.of("/dev/shm");
  private static final int TRIES = 20;
  private static final long PAUSE_MS = 50;

  private final Path folder;
  private final Thread atExit;

  private ScratchFolder(Path folder) {
    this.folder = folder;
    this.atExit = new Thread(this::remove, "talaria-scratch-remover");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Makes a folder.
   *
   * @throws HarnessException if it cannot be made
   */
  public static ScratchFolder make() throws HarnessException {
    try {
      return new ScratchFolder(Files.createTempDirectory("talaria-workload-"));
    } catch (IOException e) {
      throw new HarnessException(
          "cannot make a folder in " + System.getProperty("java.io.tmpdir") + ": " + e, e);
    }
  }

  /**
   * Makes a folder in memory, where there is one, else like {@link #make}.
   *
   * @throws HarnessException if it cannot be made
   */
  public static ScratchFolder makeInMemory() throws HarnessException {
    try {
      return new ScratchFolder(Files.createTempDirectory(IN_MEMORY, "talaria-workload-"));
    } catch (IOException e) {
      return make();
    }
  }

  /** Returns the folder. */
  public Path path() {
    return folder;
  }

  @Override
  public void close() {
    remove();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The process ends already, and the hook finds nothing left to do.
    }
  }

  /** Servers that are being killed at the same time may still write: hence several tries. */
  private void remove() {
    for (int i = 0; i < TRIES && Files.exists(folder); i++) {
      try {
        Files.walkFileTree(folder, new Remover());
      } catch (IOException e) {
        try {
          Thread.sleep(PAUSE_MS);
        } catch (InterruptedException interrupted) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path dir, IOException failure) throws IOException {
      Files.deleteIfExists(dir);
      return FileVisitResult.CONTINUE;
    }
  }
}
