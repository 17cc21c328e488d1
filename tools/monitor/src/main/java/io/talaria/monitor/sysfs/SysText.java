// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.monitor.sysfs;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Attributes of one line, and directories. What cannot be read is empty. Any thread may use it. */
public final class SysText {
  /** What the kernel gives for one attribute. */
  private static final int PAGE_BYTES = 4096;

  private SysText() {}

  /**
   * An attribute.
   *
   * @param file its file
   * @return the content without surrounding white space; empty if there is none
   */
  public static String read(Path file) {
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readNBytes(PAGE_BYTES), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * An attribute that is a number.
   *
   * @param file its file
   * @param otherwise what to return if it is none
   * @return the number; hexadecimal after {@code 0x}
   */
  public static long number(Path file, long otherwise) {
    try {
      return Long.decode(read(file));
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }

  /**
   * The entries of a directory.
   *
   * @param directory the directory
   * @return its entries in no order; none if there is no such directory
   */
  public static List<Path> entries(Path directory) {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    } catch (IOException | DirectoryIteratorException e) {
      // What was seen so far is what there is.
    }
    return entries;
  }
}
