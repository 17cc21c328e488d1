// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.launcher;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Set;

/**
 * The project's sources elsewhere, without what was built from them, and commands that use them.
 */
final class SourceCopy {
  private static final Duration LIMIT = Duration.ofMinutes(20);
  private static final Set<String> NOT_SOURCES = Set.of("target", "dist", ".git");

  private SourceCopy() {}

  /** What a command printed on both of its outputs, and its exit status. */
  record Ended(int status, String out) {}

  /** Copies this project's sources into a folder that is made. */
  static void into(Path folder) throws IOException {
    Path from = Path.of("").toAbsolutePath().getParent().getParent();
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes is)
              throws IOException {
            if (NOT_SOURCES.contains(below.getFileName().toString())
                && !below.toString().contains("/src/")) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            Files.createDirectories(folder.resolve(from.relativize(below)));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes is) throws IOException {
            Path copy = folder.resolve(from.relativize(file));
            Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** Runs a command to its end. */
  static Ended run(ChildProcess.Builder command) throws IOException, InterruptedException {
    ChildProcess ended = command.oneOutput().run(LIMIT);
    return new Ended(ended.exitStatus(), ended.outText());
  }
}
