// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.doorbell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.jdk.JdkNio;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Pipes as doorbells, this process being its own peer. */
@Timeout(60)
class DoorbellTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir Path dir;

  private final DoorbellPool pool = new DoorbellPool(2);

  /** Whether it is rung; takes that. */
  private static boolean heard(Doorbell doorbell) throws IOException {
    SelectableChannel channel = doorbell.selectable();
    try (Selector selector = JdkNio.provider().openSelector()) {
      channel.register(selector, SelectionKey.OP_READ);
      boolean rung = selector.selectNow() > 0;
      doorbell.drain();
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).as("rung after it was drained").isZero();
      return rung;
    }
  }

  @Test
  void aDoorbellIsHeardUntilItIsDrained() throws Exception {
    Doorbell doorbell = pool.lease();
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    assertThat(heard(doorbell)).isFalse();

    assertThat(opened.ring()).isTrue();
    assertThat(opened.ring()).isTrue();

    assertThat(heard(doorbell)).isTrue();
    opened.close();
    assertThat(heard(doorbell)).as("after its ringer has gone").isFalse();
  }

  @Test
  void aFullDoorbellIsRefusedAndHeardAllTheSame() throws Exception {
    Doorbell doorbell = pool.lease();
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    int bytes = 0;
    while (opened.ring()) {
      bytes++;
    }
    assertThat(bytes).isPositive();
    assertThat(opened.ring()).isFalse();

    doorbell.drain();

    assertThat(opened.ring()).isTrue();
    opened.close();
    while (bytes > 0) {
      doorbell.drain();
      bytes -= 4096;
    }
    assertThat(heard(doorbell)).isFalse();
  }

  @Test
  void thePoolGivesNoMoreThanItsLimitAndLendsAgainWhatComesBack() {
    Doorbell first = pool.lease();
    Doorbell second = pool.lease();
    assertThat(pool.lease()).isNull();

    pool.giveBack(first);

    assertThat(pool.lease()).isSameAs(first).isNotSameAs(second);
  }

  @Test
  void anotherPipeOfThatNumberIsNotOpened() throws Exception {
    Doorbell doorbell = pool.lease();
    Doorbell other = pool.lease();
    DoorbellAddress wrong =
        new DoorbellAddress(doorbell.address().descriptor(), other.address().inode());

    assertThatThrownBy(() -> PeerDoorbell.open(PID, wrong))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is pipe " + doorbell.address().inode());
    assertThat(heard(doorbell)).isFalse();
  }

  @Test
  void aFileOfThatNumberIsNeitherOpenedNorEmptied() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "content");
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      DoorbellAddress wrong = new DoorbellAddress(JdkNio.descriptor(open.getFD()), 1);

      assertThatThrownBy(() -> PeerDoorbell.open(PID, wrong))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is no pipe but " + file);
    }
    assertThat(file).hasContent("content");
  }

  @Test
  void aNumberThatIsNotOpenIsRefused() {
    assertThatThrownBy(() -> PeerDoorbell.open(PID, new DoorbellAddress(1 << 30, 1)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aClosedDoorbellIsNotRung() throws Exception {
    Doorbell doorbell = pool.lease();
    PeerDoorbell opened = PeerDoorbell.open(PID, doorbell.address());
    opened.close();

    assertThat(opened.ring()).isFalse();
    assertThat(heard(doorbell)).isFalse();
  }

  /** What gets the number of a descriptor that is closed must not get a ringer's byte. */
  @Test
  void noByteGoesIntoAFileThatGetsTheNumber() throws Exception {
    Doorbell doorbell = pool.lease();
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong rounds = new AtomicLong();
    PeerDoorbell[] current = new PeerDoorbell[] {PeerDoorbell.open(PID, doorbell.address())};
    List<Thread> ringers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread ringer =
          new Thread(
              () -> {
                while (!over.get()) {
                  PeerDoorbell now;
                  synchronized (current) {
                    now = current[0];
                  }
                  for (int j = 0; j < 20; j++) {
                    now.ring();
                  }
                  rounds.incrementAndGet();
                }
              },
              "ringer " + i);
      ringers.add(ringer);
      ringer.start();
    }
    Path file = dir.resolve("file");
    try {
      for (int i = 0; i < 500 || rounds.get() < 500; i++) {
        PeerDoorbell next = PeerDoorbell.open(PID, doorbell.address());
        PeerDoorbell before;
        synchronized (current) {
          before = current[0];
          current[0] = next;
        }
        before.close();
        FileChannel[] files = new FileChannel[4];
        for (int j = 0; j < files.length; j++) {
          files[j] = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }
        doorbell.drain();
        for (FileChannel each : files) {
          assertThat(each.size()).as("round %d", i).isZero();
          each.close();
        }
      }
    } finally {
      over.set(true);
      for (Thread ringer : ringers) {
        ringer.join(TimeUnit.SECONDS.toMillis(20));
      }
    }
    current[0].close();
    assertThat(file).isEmptyFile();
  }
}
