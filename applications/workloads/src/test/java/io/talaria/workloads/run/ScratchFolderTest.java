// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ScratchFolderTest {
  @Test
  void isGoneWithAllItHolds() throws Exception {
    Path path;
    try (ScratchFolder folder = ScratchFolder.make()) {
      path = folder.path();
      Files.createDirectories(path.resolve("a/b"));
      Files.writeString(path.resolve("a/b/file"), "text");
      assertThat(path).isDirectory();
    }
    assertThat(path).doesNotExist();
  }
}
