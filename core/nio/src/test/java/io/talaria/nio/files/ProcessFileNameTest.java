// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.process.Host;
import io.talaria.testsupport.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whose a file is by its name, and what a sweep may remove. */
@Timeout(60)
class ProcessFileNameTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int PID_SHIFT = 42;
  private static final int NAMESPACE_SHIFT = 32;

  @TempDir Path dir;

  /** The digits of a file that a process of this namespace made. */
  private static String digits(long pid) {
    return digits(pid, 0);
  }

  private static String digits(long pid, int otherNamespace) {
    long own = ProcessFileName.nextId() & ((1L << PID_SHIFT) - 1);
    return ProcessFileName.digits(
        pid << PID_SHIFT | (own ^ ((long) otherNamespace << NAMESPACE_SHIFT)));
  }

  private static long endedPid() throws Exception {
    return ChildProcess.command("true").run(LIMIT).pid();
  }

  @Test
  void aNameHasAPrefixAndSixteenDigitsAndIsNotRepeated() {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      String name = ProcessFileName.of('r', ProcessFileName.nextId());
      assertThat(name).matches("r[0-9a-f]{16}");
      assertThat(ProcessFileName.orphaned(name)).isFalse();
      names.add(name);
    }
    assertThat(names).hasSize(1000);
    assertThat(ProcessFileName.digits(0xab)).isEqualTo("00000000000000ab");
    assertThat(ProcessFileName.digits(-1)).isEqualTo("ffffffffffffffff");
  }

  @Test
  void onlyFilesOfEndedProcessesAreOrphaned() throws Exception {
    long ended = endedPid();
    assertThat(ProcessFileName.orphaned("r" + digits(Host.pid()))).isFalse();
    assertThat(ProcessFileName.orphaned("r" + digits(1))).isFalse();
    assertThat(ProcessFileName.orphaned("r" + digits(ended))).isTrue();
    assertThat(ProcessFileName.orphaned("l-8080-" + digits(ended))).isTrue();
    assertThat(ProcessFileName.orphaned("r" + digits(ended, 1))).as("elsewhere").isFalse();
  }

  @Test
  void aZombieHasEnded() throws Exception {
    // Its child ends when the shell is no more, and nobody asks for its status.
    try (ChildProcess parent =
        ChildProcess.command("sh", "-c", "sleep 1 & echo $!; exec sleep 20").start()) {
      long zombie = Long.parseLong(parent.awaitLine("\\d+", LIMIT).group());
      long deadline = System.nanoTime() + LIMIT.toNanos();
      while (Host.alive(zombie)) {
        assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
        Thread.sleep(5);
      }
      assertThat(Files.exists(Path.of("/proc", Long.toString(zombie)))).isTrue();
    }
  }

  @Test
  void theLiveAreAliveAndTheMissingAreNot() throws Exception {
    assertThat(Host.alive(Host.pid())).isTrue();
    assertThat(Host.alive(1)).isTrue();
    assertThat(Host.alive(endedPid())).isFalse();
    assertThat(Host.alive(1L << 40)).isFalse();
    assertThat(Host.alive(-1)).isFalse();
  }

  @Test
  void aSweepRemovesWhatEndedProcessesLeftAndNothingElse() throws Exception {
    long ended = endedPid();
    Path left = Files.createFile(dir.resolve("r" + digits(ended)));
    Path live = Files.createFile(dir.resolve("r" + digits(Host.pid())));
    Path otherPrefix = Files.createFile(dir.resolve("x" + digits(ended)));
    Path elsewhere = Files.createFile(dir.resolve("r" + digits(ended, 3)));
    Path tooShort = Files.createFile(dir.resolve("r" + digits(ended).substring(1)));
    Path words = Files.createFile(dir.resolve("readme-and-more-words"));

    ProcessFileName.sweep(dir, 'r');

    assertThat(left).doesNotExist();
    assertThat(live).exists();
    assertThat(otherPrefix).exists();
    assertThat(elsewhere).exists();
    assertThat(tooShort).exists();
    assertThat(words).exists();
  }

  @Test
  void aSweepLeavesNamesThatOnlyEndLikeOnes() throws Exception {
    String ended = digits(endedPid());
    Path report = Files.createFile(dir.resolve("report-" + ended));
    Path table = Files.createFile(dir.resolve("table" + ended));
    Path letter = Files.createFile(dir.resolve("letter-1-" + ended));
    Path port = Files.createFile(dir.resolve("l-http-" + ended));

    ProcessFileName.sweep(dir, 'r');
    ProcessFileName.sweep(dir, 't');
    ProcessFileName.sweep(dir, 'l');

    assertThat(report).exists();
    assertThat(table).exists();
    assertThat(letter).exists();
    assertThat(port).exists();
  }

  @Test
  void aSweepOfNothingIsNothing() throws Exception {
    ProcessFileName.sweep(dir.resolve("missing"), 'r');
    ProcessFileName.sweep(Files.createFile(dir.resolve("file")), 'r');
    assertThat(dir.resolve("file")).exists();
  }
}
