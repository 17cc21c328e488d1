// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which messages go without waiting for their receiver, as docs/mpj.md says. */
@Timeout(60)
class EagerTest {
  private static final int QUARTER = 1024;
  private static final int DATA = 1;
  private static final int GO = 2;

  static Stream<Variant> variants() {
    return Stream.of(
        Variant.threads().with("ring", 4 * QUARTER),
        Variant.nio().with("buffer", 4 * QUARTER),
        Variant.auto().with("ring", 4 * QUARTER),
        Variant.auto().with("buffer", 4 * QUARTER));
  }

  @ParameterizedTest
  @MethodSource("variants")
  void noMoreThanAQuarterOfARingOrBufferGoesEagerly(Variant variant) {
    variant
        .with("eager", 1 << 20)
        .run(
            2,
            w -> {
              sendOne(w, QUARTER - 100, true);
              sendOne(w, QUARTER + 100, false);
              sendOne(w, 100 * QUARTER, false);
            });
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aSmallerLimitHolds(Variant variant) {
    variant
        .with("eager", 100)
        .run(
            2,
            w -> {
              sendOne(w, 100, true);
              sendOne(w, 101, false);
            });
  }

  /** Sends before the receiver asks for it; the send is done by then if and only if it is eager. */
  private static void sendOne(Intracomm w, int bytes, boolean eager) {
    byte[] data = new byte[bytes];
    byte[] go = new byte[1];
    if (w.Rank() == 0) {
      data[bytes - 1] = 7;
      Request sent = w.Isend(data, 0, bytes, MPI.BYTE, 1, DATA);
      if (eager) {
        sent.Wait();
      } else {
        assertThat(sent.Test()).as("done early: " + bytes + " B").isNull();
      }
      w.Send(go, 0, 1, MPI.BYTE, 1, GO);
      if (!eager) {
        sent.Wait();
      }
    } else {
      w.Recv(go, 0, 1, MPI.BYTE, 0, GO);
      w.Recv(data, 0, bytes, MPI.BYTE, 0, DATA);
      assertThat(data[bytes - 1]).isEqualTo((byte) 7);
    }
  }
}
