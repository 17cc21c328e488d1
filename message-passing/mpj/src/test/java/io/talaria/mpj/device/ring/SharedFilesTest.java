// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which directory and which files a rank takes for its job's, and what it leaves there. */
@Timeout(60)
class SharedFilesTest {
  private static final int NOBODY = 65534;
  private static final long RING_BYTES = RingLayout.bytes(4096);

  @TempDir Path temporary;

  private Path directory;

  @BeforeEach
  void jobOfTwo() throws Exception {
    directory = Files.createTempDirectory(temporary, "job");
    SharedFiles.prepare(directory, 2);
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void aRingIsForTheOwnerAloneAndGoesOnceItIsOpen() throws Exception {
    assertThat(mode(directory.resolve("pages"))).isEqualTo("rw-------");
    try (SharedFiles writer = new SharedFiles(directory);
        SharedFiles reader = new SharedFiles(directory)) {
      RingLayout.LONG.set(writer.create(0, 1, RING_BYTES), 0L, RingLayout.MAGIC);
      assertThat(mode(directory.resolve("ring-0-1"))).isEqualTo("rw-------");
      assertThat((long) RingLayout.LONG.get(reader.open(0, 1), 0L)).isEqualTo(RingLayout.MAGIC);
      assertThat(directory.resolve("ring-0-1")).doesNotExist();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxrwxrwx", "rwxr-xr-x", "rwx--x---"})
  void aDirectoryThatOthersMayEnterIsRefused(String mode) throws Exception {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
    assertThatThrownBy(() -> new SharedFiles(directory))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(directory + " has mode " + mode + ", not rwx------; ");
  }

  @Test
  void aDirectoryOfAnotherUserIsRefused() throws Exception {
    assumeThat(Files.getAttribute(directory, "unix:uid"))
        .as("needs root, to give a directory away")
        .isEqualTo(0);
    Files.setAttribute(directory, "unix:uid", NOBODY);
    assertThatThrownBy(() -> new SharedFiles(directory))
        .isInstanceOf(IOException.class)
        .hasMessage(directory + " belongs to user id 65534, this process runs as 0");
  }

  @Test
  void aLinkToADirectoryIsRefused() throws Exception {
    Path link = Files.createSymbolicLink(temporary.resolve("link"), directory);
    assertThatThrownBy(() -> new SharedFiles(link))
        .isInstanceOf(IOException.class)
        .hasMessage(link + " is not a directory");
  }

  @Test
  void aRingThatIsALinkOrTooShortIsNotOpened() throws Exception {
    try (SharedFiles reader = new SharedFiles(directory)) {
      Path ring = directory.resolve("ring-0-1");
      Files.createSymbolicLink(ring, directory.resolve("pages"));
      assertThatThrownBy(() -> reader.open(0, 1)).isInstanceOf(UncheckedIOException.class);
      Files.delete(ring);
      Files.write(ring, new byte[(int) RING_BYTES - 1]);
      assertThatThrownBy(() -> reader.open(0, 1))
          .isInstanceOf(UncheckedIOException.class)
          .hasRootCauseMessage(ring + " has " + (RING_BYTES - 1) + " bytes, not " + RING_BYTES);
    }
  }

  @Test
  void aRingIsNotWrittenThroughALink() throws Exception {
    Path target = temporary.resolve("target");
    Path link = directory.resolve("ring-0-1");
    try (SharedFiles writer = new SharedFiles(directory)) {
      Files.createSymbolicLink(link, target);
      assertThatThrownBy(() -> writer.create(0, 1, RING_BYTES))
          .isInstanceOf(UncheckedIOException.class);
      assertThat(target).doesNotExist();
    }
  }
}
