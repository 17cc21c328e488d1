// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The least of what the host has and what control groups allow, with files as Linux has them. */
class HostMemoryTest {
  private static final long MEBI = 1 << 20;

  @TempDir Path root;

  @BeforeEach
  void hostOf24Gibi() throws IOException {
    file("proc/meminfo", "MemTotal:       25165824 kB\nMemFree:        1 kB\n");
  }

  private void file(String name, String content) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  private void limit(long megabytes) {
    assertThat(new HostMemory(root).limit()).isEqualTo(megabytes * MEBI);
  }

  private void versionTwo(String mountedRoot, String group) throws IOException {
    file(
        "proc/self/mountinfo",
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
            + ("35 22 0:30 "
                + mountedRoot
                + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cg rw\n"));
    file("proc/self/cgroup", "0::" + group + "\n");
  }

  @Test
  void withoutGroupsItIsTheHosts() {
    limit(24 * 1024);
  }

  @Test
  void withoutAnyFilesItIsAGuess() throws IOException {
    Files.delete(root.resolve("proc/meminfo"));
    limit(2048);
  }

  @Test
  void theLeastOfGroupsAroundHolds() throws IOException {
    versionTwo("/", "/a.slice/job/step");
    limit(24 * 1024);
    file("sys/fs/cgroup/a.slice/job/step/memory.max", "max\n");
    file("sys/fs/cgroup/a.slice/job/memory.max", (1536 * MEBI) + "\n");
    file("sys/fs/cgroup/a.slice/memory.max", (4096 * MEBI) + "\n");
    limit(1536);
    file("sys/fs/cgroup/a.slice/job/step/memory.max", (512 * MEBI) + "\n");
    limit(512);
  }

  @Test
  void aContainerSeesItsGroupAtTheTop() throws IOException {
    versionTwo("/docker/abc", "/docker/abc/inner");
    file("sys/fs/cgroup/memory.max", (1024 * MEBI) + "\n");
    limit(1024);
    file("sys/fs/cgroup/inner/memory.max", (256 * MEBI) + "\n");
    limit(256);
    versionTwo("/", "/");
    limit(1024);
    versionTwo("/docker/abc", "/../outside");
    limit(1024);
  }

  @Test
  void versionOneHasAFileOfItsOwn() throws IOException {
    file(
        "proc/self/mountinfo",
        "33 22 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
            + "34 22 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    file("proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/job/1\n");
    file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    limit(24 * 1024);
    file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", (2048 * MEBI) + "\n");
    limit(2048);
  }
}
