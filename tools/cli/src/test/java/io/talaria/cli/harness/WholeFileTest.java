// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A file is replaced as a whole; what is no file stays what it is. */
@Timeout(60)
class WholeFileTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @TempDir Path dir;

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aPipeStaysAndGetsTheText() throws Exception {
    Path pipe = dir.resolve("pipe");
    ChildProcess made = ChildProcess.command("mkfifo", pipe).runSuccessfully(LIMIT);
    assertThat(made.exitStatus()).isZero();
    try (ChildProcess reader = ChildProcess.command("cat", pipe).start()) {
      WholeFile.write(pipe, "text\n");

      assertThat(Files.isRegularFile(pipe)).isFalse();
      assertThat(reader.awaitSuccess(LIMIT).outText()).isEqualTo("text\n");
    }
    assertThat(names()).containsExactly("pipe");
  }

  @Test
  void aLinkStaysAndItsFileIsReplaced() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "old");
    Path link = Files.createSymbolicLink(dir.resolve("link"), Path.of("file"));

    WholeFile.write(link, "new");

    assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("file"));
    assertThat(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)).isTrue();
    assertThat(file).content().isEqualTo("new");
    assertThat(names()).containsExactly("file", "link");
  }

  @Test
  void aLinkToAFileThatDoesNotExistYetStays() throws Exception {
    Path link = Files.createSymbolicLink(dir.resolve("link"), Path.of("file"));

    WholeFile.write(link, "new");

    assertThat(Files.isSymbolicLink(link)).isTrue();
    assertThat(dir.resolve("file")).content().isEqualTo("new");
  }

  /** As another run that writes the same file has it, or as another user has made it. */
  @Test
  void aTemporaryFileOfAnotherRunIsLeftAlone() throws Exception {
    Path own = Files.writeString(dir.resolve("own"), "own");
    Path link = Files.createSymbolicLink(dir.resolve(".file.new"), own);

    WholeFile.write(dir.resolve("file"), "text");

    assertThat(own).content().isEqualTo("own");
    assertThat(Files.isSymbolicLink(link)).isTrue();
    assertThat(dir.resolve("file")).content().isEqualTo("text");
    assertThat(names()).containsExactly(".file.new", "file", "own");
  }

  @Test
  void aFailureLeavesTheFileAndNothingElse() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "old");

    assertThatThrownBy(() -> WholeFile.write(file, "half of a pair: \ud800"))
        .isInstanceOf(HarnessException.class)
        .hasMessageStartingWith("cannot write " + file);

    assertThat(file).content().isEqualTo("old");
    assertThat(names()).containsExactly("file");
  }
}
