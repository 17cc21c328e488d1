// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.bench.harness.SharedMemory.Mappings;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedMemoryTest {
  @Test
  void filesMappedTwiceCountOnce() {
    List<String> lines =
        List.of(
            "7f0000000000-7f0000010000 rw-s 00000000 00:19 42       /dev/shm/talaria-0/r1 (deleted)",
            "7f0000020000-7f0000030000 rw-s 00000000 00:19 42       /dev/shm/talaria-0/r1 (deleted)",
            "7f0000040000-7f0000041000 rw-s 00000000 00:19 43       /dev/shm/talaria-0/r2",
            "7f0000050000-7f0000060000 r-xp 00000000 fe:00 7        /usr/lib/libc.so.6",
            "7f0000070000-7f0000080000 rw-p 00000000 00:00 0 ");

    assertThat(SharedMemory.parse(lines)).isEqualTo(new Mappings(5, 0x11000));
  }

  @Test
  void thisProcessHasMappings() {
    assertThat(SharedMemory.mappings(ProcessHandle.current().pid()).count()).isPositive();
  }
}
