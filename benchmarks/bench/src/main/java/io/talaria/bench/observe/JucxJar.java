// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.observe;

import java.io.IOException;
import java.nio.file.Path;
import java.util.jar.JarFile;

/** Tells the jar of JUCX from other files. */
final class JucxJar {
  private static final String ENTRY = "org/openucx/jucx/ucp/UcpWorker.class";

  private JucxJar() {}

  static boolean isOne(Path file) {
    try (JarFile jar = new JarFile(file.toFile())) {
      return jar.getEntry(ENTRY) != null;
    } catch (IOException e) {
      return false;
    }
  }
}
