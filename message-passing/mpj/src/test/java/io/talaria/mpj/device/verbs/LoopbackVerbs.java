// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import io.talaria.verbs.Verbs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Where verbs come from in tests: from the provider in memory that the tests of the module verbs
 * have, which reaches no other process, or, with {@code -Dtalaria.verbs.variant=device}, from a
 * device of this host.
 */
public final class LoopbackVerbs {
  private static final boolean DEVICE =
      "device".equals(System.getProperty("talaria.verbs.variant"));
  private static final String SOURCE = "network/verbs/src/test/c/loopback.c";
  private static String unavailableReason;

  private LoopbackVerbs() {}

  /** Whether a device is used, which may be one of an emulated machine. */
  public static boolean isDevice() {
    return DEVICE;
  }

  /** Makes verbs available to this JVM; gives why that is not possible, or an empty text. */
  public static synchronized String prepare() {
    if (unavailableReason == null) {
      try {
        unavailableReason = DEVICE ? Verbs.unavailableReason().orElse("") : build();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    return unavailableReason;
  }

  private static Path source() throws IOException {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve(SOURCE))) {
        return at.resolve(SOURCE);
      }
    }
    throw new IOException("no " + SOURCE + " in a directory above");
  }

  private static String build() throws IOException, InterruptedException {
    Path library = Files.createTempDirectory("talaria-mpj").resolve("libloopback.so");
    Process gcc =
        new ProcessBuilder(
                "gcc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source().toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!gcc.waitFor(120, TimeUnit.SECONDS) || gcc.exitValue() != 0) {
      return "gcc or the headers (libibverbs-dev, librdmacm-dev) are missing: " + said.strip();
    }
    System.setProperty(Verbs.LIBRARY_PROPERTY, library.toString());
    System.setProperty(Verbs.CM_LIBRARY_PROPERTY, library.toString());
    library.toFile().deleteOnExit();
    library.getParent().toFile().deleteOnExit();
    return "";
  }
}
