// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A process for which there is no {@code /proc}, as in a bare chroot. */
class NoProcTest {
  private static final String WITHOUT_PROC =
      " exec unshare -m sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"' ";

  @TempDir Path work;

  static List<String> javas() {
    return Child.javas();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void saysSoAndStaysOnTcp(String java) throws Exception {
    Path script = work.resolve("java");
    Path libraries = Path.of(java).resolveSibling("../lib"); // found by way of /proc otherwise
    Files.writeString(
        script, "#!/bin/sh\nLD_LIBRARY_PATH=" + libraries + WITHOUT_PROC + java + " \"$@\"\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    assumeTrue(
        Child.run(script.toString(), List.of(), Map.of()).status() == 0,
        "no name space of mounts, or Java does not start in it");
    Child child =
        Child.run(
            script.toString(),
            List.of("-javaagent:" + Child.AGENT),
            Map.of(),
            ReasonsMain.class,
            "no-proc");
    assertThat(child.out())
        .containsExactlyInAnyOrder("listener no-proc", "client no-proc", "accepted no-proc");
    assertThat(child.err())
        .filteredOn(line -> line.startsWith("talaria:") || line.startsWith("Talaria"))
        .containsExactly(
            "talaria: NIO connections stay on TCP: /proc/self cannot be read, so that the user id"
                + " of this process is not known; mount /proc");
    assertThat(Path.of("/tmp/talaria--1")).doesNotExist();
  }
}
