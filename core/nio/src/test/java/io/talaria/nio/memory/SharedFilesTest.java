// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.process.Host;
import io.talaria.nio.transport.TransportException;
import java.io.IOException;
import java.nio.file.Path;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What goes wrong with shared files, and that none is left then. */
@Timeout(60)
class SharedFilesTest {
  private static final int BYTES = 8192;
  private static final String NO_MEMORY = "no room in the address space";

  @TempDir Path temporary;

  private Path dir;
  private SharedFiles files;

  @BeforeEach
  void open() {
    dir = temporary.resolve("shm");
    files = new SharedFiles(new PrivateDirectory(dir, Reason.NO_SHM_DIR));
  }

  private static void assertFails(ThrowingCallable call, Reason reason, String text) {
    assertThatThrownBy(call)
        .hasMessageContaining(text)
        .asInstanceOf(InstanceOfAssertFactories.type(TransportException.class))
        .extracting(TransportException::reason)
        .isEqualTo(reason);
  }

  private static Mapping fails() throws IOException {
    throw new IOException(NO_MEMORY);
  }

  private static Mapping isOutOfMemory() {
    throw new OutOfMemoryError(NO_MEMORY);
  }

  /** The kernel reports 0 of 0 blocks for it, as for a tmpfs of size=0 or a ramfs. */
  @Test
  void aFileSystemWithoutALimitIsNotFull() {
    SharedFiles there = new SharedFiles(new PrivateDirectory(Path.of("/proc"), Reason.NO_SHM_DIR));
    assertThat(there.usableBytes()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aFileThatCannotBeMappedHereIsRemoved() {
    assertFails(() -> files.create(BYTES, (file, bytes) -> fails()), Reason.MAP_FAILED, NO_MEMORY);
    assertFails(
        () -> files.create(BYTES, (file, bytes) -> isOutOfMemory()), Reason.MAP_FAILED, NO_MEMORY);
    assertThat(dir).isEmptyDirectory();
  }

  @Test
  void aFileThatCannotBeMappedThereIsRemoved() throws Exception {
    SharedFiles.Created<Mapping> made = files.create(BYTES);
    SharedFiles there = new SharedFiles(new PrivateDirectory(dir, Reason.NO_SHM_DIR));
    assertFails(
        () -> there.open(made.id(), BYTES, 0, (file, bytes) -> fails()),
        Reason.MAP_FAILED,
        NO_MEMORY);
    assertThat(dir).isEmptyDirectory();
    made.mapping().close();
  }

  @Test
  void aFileThatIsNotThereIsOneOfAnotherDirectory() {
    assertFails(() -> files.open(5, BYTES, 0), Reason.OTHER_SHM_DIR, "talaria.shm.dir");
  }

  @Test
  void nothingIsMadeOnceTheProcessExits() throws Exception {
    SharedFiles.Created<Mapping> made = files.create(BYTES);
    assertThat(dir).isNotEmptyDirectory();
    files.removeAll();
    assertThat(dir).isEmptyDirectory();
    assertFails(() -> files.create(BYTES), Reason.CLOSED_EARLY, "exiting");
    assertThat(dir).isEmptyDirectory();
    made.mapping().close();
  }

  @Test
  void anothersFileIsNeitherOpenedNorUnlinked() throws Exception {
    SharedFiles.Created<Mapping> made = files.create(BYTES);
    long other = Host.pid() + 1;
    assertFails(
        () -> files.open(made.id(), BYTES, other),
        Reason.PROTOCOL,
        "is not a file of process " + other);
    assertThat(dir).isNotEmptyDirectory();
    files.open(made.id(), BYTES, Host.pid()).close();
    assertThat(dir).isEmptyDirectory();
    made.mapping().close();
  }
}
