// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The library in C that stands for libibverbs and librdmacm in tests: a provider in memory, which
 * reaches no other process. It is built by gcc against the real headers, once for a JVM, and named
 * by the properties of the module verbs, which must not have loaded a library before. Any thread
 * may call any method.
 */
public final class VerbsInMemory {
  private static final String SOURCE = "network/verbs/src/test/c/loopback.c";

  /** As {@code io.talaria.verbs.Verbs} names them, which this module cannot use. */
  private static final String[] PROPERTIES = {"talaria.verbs.library", "talaria.rdmacm.library"};

  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static Optional<String> unavailableReason;
  private static Path library;

  private VerbsInMemory() {}

  /**
   * Builds and names the library, unless that is done.
   *
   * @return why that is not possible, or empty
   */
  public static synchronized Optional<String> prepare() {
    if (unavailableReason == null) {
      unavailableReason = build();
    }
    return unavailableReason;
  }

  /**
   * Returns the library's file.
   *
   * @throws IllegalStateException if {@link #prepare} has not made one
   */
  public static synchronized Path library() {
    if (library == null) {
      throw new IllegalStateException("the library is not built");
    }
    return library;
  }

  private static Optional<String> build() {
    try {
      Path directory = Files.createTempDirectory("talaria-verbs");
      directory.toFile().deleteOnExit();
      Path file = directory.resolve("libloopback.so");
      file.toFile().deleteOnExit(); // before its directory
      ChildProcess gcc =
          ChildProcess.command("gcc", "-shared", "-fPIC", "-O2", "-o", file, source()).run(LIMIT);
      if (gcc.exitStatus() != 0) {
        return Optional.of(
            "gcc or the headers (libibverbs-dev, librdmacm-dev) are missing: "
                + gcc.output().strip());
      }
      library = file;
    } catch (IOException e) {
      return Optional.of("gcc is missing: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("interrupted");
    }
    for (String property : PROPERTIES) {
      System.setProperty(property, library.toString());
    }
    return Optional.empty();
  }

  /** Modules are tested in their folders, programs run in the root of the tree. */
  private static Path source() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve(SOURCE))) {
        return at.resolve(SOURCE);
      }
    }
    throw new UncheckedIOException(
        new IOException("there is no " + SOURCE + " in this directory or above"));
  }
}
