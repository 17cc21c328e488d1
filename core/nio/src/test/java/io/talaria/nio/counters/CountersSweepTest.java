// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static io.talaria.nio.counters.CountersFileFixture.NO_PID;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.Host;
import io.talaria.nio.process.ProcFiles;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Only what is certainly left behind is removed. */
@Timeout(60)
class CountersSweepTest {
  private static final FileTime LONG_AGO = FileTime.from(Instant.parse("2001-01-01T00:00:00Z"));

  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir Path dir;

  private ProcessCounters counters;

  @BeforeEach
  void open() {
    counters = ProcessCounters.open(dir, Runnable::run);
  }

  @AfterEach
  void close() {
    counters.close();
  }

  private Path forge(Consumer<ByteBuffer> change) throws IOException {
    return CountersFileFixture.forge(counters.path(), change);
  }

  private void assertRemoved(Path file) {
    assertThat(ProcessCounters.sweep(dir)).isEqualTo(1);
    assertThat(file).doesNotExist();
    assertThat(counters.path()).exists();
  }

  private void assertKept(Path file) {
    assertThat(ProcessCounters.sweep(dir)).isZero();
    assertThat(file).exists();
  }

  @Test
  void theFileOfALiveProcessStays() {
    assertKept(counters.path());
  }

  @Test
  void theFileOfADeadProcessGoes() throws Exception {
    assertRemoved(forge(b -> CountersFileFixture.setPid(b, NO_PID)));
  }

  @Test
  void theFileOfAProcessWhoseIdIsAnothersNowGoes() throws Exception {
    assertRemoved(forge(b -> b.putLong(CountersLayout.H_START_TICKS, 1)));
  }

  @Test
  void theFileOfADeadProcessOfAnotherVersionGoes() throws Exception {
    assertRemoved(
        forge(
            b -> {
              CountersFileFixture.setPid(b, NO_PID);
              b.putInt(CountersLayout.H_VERSION, 99);
            }));
  }

  @Test
  void theFileOfAnotherPidNamespaceStays() throws Exception {
    assertKept(
        forge(
            b -> {
              CountersFileFixture.setPid(b, NO_PID);
              b.putLong(CountersLayout.H_PID_NAMESPACE, 1);
            }));
  }

  private Path ofAnotherNamespace() throws IOException {
    return forge(
        b -> {
          CountersFileFixture.setPid(b, NO_PID);
          b.putLong(CountersLayout.H_PID_NAMESPACE, 1);
        });
  }

  /** The lock of a process, which nobody holds, that is the one of the file or another. */
  private void leaveLock(Path file, long pidNamespace) throws IOException {
    ByteBuffer header = CountersFileFixture.bytes(file);
    long id = ProcessFileName.nextId() ^ (1L << 42); // of another process id
    ByteBuffer text =
        ByteBuffer.allocate(5 * Long.BYTES)
            .putLong(header.getLong(CountersLayout.H_BOOT_ID_UPPER))
            .putLong(header.getLong(CountersLayout.H_BOOT_ID_LOWER))
            .putLong(pidNamespace)
            .putLong(header.getLong(CountersLayout.H_PID))
            .putLong(header.getLong(CountersLayout.H_START_TICKS));
    Files.write(dir.resolve(ProcessFileName.of('o', id)), text.array());
  }

  @Test
  void theFileOfAnotherPidNamespaceGoesIfItsProcessHoldsItsLockNoMore() throws Exception {
    Path file = ofAnotherNamespace();
    leaveLock(file, 1);
    assertRemoved(file);
  }

  @Test
  void theLockOfAnotherProcessSaysNothing() throws Exception {
    Path file = ofAnotherNamespace();
    leaveLock(file, 2);
    assertKept(file);
  }

  @Test
  void theFileOfAnEarlierBootGoes() throws Exception {
    Path file = forge(b -> b.putLong(CountersLayout.H_BOOT_ID_LOWER, 1));
    Files.setLastModifiedTime(file, LONG_AGO);
    assertRemoved(file);
  }

  @Test
  void aFreshFileOfAnotherBootStays() throws Exception {
    assertKept(forge(b -> b.putLong(CountersLayout.H_BOOT_ID_LOWER, 1)));
  }

  @Test
  void theFileOfAProcessThatNobodyHasWaitedForGoes() throws Exception {
    // The shell becomes a program that never waits for the child it has.
    try (ChildProcess parent =
        ChildProcess.command("sh", "-c", "sleep 0.2 & echo $!; exec sleep 60").start()) {
      long zombie = Long.parseLong(parent.awaitLine("\\d+", LIMIT).group());
      while (ProcFiles.startTicks(zombie) != ProcFiles.NO_PROCESS) {
        Thread.onSpinWait();
      }
      assertThat(Path.of("/proc", Long.toString(zombie))).exists();
      assertRemoved(forge(b -> CountersFileFixture.setPid(b, zombie)));
    }
  }

  @Test
  void aFileWithoutItsNameGoesAtOnceIfItsProcessHasEnded() throws Exception {
    ChildProcess ended = ChildProcess.command("true").run(LIMIT);
    Path own = Files.write(dir.resolve(temporary(Host.pid(), 0)), new byte[0]);
    Path left = Files.write(dir.resolve(temporary(ended.pid(), 0)), new byte[0]);
    Path elsewhere = Files.write(dir.resolve(temporary(ended.pid(), 1L << 32)), new byte[0]);
    ProcessCounters.sweep(dir);
    assertThat(left).doesNotExist();
    assertThat(own).exists();
    assertThat(elsewhere).as("of another pid namespace").exists();
  }

  /** A name that the given process would use for a file that it is making. */
  private static String temporary(long pid, long otherNamespace) {
    long rest = ProcessFileName.nextId() & ((1L << 42) - 1);
    return ProcessFileName.of(CountersFile.TEMPORARY, pid << 42 | (rest ^ otherNamespace));
  }

  @Test
  void anUnfinishedFileStaysUntilItIsOld() throws Exception {
    Path file = Files.write(dir.resolve(NO_PID + "-5.counters"), new byte[10]);
    assertKept(file);
    Files.setLastModifiedTime(file, LONG_AGO);
    assertRemoved(file);
  }

  @Test
  void anUnfinishedFileOfALiveProcessStays() throws Exception {
    Path file =
        Files.write(
            Path.of(counters.path().toString().replace(".counters", "-9.counters")), new byte[10]);
    Files.setLastModifiedTime(file, LONG_AGO);
    assertKept(file);
  }

  @Test
  void whatIsNoCountersFileStays() throws Exception {
    Path socket = Files.write(dir.resolve("l-80-1"), new byte[10]);
    Files.setLastModifiedTime(socket, LONG_AGO);
    assertKept(socket);
    assertThat(ProcessCounters.sweep(dir.resolve("missing"))).isZero();
  }

  @Test
  void aLinkStays() throws Exception {
    Path target = Files.write(dir.resolve("target"), new byte[10]);
    assertKept(Files.createSymbolicLink(dir.resolve(NO_PID + "-6.counters"), target));
  }
}
