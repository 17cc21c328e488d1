// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a process says of itself. */
@Timeout(60)
class HostTest {
  @TempDir Path dir;

  @Test
  void itsIdentityIsTheKernels() throws Exception {
    assertThat(Host.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(Host.uid()).isEqualTo(Files.getAttribute(dir, "unix:uid"));
    assertThat(Host.bootId())
        .isEqualTo(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim())
        .matches("[0-9a-f-]{36}");
    assertThat(Host.networkNamespace()).matches("net:\\[\\d+]");
    assertThat(Host.pidNamespace()).matches("pid:\\[\\d+]");
  }
}
