// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.stream;

import io.talaria.nio.Reason;
import io.talaria.nio.fabric.Fabric;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.shm.ShmFabric;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The fabric on which the contract of streams is tested: the one that the property {@code
 * talaria.test.fabric} names, or shared memory.
 */
final class StreamGround {
  /** The fabric's name. */
  static final String NAME = System.getProperty("talaria.test.fabric", "shm");

  private static final int RING_BYTES = 32 << 10;
  private static final int MAX_RING_BYTES = 256 << 10;

  private StreamGround() {}

  /** More than any stream here takes unread. */
  static final int TOO_MUCH = 16 << 20;

  /** The fabrics of two processes, which are both in this one. */
  record Pair(Fabric dialling, Fabric accepting) {}

  private static final Pair FABRICS = open();

  static Pair fabrics() {
    return FABRICS;
  }

  private static Pair open() {
    try {
      if (NAME.equals("shm")) {
        Path directory = Files.createTempDirectory("talaria-streams").resolve("shm");
        directory.getParent().toFile().deleteOnExit();
        directory.toFile().deleteOnExit();
        return new Pair(shm(directory), shm(directory));
      }
      Class<?> fabrics = Class.forName("io.talaria.nio." + NAME + ".Fabrics");
      Fabric one = (Fabric) fabrics.getMethod("open", boolean.class).invoke(null, false);
      return new Pair(one, one);
    } catch (Exception e) {
      throw new IllegalStateException("no fabric " + NAME + ": " + e, e);
    }
  }

  private static Fabric shm(Path directory) {
    return new ShmFabric(
        new PrivateDirectory(directory, Reason.NO_SHM_DIR), RING_BYTES, MAX_RING_BYTES);
  }
}
