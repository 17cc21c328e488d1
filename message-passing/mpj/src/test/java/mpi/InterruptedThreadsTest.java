// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.ring.RankRings;
import io.talaria.mpj.device.ring.SharedFiles;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads that are interrupted meet their peers as others do, and stay interrupted. */
@Timeout(120)
class InterruptedThreadsTest {
  private static void meet(Intracomm w) {
    Thread.currentThread().interrupt();
    int n = w.Size();
    int[] got = new int[n];
    for (int i = 0; i < n; i++) {
      w.Send(new int[] {w.Rank()}, 0, 1, MPI.INT, i, 1);
    }
    for (int i = 0; i < n; i++) {
      w.Recv(got, i, 1, MPI.INT, i, 1);
      assertThat(got[i]).isEqualTo(i);
    }
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void overSharedFiles() {
    Variant.sharedFiles().run(3, InterruptedThreadsTest::meet);
  }

  @Test
  void overConnections() {
    Variant.nio().run(3, InterruptedThreadsTest::meet);
  }

  @Test
  void onTwoHosts() {
    Variant.auto().run(4, InterruptedThreadsTest::meet);
  }

  private static final class Arrived implements Peers {
    final List<Integer> ranks = new ArrayList<>();

    @Override
    public void arrived(int peer, FrameInput input) {
      ranks.add(peer);
    }

    @Override
    public void fetched(long id) {}

    @Override
    public void gone(int peer, RankGoneException why) {
      throw new AssertionError(why);
    }
  }

  @Test
  void ringThatCouldNotBeMadeOrOpenedIsTriedAgain(@TempDir Path directory) throws Exception {
    SharedFiles.prepare(directory, 2);
    try (RankRings writer = new RankRings(new SharedFiles(directory), 0, 2, 4096);
        RankRings reader = new RankRings(new SharedFiles(directory), 1, 2, 4096)) {
      Path ring = directory.resolve("ring-0-1");
      Path aside = directory.resolve("aside");
      // In the way is what no ring can be made over.
      Files.createDirectory(ring);
      assertThatThrownBy(() -> writer.connect(1)).isInstanceOf(UncheckedIOException.class);
      assertThat(ring).doesNotExist();
      assertThat(writer.connect(1)).isNotNull();
      Files.move(ring, aside);
      Arrived arrived = new Arrived();
      assertThatThrownBy(() -> reader.discover(arrived)).hasMessageContaining("is not there");
      Files.move(aside, ring);
      reader.discover(arrived);
      assertThat(arrived.ranks).containsExactly(0);
    }
  }
}
