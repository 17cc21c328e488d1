// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryFileTest {
  @TempDir private Path dir;

  private LibraryFile file(String cache) throws Exception {
    Path written = Files.writeString(dir.resolve("ld.so.cache"), cache);
    return new LibraryFile(written, List.of(dir.resolve("none"), dir.resolve("lib")));
  }

  @Test
  void aFileThatTheUserNamesIsThereOrNot() throws Exception {
    LibraryFile file = file("");
    String named = dir.resolve("mine.so").toString();
    assertThat(file.isMissing(named)).isTrue();
    Files.createFile(dir.resolve("mine.so"));
    assertThat(file.isMissing(named)).isFalse();
    assertThat(file.isMissing(dir.toString())).isTrue();
  }

  @Test
  void theCacheOfTheLoaderAndItsFoldersAreLookedThrough() throws Exception {
    assertThat(file("x\0libucp.so.0\0/opt/libucp.so.0\0").isMissing(null)).isFalse();
    LibraryFile file = file("x\0libucp.so.01\0libuct.so.0\0");
    assertThat(file.isMissing(null)).isTrue();
    assertThat(file.isMissing(" ")).isTrue();
    Path below = Files.createDirectories(dir.resolve("lib").resolve("x86_64-linux-gnu"));
    assertThat(file.isMissing(null)).isTrue();
    Files.createFile(below.resolve("libucp.so.0"));
    assertThat(file.isMissing(null)).isFalse();
    Files.delete(below.resolve("libucp.so.0"));
    Files.createFile(dir.resolve("lib").resolve("libucp.so.0"));
    assertThat(file.isMissing(null)).isFalse();
  }

  @Test
  void nothingIsSaidOfALoaderWithoutThatCache() {
    LibraryFile file = new LibraryFile(dir.resolve("none"), List.of());
    assertThat(file.isMissing(null)).isFalse();
  }
}
