// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.counters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.file.CountersFormatException;
import io.talaria.nio.counters.file.CountersLayout;
import io.talaria.nio.counters.file.Liveness;
import io.talaria.nio.counters.reader.CountersReader;
import io.talaria.nio.counters.reader.DirectoryReport;
import io.talaria.nio.counters.reader.ProcessInfo;
import io.talaria.nio.process.ProcFiles;
import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The reading side: what is wrong is said, and who is dead is left out. */
@Timeout(60)
class CountersReaderTest {
  @TempDir Path dir;

  private ProcessCounters counters;
  private ConnectionCounters connection;

  @BeforeEach
  void open() {
    counters = ProcessCounters.open(dir, Runnable::run);
    connection = counters.connection(Role.CLIENT, null, null);
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, "ring");
  }

  @AfterEach
  void close() {
    counters.close();
  }

  private Path forge(Consumer<ByteBuffer> change) throws IOException {
    return CountersFileFixture.forge(counters.path(), change);
  }

  private void assertRefused(Consumer<ByteBuffer> change, String... words) throws IOException {
    Path file = forge(change);
    assertThatThrownBy(() -> CountersReader.read(file))
        .isInstanceOf(CountersFormatException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContainingAll(words);
  }

  private static int record(int field) {
    return CountersLayout.HEADER_BYTES + field;
  }

  @Test
  void aDirectoryThatIsMissingHoldsNobody() throws Exception {
    DirectoryReport report = CountersReader.readDirectory(dir.resolve("missing"));
    assertThat(report.processes()).isEmpty();
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void otherFilesOfTheDirectoryAreNotTouched() throws Exception {
    Files.writeString(dir.resolve("l-9092-17"), "x");
    Files.writeString(dir.resolve("notes.counters"), "x");
    DirectoryReport report = CountersReader.readDirectory(dir);
    assertThat(report.processes()).hasSize(1);
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void deadProcessesAreLeftOut() throws Exception {
    forge(bytes -> CountersFileFixture.setPid(bytes, CountersFileFixture.NO_PID));
    forge(bytes -> bytes.putLong(CountersLayout.H_START_TICKS, 1));
    assertThat(CountersReader.readDirectory(dir).processes()).hasSize(1);
    assertThat(CountersReader.readDirectory(dir).problems()).isEmpty();
  }

  @Test
  void livenessIsJudgedByBootNamespaceAndStartTime() throws Exception {
    assertThat(CountersReader.read(counters.path()).liveness()).isEqualTo(Liveness.LIVE);
    assertThat(
            CountersReader.read(
                    forge(b -> CountersFileFixture.setPid(b, CountersFileFixture.NO_PID)))
                .liveness())
        .isEqualTo(Liveness.DEAD);
    assertThat(
            CountersReader.read(forge(b -> b.putLong(CountersLayout.H_START_TICKS, 1))).liveness())
        .isEqualTo(Liveness.DEAD);
    assertThat(
            CountersReader.read(forge(b -> b.putLong(CountersLayout.H_PID_NAMESPACE, 1)))
                .liveness())
        .isEqualTo(Liveness.OTHER_NAMESPACE);
    assertThat(
            CountersReader.read(forge(b -> b.putLong(CountersLayout.H_BOOT_ID_LOWER, 1)))
                .liveness())
        .isEqualTo(Liveness.OTHER_BOOT);
  }

  @Test
  void aProcessThatEndedIsDead() throws Exception {
    try (ChildProcess process = ChildProcess.command("sleep", "30").start()) {
      long startTicks = ProcFiles.startTicks(process.pid());
      UUID boot = ProcFiles.bootId();
      long namespace = ProcFiles.pidNamespace();
      assertThat(Liveness.of(process.pid(), startTicks, namespace, boot)).isEqualTo(Liveness.LIVE);
      process.kill();
      assertThat(Liveness.of(process.pid(), startTicks, namespace, boot)).isEqualTo(Liveness.DEAD);
    }
  }

  @Test
  void aProblemOfOneFileDoesNotHideTheOthers() throws Exception {
    Files.write(dir.resolve("17-4.counters"), new byte[9]);
    DirectoryReport report = CountersReader.readDirectory(dir);
    assertThat(report.processes()).hasSize(1);
    assertThat(report.problems())
        .singleElement()
        .asString()
        .contains("17-4.counters")
        .contains("only 9 bytes, but a header has 4096");
  }

  @Test
  void everyTruncationIsSaid() throws Exception {
    byte[] whole = Files.readAllBytes(counters.path());
    Path file = dir.resolve(counters.path().getFileName().toString().replace(".", "-3."));
    for (int length = 0; length < whole.length; length += 509) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> CountersReader.read(file))
          .isInstanceOf(CountersFormatException.class)
          .hasMessageMatching(".*(only \\d+ bytes|does not fit into its \\d+ bytes).*");
    }
  }

  @Test
  void aWrongHeaderIsSaid() throws Exception {
    assertRefused(b -> b.put(0, (byte) 'X'), "unexpected magic");
    assertRefused(b -> b.putInt(CountersLayout.H_VERSION, 2), "unexpected version 2 instead of 1");
    assertRefused(b -> b.putInt(CountersLayout.H_HEADER_BYTES, 1), "unexpected header length 1");
    assertRefused(b -> b.putInt(CountersLayout.H_RECORD_BYTES, 0), "unexpected record length 0");
    assertRefused(b -> b.putInt(CountersLayout.H_CAPACITY, -1), "capacity -1 is not within");
    assertRefused(b -> b.putInt(CountersLayout.H_CAPACITY, 1 << 30), "is not within 0 and 65536");
    assertRefused(b -> b.putInt(CountersLayout.H_CAPACITY, 65536), "does not fit into its");
    assertRefused(b -> b.putInt(CountersLayout.H_USED, -1), "records used -1");
    assertRefused(b -> b.putInt(CountersLayout.H_USED, 257), "records used 257", "capacity 256");
    assertRefused(
        b -> b.putShort(CountersLayout.H_PROGRAM, (short) -1), "text of 65535 bytes at 1280");
  }

  @Test
  void aFileUnderAnotherProcessesNameIsRefused() throws Exception {
    Path file = Files.copy(counters.path(), dir.resolve("1-1.counters"));
    assertThatThrownBy(() -> CountersReader.read(file))
        .isInstanceOf(CountersFormatException.class)
        .hasMessageContaining("unexpected process id");
  }

  @Test
  void linksAndPipesAreRefused() throws Exception {
    Path link = Files.createSymbolicLink(dir.resolve("1-2.counters"), counters.path());
    assertThatThrownBy(() -> CountersReader.read(link)).hasMessageContaining("not a regular file");
    Path pipe = dir.resolve("1-3.counters");
    ChildProcess.command("mkfifo", pipe).runSuccessfully(Duration.ofSeconds(10));
    assertThatThrownBy(() -> CountersReader.read(pipe)).hasMessageContaining("not a regular file");
    assertThat(CountersReader.readDirectory(dir).problems()).hasSize(2);
  }

  @Test
  void recordsThatMakeNoSenseAreCountedAndLeftOut() throws Exception {
    Consumer<ByteBuffer> role = b -> b.put(record(CountersLayout.R_ROLE), (byte) 99);
    Consumer<ByteBuffer> transport = b -> b.put(record(CountersLayout.R_TRANSPORT), (byte) 0);
    Consumer<ByteBuffer> reason = b -> b.putShort(record(CountersLayout.R_REASON), (short) 999);
    Consumer<ByteBuffer> state = b -> b.putInt(record(CountersLayout.R_STATE), 77);
    Consumer<ByteBuffer> text = b -> b.put(record(CountersLayout.R_DETAIL), (byte) 40);
    Consumer<ByteBuffer> odd = b -> b.putInt(record(CountersLayout.R_VERSION), 7);
    for (Consumer<ByteBuffer> change : Arrays.asList(role, transport, reason, state, text, odd)) {
      ProcessInfo read = CountersReader.read(forge(change));
      assertThat(read.damaged()).isEqualTo(1);
      assertThat(read.connections()).isEmpty();
    }
  }

  @Test
  void nothingInAFileReachesTheTerminalAsAControlCharacter() throws Exception {
    String hostile = "a\u001b[2Jb\nc\u202ed\u0000e\u009bf";
    connection.transport(NioTransport.SHM, Reason.SAME_HOST, hostile);
    Path file =
        forge(
            b ->
                CountersLayout.putHeaderText(
                    b, CountersLayout.H_PROGRAM, CountersLayout.PROGRAM_BYTES, hostile));
    ProcessInfo read = CountersReader.read(file);
    assertThat(read.program()).isEqualTo("a?[2Jb?c?d?e?f");
    assertThat(read.connections().get(0).detail()).isEqualTo("a?[2Jb?c?d?e?f");
  }

  @Test
  void bytesThatAreNoUtf8DoNoHarm() throws Exception {
    Path file =
        forge(
            b -> {
              b.putShort(CountersLayout.H_PROGRAM, (short) 3);
              b.put(CountersLayout.H_PROGRAM + 2, (byte) 0xC3);
              b.put(CountersLayout.H_PROGRAM + 3, (byte) 0xFF);
              b.put(CountersLayout.H_PROGRAM + 4, (byte) 'x');
            });
    assertThat(CountersReader.read(file).program()).endsWith("x");
  }
}
