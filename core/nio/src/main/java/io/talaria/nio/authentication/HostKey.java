// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import io.talaria.nio.process.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Set;

/** Reads the file of the secret that hosts share. What is in it appears in no message. */
public final class HostKey {
  /** Shorter ones are refused. */
  public static final int MIN_BYTES = 32;

  private static final int MAX_BYTES = 4096;
  private static final Set<PosixFilePermission> OWNERS =
      Set.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private HostKey() {}

  /**
   * Reads a key.
   *
   * @return its bytes, all that the file holds
   * @throws IOException if it cannot be read, is too short or too long, or others may reach it; the
   *     message names the file and what to do
   */
  public static byte[] read(Path file) throws IOException {
    Map<String, Object> found = Files.readAttributes(file, "unix:isRegularFile,uid,permissions");
    if (!found.get("isRegularFile").equals(true)) {
      throw new IOException(file + " is not a file");
    }
    Object owner = found.get("uid");
    if (!owner.equals(Host.uid()) && !owner.equals(0)) {
      throw new IOException(
          Host.uid() == Host.UNKNOWN_UID
              ? file + " cannot be distinguished from other users': " + Host.NO_UID
              : file + " belongs to user id " + owner + ", this process runs as " + Host.uid());
    }
    if (!OWNERS.containsAll((Set<?>) found.get("permissions"))) {
      throw new IOException(file + " is open to others; run: chmod 600 " + file);
    }
    byte[] key;
    try (InputStream in = Files.newInputStream(file)) {
      key = in.readNBytes(MAX_BYTES + 1);
    }
    if (key.length < MIN_BYTES || key.length > MAX_BYTES) {
      throw new IOException(
          file
              + " has "
              + (key.length > MAX_BYTES ? "more than " + MAX_BYTES : key.length)
              + " bytes, it must have "
              + MIN_BYTES
              + " to "
              + MAX_BYTES
              + "; run: head -c "
              + MIN_BYTES
              + " /dev/urandom > "
              + file);
    }
    return key;
  }
}
