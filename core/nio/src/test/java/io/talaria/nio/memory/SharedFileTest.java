// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules for one file behind shared memory. */
@Timeout(60)
class SharedFileTest {
  @TempDir Path temporary;

  private Path made(int bytes) throws IOException {
    Path path = temporary.resolve("made");
    try (FileChannel file = SharedFile.create(path)) {
      SharedFile.fill(file, bytes, ByteBuffer.allocate(100));
    }
    return path;
  }

  @Test
  void itIsForItsOwnerAloneAndAllZeros() throws Exception {
    Path path = made(250);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    assertThat(Files.readAllBytes(path)).isEqualTo(new byte[250]);
    try (FileChannel file = SharedFile.open(path, 250)) {
      assertThat(file.map(FileChannel.MapMode.READ_WRITE, 0, 250).put((byte) 1)).isNotNull();
    }
    SharedFile.unlink(path);
    assertThat(path).doesNotExist();
    SharedFile.unlink(path);
    assertThatThrownBy(() -> SharedFile.open(path, 0)).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aNameThatIsTakenIsNotUsed() throws Exception {
    Path target = temporary.resolve("target");
    Path link = Files.createSymbolicLink(temporary.resolve("link"), target);
    assertThatThrownBy(() -> SharedFile.create(link))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(target).doesNotExist();
    Path path = made(1);
    assertThatThrownBy(() -> SharedFile.create(path))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aLinkIsNotOpened() throws Exception {
    Path link = Files.createSymbolicLink(temporary.resolve("link"), made(100));
    assertThatThrownBy(() -> SharedFile.open(link, 100)).isInstanceOf(IOException.class);
  }

  @Test
  void whatIsShorterOrNoFileIsRefused() throws Exception {
    Path path = made(99);
    assertThatThrownBy(() -> SharedFile.open(path, 100))
        .isInstanceOf(SharedFile.UnexpectedFileException.class)
        .hasMessage(path + " has 99 bytes, not 100");
    Path pipe = temporary.resolve("pipe");
    ChildProcess unused =
        ChildProcess.command("mkfifo", pipe).runSuccessfully(Duration.ofSeconds(50));
    assertThatThrownBy(() -> SharedFile.open(pipe, 0))
        .isInstanceOf(SharedFile.UnexpectedFileException.class);
  }
}
