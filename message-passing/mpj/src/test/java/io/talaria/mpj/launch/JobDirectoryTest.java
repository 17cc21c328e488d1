// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who may look into a job's directory, and which directories are swept. */
@Timeout(60)
class JobDirectoryTest {
  private static final int NOBODY = 65534;

  @TempDir Path temporary;

  /** One whose owner is no more: another process has its number now. */
  private Path left() throws IOException {
    Path job = JobDirectory.create(temporary.toString());
    JobDirectory.own(job);
    Path owner = job.resolve("owner");
    Files.writeString(owner, Files.readString(owner).replaceFirst(" [0-9]+ ", " 1 "));
    return job;
  }

  private void sweep() {
    JobDirectory.sweep(temporary.toString());
  }

  @Test
  void itIsForItsOwnerAlone() throws Exception {
    Path job = JobDirectory.create(temporary.toString());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(job)))
        .isEqualTo("rwx------");
  }

  @Test
  void whatADeadProcessLeftIsSwept() throws Exception {
    Path job = left();
    Files.createFile(job.resolve("ring-0-1"));
    sweep();
    assertThat(job).doesNotExist();
  }

  @Test
  void whatALivingProcessHasIsNot() throws Exception {
    Path job = JobDirectory.create(temporary.toString());
    sweep();
    assertThat(job).as("which says nothing").exists();
    JobDirectory.own(job);
    sweep();
    assertThat(job).exists();
    Path owner = job.resolve("owner");
    Files.writeString(owner, Files.readString(owner).replaceFirst("pid:\\[[0-9]+\\]", "pid:[1]"));
    sweep();
    assertThat(job).as("of another namespace").exists();
  }

  @Test
  void aDirectoryOfAnotherModeIsNotSwept() throws Exception {
    Path job = left();
    Files.setPosixFilePermissions(job, PosixFilePermissions.fromString("rwxrwxrwx"));
    sweep();
    assertThat(job.resolve("owner")).exists();
  }

  @Test
  void aDirectoryOfAnotherUserIsNotSwept() throws Exception {
    Path job = left();
    assumeThat(Files.getAttribute(job, "unix:uid"))
        .as("needs root, to give a directory away")
        .isEqualTo(0);
    Files.setAttribute(job, "unix:uid", NOBODY);
    sweep();
    assertThat(job.resolve("owner")).exists();
  }

  /** As somebody could put one into a folder that all may write to. */
  @Test
  void aLinkIsNotSwept() throws Exception {
    Path real = Files.move(left(), temporary.resolve("real"));
    Path link = Files.createSymbolicLink(temporary.resolve("talaria-mpj-link"), real);
    sweep();
    assertThat(link).exists();
    assertThat(real.resolve("owner")).exists();
  }
}
