// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What cannot be known does not keep a job from starting; figures are those of RoomTest. */
@Timeout(60)
class InodesTest {
  @Test
  void aFileSystemThatCountsNoneHasNoLimit() {
    assertThat(Inodes.free(Path.of("/proc"))).isEqualTo(Inodes.UNLIMITED);
    assertThat(Inodes.free(Path.of("/no/such/directory"))).isEqualTo(Inodes.UNLIMITED);
  }
}
