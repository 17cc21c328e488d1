// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.counters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.files.ProcessFileName;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The counters file: written as a whole, removed with its node or after its process. */
class NodeFileTest {
  @TempDir Path parent;
  private Path directory;

  @BeforeEach
  void make() throws IOException {
    directory =
        Files.createDirectory(
            parent.resolve("run"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  @Test
  void theFileHasItsLastLineAndGoesWithItsNode() throws IOException {
    NodeFile file = NodeFile.of(directory, 7);
    assertThat(files()).isEmpty();
    file.write("{1}");
    file.write("{2}");
    assertThat(files()).hasSize(1);
    Path path = files().getFirst();
    assertThat(path.getFileName().toString())
        .startsWith(ProcessHandle.current().pid() + "-")
        .endsWith("-7.messages");
    assertThat(Files.readString(path)).isEqualTo("{2}\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    file.remove();
    assertThat(files()).isEmpty();
  }

  @Test
  void whatAKilledProcessHasLeftIsRemovedAndNothingElse() throws IOException {
    Path dead = directory.resolve("4194305-1-3.messages"); // above the largest process id
    Path elsewhere = directory.resolve("4194305-1-4.messages");
    Path other = directory.resolve("notes.messages");
    Files.writeString(dead, "{" + NodeFile.namespace() + "}");
    Files.writeString(elsewhere, "{\"namespace\":\"pid:[1]\"}");
    Files.writeString(other, "{" + NodeFile.namespace() + "}");
    NodeFile file = NodeFile.of(directory, 7);
    file.write("{" + NodeFile.namespace() + "}");
    NodeFile second = NodeFile.of(directory, 8);
    second.write("{}");
    assertThat(files()).hasSize(4).contains(elsewhere, other).doesNotContain(dead);
  }

  /** Killed before a byte of it was written; found by storm 101 of nodes. */
  @Test
  void whatWasBeingWrittenGoesWithItsProcess() throws Exception {
    Path own = directory.resolve(ProcessFileName.of('m', ProcessFileName.nextId()));
    long ended = ChildProcess.command("true").runSuccessfully(Duration.ofSeconds(20)).pid();
    long pidBits = ProcessFileName.nextId() & ((1L << 42) - 1);
    Path left = directory.resolve(ProcessFileName.of('m', ended << 42 | pidBits));
    Path notes = directory.resolve("more.notes");
    for (Path each : List.of(own, left, notes)) {
      Files.createFile(each);
    }
    NodeFile file = NodeFile.of(directory, 7);
    assertThat(files()).containsExactlyInAnyOrder(own, notes);
    file.write("{1}");
    assertThat(files()).hasSize(3);
  }

  @Test
  void aDirectoryOfOthersIsRefused() throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThatThrownBy(() -> NodeFile.of(directory, 7))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("chmod 700");
  }

  @Test
  void stringsAreJson() {
    assertThat(NodeFile.quoted("a\"b\\c\n\ud800")).isEqualTo("\"a\\\"b\\\\c\\u000a\\ud800\"");
  }
}
