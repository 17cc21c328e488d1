// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The counters file that the agent makes before the program starts, so that other programs see that
 * Talaria is switched on here, whether the program ever makes a channel or not. {@link
 * ProcessCounters} takes it over with the first channel.
 *
 * <p>Any thread may call any method; they do file work. The file is removed when the process exits.
 */
public final class StartFile {
  /** Guarded by the class; null before it is made, and again once it is taken over or removed. */
  private static CountersFile file;

  private static Path directory;

  /** Null before the file is made. */
  private static PrivateDirectory prepared;

  private StartFile() {}

  /** No lambda, for which the start of every JVM would pay. */
  private static final class Removal extends Thread {
    Removal() {
      super("talaria-exit");
    }

    @Override
    public void run() {
      exit();
    }
  }

  /**
   * Makes the file, and the directory if its parent exists. Never throws and reports nothing: where
   * it cannot be made, the first channel tries again, and reports that. Not for threads that the
   * program can interrupt.
   *
   * @param dir the run-time directory
   * @param shared whether it may be shared with other process-id namespaces
   */
  public static synchronized void make(Path dir, boolean shared) {
    if (file != null) {
      return;
    }
    try {
      PrivateDirectory made = new PrivateDirectory(dir, Reason.NO_RUNTIME_DIR, shared);
      if (made.prepare() != null) {
        return;
      }
      prepared = made;
      Runtime.getRuntime().addShutdownHook(new Removal());
      file = CountersFile.create(dir);
      directory = dir;
    } catch (IOException | RuntimeException | Error e) {
      // As if it had not been tried; also if the process is exiting already.
    }
  }

  /**
   * Hands the file over, which is the taker's to remove from then on.
   *
   * @param dir the run-time directory, which may be another by now; then the file is removed
   * @return the file, or null if there is none, or it has been deleted
   */
  static synchronized CountersFile take(Path dir) {
    if (file == null || !dir.equals(directory) || !Files.exists(file.path())) {
      remove();
      return null;
    }
    CountersFile taken = file;
    file = null;
    return taken;
  }

  private static synchronized void exit() {
    remove();
    prepared.release();
  }

  private static synchronized void remove() {
    if (file != null) {
      try {
        file.remove();
      } catch (IOException | RuntimeException e) {
        // The next process sweeps it.
      }
      file = null;
    }
  }
}
