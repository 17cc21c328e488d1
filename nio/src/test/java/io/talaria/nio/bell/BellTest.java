// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.bell;

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

/** Pipes as bells, this process being its own peer. */
@Timeout(60)
class BellTest {
  private static final long PID = ProcessHandle.current().pid();

  @TempDir Path dir;

  private final BellPool pool = new BellPool(2);

  /** Whether it is rung; takes that. */
  private static boolean heard(Bell bell) throws IOException {
    SelectableChannel channel = bell.selectable();
    try (Selector selector = JdkNio.provider().openSelector()) {
      channel.register(selector, SelectionKey.OP_READ);
      boolean rung = selector.selectNow() > 0;
      bell.drain();
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).as("rung after it was drained").isZero();
      return rung;
    }
  }

  @Test
  void aBellIsHeardUntilItIsDrained() throws Exception {
    Bell bell = pool.lease();
    PeerBell opened = PeerBell.open(PID, bell.address());
    assertThat(heard(bell)).isFalse();

    assertThat(opened.ring()).isTrue();
    assertThat(opened.ring()).isTrue();

    assertThat(heard(bell)).isTrue();
    opened.close();
    assertThat(heard(bell)).as("after its ringer has gone").isFalse();
  }

  @Test
  void aFullBellIsRefusedAndHeardAllTheSame() throws Exception {
    Bell bell = pool.lease();
    PeerBell opened = PeerBell.open(PID, bell.address());
    int bytes = 0;
    while (opened.ring()) {
      bytes++;
    }
    assertThat(bytes).isPositive();
    assertThat(opened.ring()).isFalse();

    bell.drain();

    assertThat(opened.ring()).isTrue();
    opened.close();
    while (bytes > 0) {
      bell.drain();
      bytes -= 4096;
    }
    assertThat(heard(bell)).isFalse();
  }

  @Test
  void thePoolGivesNoMoreThanItsLimitAndLendsAgainWhatComesBack() {
    Bell first = pool.lease();
    Bell second = pool.lease();
    assertThat(pool.lease()).isNull();

    pool.giveBack(first);

    assertThat(pool.lease()).isSameAs(first).isNotSameAs(second);
  }

  @Test
  void anotherPipeOfThatNumberIsNotOpened() throws Exception {
    Bell bell = pool.lease();
    Bell other = pool.lease();
    BellAddress wrong = new BellAddress(bell.address().descriptor(), other.address().inode());

    assertThatThrownBy(() -> PeerBell.open(PID, wrong))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is pipe " + bell.address().inode());
    assertThat(heard(bell)).isFalse();
  }

  @Test
  void aFileOfThatNumberIsNeitherOpenedNorEmptied() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "content");
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      BellAddress wrong = new BellAddress(JdkNio.descriptor(open.getFD()), 1);

      assertThatThrownBy(() -> PeerBell.open(PID, wrong))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("is no pipe but " + file);
    }
    assertThat(file).hasContent("content");
  }

  @Test
  void aNumberThatIsNotOpenIsRefused() {
    assertThatThrownBy(() -> PeerBell.open(PID, new BellAddress(1 << 30, 1)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aClosedBellIsNotRung() throws Exception {
    Bell bell = pool.lease();
    PeerBell opened = PeerBell.open(PID, bell.address());
    opened.close();

    assertThat(opened.ring()).isFalse();
    assertThat(heard(bell)).isFalse();
  }

  /** What gets the number of a descriptor that is closed must not get a ringer's byte. */
  @Test
  void noByteGoesIntoAFileThatGetsTheNumber() throws Exception {
    Bell bell = pool.lease();
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong rounds = new AtomicLong();
    PeerBell[] current = new PeerBell[] {PeerBell.open(PID, bell.address())};
    List<Thread> ringers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread ringer =
          new Thread(
              () -> {
                while (!over.get()) {
                  PeerBell now;
                  synchronized (current) {
                    now = current[0];
                  }
                  for (int j = 0; j < 20; j++) {
                    boolean unused = now.ring();
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
        PeerBell next = PeerBell.open(PID, bell.address());
        PeerBell before;
        synchronized (current) {
          before = current[0];
          current[0] = next;
        }
        before.close();
        FileChannel[] files = new FileChannel[4];
        for (int j = 0; j < files.length; j++) {
          files[j] = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }
        bell.drain();
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
