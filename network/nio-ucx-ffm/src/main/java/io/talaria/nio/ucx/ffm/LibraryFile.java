// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import io.talaria.ucx.Ucx;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Looks for the file of UCX without loading it: that takes moments, and loading it would be too
 * early, because UCX reads its settings then.
 */
final class LibraryFile {
  private static final String NAME = "libucp.so.0";

  /** Where the loader of glibc looks for what its cache does not have. */
  private static final List<String> FOLDERS = List.of("/lib", "/usr/lib", "/lib64", "/usr/lib64");

  private final Path cache;
  private final List<Path> folders;

  /**
   * Looks where a loader would.
   *
   * @param cache the loader's cache
   * @param folders further folders
   */
  LibraryFile(Path cache, List<Path> folders) {
    this.cache = cache;
    this.folders = folders;
  }

  /** Looks where the loader of this process does. */
  static LibraryFile ofProcess() {
    List<String> folders = new ArrayList<>(FOLDERS);
    String named = System.getenv("LD_LIBRARY_PATH");
    if (named != null) {
      folders.addAll(List.of(named.split("[:;]")));
    }
    return new LibraryFile(
        Path.of("/etc/ld.so.cache"), folders.stream().map(one -> new File(one).toPath()).toList());
  }

  /**
   * Returns whether there is certainly none.
   *
   * @param named the file that the user has named, or null
   */
  boolean isMissing(String named) {
    if (named != null && !named.isBlank()) {
      return !new File(named).isFile();
    }
    try {
      // The names in it end with a zero byte.
      return !Files.readString(cache, StandardCharsets.ISO_8859_1).contains(NAME + "\0")
          && folders.stream().noneMatch(LibraryFile::holdsIt);
    } catch (IOException e) {
      return false; // another loader
    }
  }

  /** Returns whether a folder has it, or one below: Debian has those of an architecture there. */
  private static boolean holdsIt(Path folder) {
    if (Files.exists(folder.resolve(NAME))) {
      return true;
    }
    try (Stream<Path> below = Files.list(folder)) {
      return below.anyMatch(one -> Files.exists(one.resolve(NAME)));
    } catch (IOException e) {
      return false;
    }
  }

  /** The same of what the property names. */
  boolean isMissing() {
    return isMissing(System.getProperty(Ucx.PROPERTY));
  }
}
