// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a process says of itself. */
@Timeout(60)
class HostTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

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

  /** Where /proc is another namespace's, it has other numbers. */
  @Test
  void itsIdIsThatOfItsOwnNamespace() throws Exception {
    String[] inside = {"unshare", "--pid", "--fork"};
    assumeTrue(
        ChildProcess.command("unshare", "--pid", "--fork", "true").run(LIMIT).exitStatus() == 0,
        "needs the right to make a pid namespace");
    ChildProcess child = ChildProcess.jvm(HostTest.class).under(inside).run(LIMIT);
    assertThat(child.out()).as(child.toString()).containsExactly("1 as the JVM has it: 1");
  }

  /** Says which id this process has. */
  public static void main(String[] args) {
    System.out.println(Host.pid() + " as the JVM has it: " + ProcessHandle.current().pid());
  }
}
