// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import io.talaria.nio.config.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What can be said at start of directories that the user has named. Makes nothing. */
final class Directories {
  private static final String SHARED_MEMORY = "shm";

  private Directories() {}

  /**
   * Why no connection can be accelerated, or null if nothing says so. Directories that are not
   * configured are checked at the first connection, to keep the start cheap.
   */
  static String unavailableReason(Config config) {
    String run = unavailableReason(Config.DIR, config.dir());
    return run != null || !config.transports().contains(SHARED_MEMORY)
        ? run
        : unavailableReason(Config.SHM_DIR, config.shmDir());
  }

  private static String unavailableReason(String property, Path directory) {
    if (System.getProperty(property) == null) {
      return null;
    }
    Path there = Files.exists(directory) ? directory : directory.getParent();
    if (there == null || !Files.isDirectory(there)) {
      return property
          + "="
          + directory
          + " cannot be made as long as "
          + there
          + " is no directory";
    }
    return Files.isWritable(there)
        ? null
        : property + "=" + directory + " cannot be used: " + there + " cannot be written";
  }

  /** What is to be said of the shared memory's file system, or null if it is one in memory. */
  static String disk(Config config) {
    Path directory = config.shmDir();
    if (System.getProperty(Config.SHM_DIR) == null
        || !config.transports().contains(SHARED_MEMORY)) {
      return null;
    }
    Path there = Files.exists(directory) ? directory : directory.getParent();
    String type;
    try {
      type = Files.getFileStore(there).type();
    } catch (IOException | RuntimeException e) {
      return null; // the first connection says what is wrong
    }
    return type.equals("tmpfs") || type.equals("ramfs") || type.startsWith("hugetlb")
        ? null
        : Config.SHM_DIR
            + "="
            + directory
            + " is on "
            + type
            + ", whose pages are written to a disk now and then; name a directory on a tmpfs";
  }
}
