// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.device.BlockingCall;
import io.talaria.mpj.device.ring.RankPages;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code mpitop} shows of jobs, and of pages of none. */
@Timeout(120)
class MpitopTest {
  private static final String PROGRAMS = Programs.class.getName();

  private record Shown(int status, String text) {}

  private static Shown show(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int status = Mpitop.run(args, new PrintStream(out, true, StandardCharsets.UTF_8));
    return new Shown(status, out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void ranksThatWaitForEachOtherAreShown() throws Exception {
    Launched job =
        Launched.start(
            "-np", "2", "-cp", System.getProperty("java.class.path"), PROGRAMS, "deadlock");
    try {
      Shown shown = show("-dir", job.directory().toString());
      long until = System.nanoTime() + 60_000_000_000L;
      while (!shown.text.contains("in a circle") && System.nanoTime() < until) {
        Thread.sleep(50);
        shown = show("-dir", job.directory().toString());
      }
      assertThat(shown.status).isZero();
      assertThat(shown.text)
          .contains(": 2 ranks, 2 of them on this host and in MPI")
          .containsPattern(
              "rank 0 \\(pid [0-9]+\\) waits in Recv from rank 1, tag 42, communicator 0, since"
                  + " [0-9]+ s; 0 under way, 0 not received")
          .containsPattern("rank 1 \\(pid [0-9]+\\) waits in Recv from rank 0, tag 42")
          .contains("in a circle: 0 waits for 1 waits for 0");
    } finally {
      job.signal("TERM");
      job.ended();
    }
    assertThat(show("-dir", job.directory().toString()).text).isEmpty();
  }

  @Test
  void pagesAreReadAsTheyWereWritten() {
    for (int ranks : new int[] {1, 2, 3, 16, 3500}) {
      assertThat(RankPages.ranks(RankPages.bytes(ranks))).isEqualTo(ranks);
    }
    assertThat(RankPages.ranks(4097)).isZero();
    try (Arena arena = Arena.ofConfined()) {
      RankPages pages = new RankPages(arena.allocate(RankPages.bytes(4), 64), 4);
      assertThat(Mpitop.table("job", pages, 4))
          .containsExactly("job: 4 ranks, none of which has come to MPI.Init here");
      long pid = ProcessHandle.current().pid();
      for (int rank = 0; rank < 3; rank++) {
        pages.process(rank, pid);
      }
      pages.describeWait(0, BlockingCall.SEND, 2, 5, 0, 3, 1);
      pages.describeWait(1, BlockingCall.ANY, 0, 0, 0, 0, 7);
      assertThat(Mpitop.table("job", pages, 4))
          .containsExactly(
              "job: 4 ranks, 3 of them on this host and in MPI",
              "  rank 0 (pid "
                  + pid
                  + ") waits in Send to rank 2, tag 5, communicator 0, since 0 s; 3 under way, 1 not"
                  + " received",
              "  rank 1 (pid " + pid + ") waits in Waitany, since 0 s; 0 under way, 7 not received",
              "  rank 2 (pid " + pid + ") does not wait");
      assertThat(pages.waitsFor(0)).isEqualTo(2);
      assertThat(pages.waitsFor(1)).isEqualTo(-1);
    }
  }

  @Test
  void circlesAreFoundOnce() {
    assertThat(Mpitop.circles(new int[] {-1, 0, 1})).isEmpty();
    assertThat(Mpitop.circles(new int[] {1, 2, 0, 0, 3})).containsExactly(List.of(0, 1, 2));
    assertThat(Mpitop.circles(new int[] {0, 2, 1, 9})).containsExactly(List.of(0), List.of(1, 2));
    assertThat(Mpitop.circles(new int[] {3, 3, 3, 4, 5, 4})).containsExactly(List.of(4, 5));
  }

  @Test
  void theCommandLineIsChecked(@TempDir Path empty) {
    assertThat(show("--help").text).startsWith("Usage: talaria mpitop");
    assertThat(show("-dir", empty.toString()).status).isEqualTo(1);
    assertThat(show("-dir", empty.resolve("no").toString()).status).isEqualTo(1);
    assertThat(show("-watch").status).isEqualTo(2);
    assertThat(show("-watch", "never").status).isEqualTo(2);
    assertThat(show("-all").status).isEqualTo(2);
  }
}
