// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.files.ProcessFileName;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What killed processes have left of their announcements goes with the next one. */
class AnnouncementTest {
  private static final int PID_SHIFT = 42;

  @TempDir Path parent;

  @Test
  void whatAKilledProcessHasLeftIsRemovedFinishedOrNot() throws Exception {
    Path run =
        Files.createDirectory(
            parent.resolve("run"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    ChildProcess process = ChildProcess.command("true").runSuccessfully(Duration.ofSeconds(20));
    long dead = process.pid() << PID_SHIFT;
    long own = ProcessFileName.nextId();
    long gone = dead | (own & ((1L << PID_SHIFT) - 1));
    Path unfinished = Files.createFile(run.resolve(ProcessFileName.of('t', gone)));
    Path finished = Files.createFile(run.resolve("n-77-" + ProcessFileName.digits(gone)));
    Path lives = Files.createFile(run.resolve(ProcessFileName.of('t', own)));
    Announcement announcement = new Announcement(run, 1, 2);
    announcement.open();
    try (Stream<Path> files = Files.list(run)) {
      List<Path> left = files.toList();
      assertThat(left).hasSize(2).contains(lives).doesNotContain(unfinished, finished);
    } finally {
      announcement.channel().close();
    }
  }
}
