// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jucx;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The release of the libucp that this process has loaded, which JUCX does not tell: what the
 * library's file says of itself.
 */
final class LoadedLibrary {
  private static final Path MAPPINGS = Path.of("/proc/self/maps");
  private static final Pattern LIBRARY = Pattern.compile("\\s(/\\S*/libucp\\.so\\S*)");

  /** Text that ends behind three numbers, as in C. */
  private static final Pattern RELEASE =
      Pattern.compile("(?<![.\\d])(1\\.\\d{1,2}\\.\\d{1,2})\\x00");

  private static final long MAX_BYTES = 64 << 20;

  private LoadedLibrary() {}

  /** Three numbers, or nothing if they cannot be found. */
  static String release() {
    try {
      Matcher library = LIBRARY.matcher(Files.readString(MAPPINGS, StandardCharsets.ISO_8859_1));
      return library.find() ? release(Path.of(library.group(1))) : "";
    } catch (IOException | InvalidPathException e) {
      return "";
    }
  }

  /** As {@link #release()}, of a file. */
  static String release(Path library) throws IOException {
    if (Files.size(library) > MAX_BYTES) {
      return "";
    }
    Matcher found =
        RELEASE.matcher(new String(Files.readAllBytes(library), StandardCharsets.ISO_8859_1));
    return found.find() ? found.group(1) : "";
  }
}
