// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.connect;

import io.talaria.messaging.NodeOptions;
import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.Host;
import java.nio.file.Path;

/** Where a node keeps its files: as its options say, else as nio's properties, else the default. */
final class RunDirectories {
  private RunDirectories() {}

  /** For announcements and counters. */
  static Path run(NodeOptions options) {
    return choose(options.runDirectory(), "talaria.dir", "/tmp/talaria-");
  }

  /** For rings. */
  static PrivateDirectory shm(NodeOptions options) {
    return new PrivateDirectory(
        choose(options.sharedMemoryDirectory(), "talaria.shm.dir", "/dev/shm/talaria-"),
        Reason.NO_SHM_DIR);
  }

  private static Path choose(Path option, String property, String beginning) {
    if (option != null) {
      return option;
    }
    String value = System.getProperty(property);
    return Path.of(value != null ? value : beginning + Host.uid());
  }
}
