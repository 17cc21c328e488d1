// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.ProcessInfo;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The file that says that Talaria is switched on, before there is a channel. */
@Timeout(60)
class StartFileTest {
  private static final InetSocketAddress ADDRESS = new InetSocketAddress("127.0.0.1", 40001);

  @TempDir Path temp;

  @AfterEach
  void remove() {
    StartFile.take(temp.resolve("none"));
  }

  private static List<Path> files(Path dir) throws IOException {
    try (var files = Files.list(dir)) {
      return files.toList();
    }
  }

  @Test
  void itIsReadLikeAnyOtherAndHasNoConnections() throws Exception {
    Path dir = temp.resolve("run");
    StartFile.make(dir, false);
    StartFile.make(dir, false);
    List<ProcessInfo> processes = CountersReader.readDirectory(dir).processes();
    assertThat(processes).hasSize(1);
    assertThat(processes.get(0).pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(processes.get(0).connections()).isEmpty();
    assertThat(files(dir)).containsExactly(processes.get(0).file());
  }

  @Test
  void theFirstChannelTakesItOver() throws Exception {
    Path dir = temp.resolve("run");
    StartFile.make(dir, false);
    List<Path> made = files(dir);
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      counters.connection(Role.CLIENT, ADDRESS, null);
      assertThat(files(dir)).isEqualTo(made).containsExactly(counters.path());
      assertThat(CountersReader.read(counters.path()).connections()).hasSize(1);
    }
    assertThat(files(dir)).isEmpty();
  }

  @Test
  void itGoesIfTheChannelsUseAnotherDirectory() throws Exception {
    Path dir = temp.resolve("run");
    Path other = temp.resolve("other");
    StartFile.make(dir, false);
    Files.createDirectory(
        other,
        java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
            java.nio.file.attribute.PosixFilePermissions.fromString("rwx------")));
    try (ProcessCounters counters = ProcessCounters.open(other, Runnable::run)) {
      assertThat(counters.path()).hasParent(other);
      assertThat(files(dir)).isEmpty();
    }
  }

  @Test
  void itIsMadeAnewIfItWasDeleted() throws Exception {
    Path dir = temp.resolve("run");
    StartFile.make(dir, false);
    Files.delete(files(dir).get(0));
    try (ProcessCounters counters = ProcessCounters.open(dir, Runnable::run)) {
      assertThat(counters.path()).exists();
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeIsNoHarm() {
    StartFile.make(temp.resolve("missing/run"), false);
    assertThat(temp).isEmptyDirectory();
  }
}
