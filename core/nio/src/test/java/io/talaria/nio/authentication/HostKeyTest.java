// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.authentication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files are taken as a key. */
@Timeout(60)
class HostKeyTest {
  @TempDir Path dir;

  private Path file(int bytes, String mode) throws IOException {
    Path file = Files.write(dir.resolve("key"), new byte[bytes]);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @ParameterizedTest
  @ValueSource(strings = {"r--------", "rw-------"})
  void theOwnersFileIsTaken(String mode) throws IOException {
    assertThat(HostKey.read(file(32, mode))).hasSize(32);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-----w-", "rwxrwxrwx"})
  void whatOthersReachIsRefused(String mode) throws IOException {
    Path file = file(32, mode);
    assertThatThrownBy(() -> HostKey.read(file))
        .isInstanceOf(IOException.class)
        .hasMessage(file + " is open to others; run: chmod 600 " + file);
  }

  @Test
  void aShortOneIsRefused() throws IOException {
    Path file = file(31, "rw-------");
    assertThatThrownBy(() -> HostKey.read(file))
        .hasMessage(
            file
                + " has 31 bytes, it must have 32 to 4096; run: head -c 32 /dev/urandom > "
                + file);
  }

  @Test
  void aLongOneIsRefused() throws IOException {
    Path file = file(4097, "rw-------");
    assertThatThrownBy(() -> HostKey.read(file))
        .hasMessageStartingWith(file + " has more than 4096 bytes");
  }

  @Test
  void aDirectoryIsRefused() {
    assertThatThrownBy(() -> HostKey.read(dir)).hasMessage(dir + " is not a file");
  }
}
