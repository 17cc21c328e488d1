// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import io.talaria.nio.privileged.Privileged;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What /proc says of descriptors, this process's and others'. */
final class OpenDescriptors {
  private static final String LIMIT = "Max open files";
  private static final long LIMIT_IF_UNKNOWN = 1024;
  private static final String PIPE = "pipe:[";

  private OpenDescriptors() {}

  /** Where a descriptor of a process is. */
  static Path path(long pid, int descriptor) {
    return Path.of("/proc/" + pid + "/fd/" + descriptor);
  }

  /** Where a descriptor of this process is. */
  static Path ownPath(int descriptor) {
    return Path.of("/proc/self/fd/" + descriptor);
  }

  /**
   * Which pipe a descriptor of this process is one end of.
   *
   * @throws IOException if it is none, or that cannot be found out
   */
  static long ownPipe(int descriptor) throws IOException {
    return pipe(ownPath(descriptor));
  }

  /**
   * Which pipe a descriptor is one end of. Opens nothing: a named pipe without a reader would hang
   * the thread that opens it, and opening a device has effects.
   *
   * @throws IOException if it is none, or that cannot be found out
   */
  static long pipe(Path descriptor) throws IOException {
    String link = Files.readSymbolicLink(descriptor).toString();
    if (!link.startsWith(PIPE) || !link.endsWith("]")) {
      throw new IOException(descriptor + " is no pipe but " + link);
    }
    try {
      return Long.parseLong(link.substring(PIPE.length(), link.length() - 1));
    } catch (NumberFormatException e) {
      throw new IOException(descriptor + " is " + link, e);
    }
  }

  /** How many descriptors this process may have. */
  static long limit() {
    try {
      return Privileged.call(OpenDescriptors::readLimit);
    } catch (IOException | NumberFormatException | SecurityException e) {
      return LIMIT_IF_UNKNOWN;
    }
  }

  private static long readLimit() throws IOException {
    try (BufferedReader limits =
        Files.newBufferedReader(Path.of("/proc/self/limits"), StandardCharsets.ISO_8859_1)) {
      for (String line = limits.readLine(); line != null; line = limits.readLine()) {
        if (line.startsWith(LIMIT)) {
          String soft = line.substring(LIMIT.length()).trim().split(" ", 2)[0];
          return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
        }
      }
    }
    return LIMIT_IF_UNKNOWN;
  }
}
