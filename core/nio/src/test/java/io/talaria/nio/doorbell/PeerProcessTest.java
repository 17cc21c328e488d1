// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.testsupport.ChildProcess;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process id that a peer tells is believed only if that process has the shared file mapped. */
@Timeout(60)
class PeerProcessTest {
  private static final String NAME = "r0123456789abcdef";

  @TempDir Path dir;

  private final Doorbell doorbell = new DoorbellPool(1).lease();
  private MappedByteBuffer shared;
  private ChildProcess stranger;

  @BeforeEach
  void share() throws Exception {
    Path file = dir.resolve(NAME);
    Files.write(file, new byte[4096]);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      shared = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096);
    }
    Files.delete(file); // as soon as both have mapped it
    stranger = ChildProcess.command("sleep", "60").start();
  }

  @AfterEach
  void end() {
    stranger.close();
    assertThat(shared.get(0)).isZero();
  }

  private PeerProcess process(long pid) {
    return new PeerProcess(pid, NAME);
  }

  @Test
  void theOneThatSharesTheFileIsBelieved() throws Exception {
    PeerDoorbell opened = process(ProcessHandle.current().pid()).open(doorbell.address());
    assertThat(opened.ring()).isTrue();
    opened.close();
  }

  @Test
  void anotherIsNot() {
    assertThatThrownBy(() -> process(stranger.pid()).open(doorbell.address()))
        .isInstanceOf(IOException.class)
        .hasMessage("/proc/" + stranger.pid() + "/maps does not have " + NAME);
  }

  @Test
  void oneThatHasEndedIsNot() {
    stranger.kill();
    assertThatThrownBy(() -> process(stranger.pid()).open(doorbell.address()))
        .isInstanceOf(IOException.class);
  }

  @Test
  void oneThatHasNotToldItsIdIsNot() {
    assertThatThrownBy(() -> process(0).open(doorbell.address()))
        .isInstanceOf(IOException.class)
        .hasMessage("the peer has not sent its process id");
  }

  @Test
  void aFileThatIsNotMappedHereProvesNothing() {
    PeerProcess other = new PeerProcess(ProcessHandle.current().pid(), "rfedcba9876543210");
    assertThatThrownBy(() -> other.open(doorbell.address()))
        .isInstanceOf(IOException.class)
        .hasMessage("rfedcba9876543210 is not mapped here");
  }
}
