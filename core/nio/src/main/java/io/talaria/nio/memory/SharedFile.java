// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The rules for one file behind shared memory, which is in a private directory: it is created
 * exclusively and for its owner alone, filled with zeros before anyone maps it, opened without
 * following a link, and unlinked as soon as both sides have mapped it.
 */
public final class SharedFile {
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** A file that exists and is not what the peer should have made. */
  public static final class UnexpectedFileException extends IOException {
    private static final long serialVersionUID = 1;

    UnexpectedFileException(String message) {
      super(message);
    }
  }

  private SharedFile() {}

  /**
   * Creates a file, still empty.
   *
   * @throws IOException if it cannot be made, or the name is taken, even by a link
   */
  public static FileChannel create(Path path) throws IOException {
    return FileChannel.open(
        path,
        Set.of(
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS),
        OWNER_ONLY);
  }

  /**
   * Writes zeros, so that a full file system shows here and not as a fault in mapped memory.
   *
   * @param zeros written again and again; its position and limit change
   */
  public static void fill(FileChannel file, long bytes, ByteBuffer zeros) throws IOException {
    for (long at = 0; at < bytes; ) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - at));
      at += file.write(zeros, at);
    }
  }

  /**
   * Opens a file that the peer created.
   *
   * @param bytes how long it is at least
   * @throws UnexpectedFileException if it is shorter, or is not a regular file
   * @throws IOException if it cannot be opened, or is a link
   */
  public static FileChannel open(Path path, long bytes) throws IOException {
    FileChannel file =
        FileChannel.open(
            path,
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
    try {
      if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) || file.size() < bytes) {
        throw new UnexpectedFileException(path + " has " + file.size() + " bytes, not " + bytes);
      }
      return file;
    } catch (IOException | RuntimeException e) {
      try (file) {
        throw e;
      }
    }
  }

  /** Unlinks a file if it is there. One that stays is harmless, and swept later. */
  public static void unlink(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // Swept later.
    }
  }
}
