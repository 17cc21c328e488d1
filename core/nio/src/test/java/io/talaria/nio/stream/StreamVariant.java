// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.stream;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.shm.ShmTransport;
import io.talaria.nio.transport.TransportProvider;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The transport on which the contract of streams is tested: the one that the property {@code
 * talaria.test.transport} names, or shared memory.
 */
final class StreamVariant {
  /** The transport's name. */
  static final String NAME = System.getProperty("talaria.test.transport", "shm");

  private static final int RING_BYTES = 32 << 10;
  private static final int MAX_RING_BYTES = 256 << 10;

  private StreamVariant() {}

  /** More than any stream here takes unread. */
  static final int TOO_MUCH = 16 << 20;

  /** The transports of two processes, which are both in this one. */
  record Pair(TransportProvider dialling, TransportProvider accepting) {}

  private static final Pair TRANSPORTS = open();

  static Pair transports() {
    return TRANSPORTS;
  }

  private static Pair open() {
    try {
      if (NAME.equals("shm")) {
        Path directory = Files.createTempDirectory("talaria-streams").resolve("shm");
        directory.getParent().toFile().deleteOnExit();
        directory.toFile().deleteOnExit();
        return new Pair(shm(directory), shm(directory));
      }
      Class<?> transports = Class.forName("io.talaria.nio." + NAME + ".Transports");
      TransportProvider one =
          (TransportProvider) transports.getMethod("open", boolean.class).invoke(null, false);
      return new Pair(one, one);
    } catch (Exception e) {
      throw new IllegalStateException("no transport " + NAME + ": " + e, e);
    }
  }

  private static TransportProvider shm(Path directory) {
    return new ShmTransport(
        new PrivateDirectory(directory, Reason.NO_SHM_DIR), RING_BYTES, MAX_RING_BYTES);
  }
}
