// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.negotiation.EndedProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransportSweepTest {
  @TempDir Path temporary;

  @Test
  void onlyADirectoryThatIsOursIsSwept() throws Exception {
    Path directory = Files.createDirectory(temporary.resolve("shm"));
    String live = ProcessFileName.digits(ProcessFileName.nextId());
    Path left = Files.createFile(directory.resolve("r" + EndedProcess.digitsLike(live)));
    Path used = Files.createFile(directory.resolve("r" + live));
    ShmTransport transport =
        new ShmTransport(new PrivateDirectory(directory, Reason.NO_SHM_DIR), 4096, 16_384);

    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    transport.sweep();
    assertThat(left).as("in a directory that others may write").exists();

    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    transport.sweep();
    assertThat(left).doesNotExist();
    assertThat(used).exists();
  }
}
