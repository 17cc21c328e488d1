// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Reads small files and directories of the system that may not be there. */
public final class SystemFiles {
  private SystemFiles() {}

  /** The content without surrounding white space, or empty. */
  public static String text(Path file) {
    // Not Files.readString: it asks for one byte first, and files below /proc/sys give no more
    // then.
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "";
    }
  }

  /** The lines, or none. */
  public static List<String> lines(Path file) {
    return text(file).lines().toList();
  }

  /** The entries in the order of their names, or none. */
  static List<Path> entries(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.sorted().toList();
    } catch (IOException | UncheckedIOException e) { // such as a process that ends just now
      return List.of();
    }
  }

  /** The number a file holds, or -1. */
  public static long number(Path file) {
    try {
      return Long.parseLong(text(file));
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  /** How much is free in a file system; without a limit, as in a tmpfs of size=0, all of a long. */
  static long freeBytes(FileStore store) throws IOException {
    return store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace();
  }
}
