// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.link;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.openucx.jucx.NativeLibs;

/** Whether JUCX is there, and what it takes to load it. Nothing else may touch it before. */
final class Jucx {
  private static final String LIBRARY = "/libjucx.so";

  private Jucx() {}

  /** Returns why JUCX cannot be used, with the hint; nothing if it can be. */
  static Optional<String> unavailableReason() {
    try {
      NativeLibs.load();
      removeUnpacked();
      return Optional.empty();
    } catch (NoClassDefFoundError e) {
      return Optional.of(
          "JUCX is not on the class path; fetch the jar of org.openucx:jucx, such as 1.12.1, from"
              + " Maven Central and name it: --jucx FILE");
    } catch (UnsatisfiedLinkError | IOException e) {
      return Optional.of("JUCX cannot be loaded: " + e.getMessage());
    }
  }

  /**
   * JUCX unpacks its library into a temporary folder, which a JVM that is killed would leave; once
   * loaded, the file is no longer needed.
   */
  private static void removeUnpacked() throws IOException {
    List<Path> files =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.endsWith(LIBRARY))
            .map(line -> Path.of(line.substring(line.indexOf('/'))))
            .distinct()
            .filter(Jucx::isUnpacked)
            .toList();
    for (Path file : files) {
      Files.deleteIfExists(file);
      Files.deleteIfExists(file.getParent());
    }
  }

  private static boolean isUnpacked(Path file) {
    Path folder = file.getParent();
    return folder.getFileName().toString().startsWith("jucx")
        && folder.getParent().equals(Path.of(System.getProperty("java.io.tmpdir")));
  }
}
