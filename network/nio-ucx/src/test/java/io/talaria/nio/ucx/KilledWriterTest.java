// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.Seed;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process that ends while it writes into UCX's queue of another one blocks that queue. What
 * others send to the same queue never comes then; so their connections end, and new ones work.
 */
@Timeout(300)
class KilledWriterTest {
  private static final String NAME = "writer";
  private static final int MAX_STOPS = 3_000;

  private final long seed = Seed.next();

  @BeforeEach
  void possible() {
    assumeTrue(Variant.possible(), "no UCX here");
  }

  private static Jvm start(String name, String... arguments) throws Exception {
    return new Jvm(NAME, name, List.of("-Dtalaria.test.guard.seconds=280"), arguments);
  }

  private static String said(Jvm watch, String line) throws Exception {
    watch.say(line);
    return watch.line("said ");
  }

  /**
   * Stops the writer until one of the stops has met a write.
   *
   * @return the watching client's connections no longer carry bytes
   */
  private boolean stopInsideAWrite(Jvm writer, Jvm watch) throws Exception {
    Random random = new Random(seed);
    for (int i = 1; i <= MAX_STOPS; i++) {
      Thread.sleep(random.nextInt(5));
      writer.signal("STOP");
      // On a busy machine an echo may be late; behind a write that is stopped none comes.
      if (said(watch, "echo").equals("late") && said(watch, "still").equals("late")) {
        System.out.println("stop " + i + " was inside a write");
        return true;
      }
      writer.signal("CONT");
    }
    return false;
  }

  @Test
  void nobodyWaitsForEverForWhatStandsBehindItsWrite() throws Exception {
    try (Jvm server = start("server", "serve")) {
      String port = server.line("port ");
      try (Jvm watch = start("watch", "watch", port);
          Jvm writer = start("flood", "flood", port)) {
        assertThat(watch.line("said ")).isEqualTo("UCX echoed");
        writer.line("floods");
        assertThat(stopInsideAWrite(writer, watch)).as("stopped inside a write").isTrue();
        writer.signal("CONT");
        assertThat(said(watch, "wait")).as("when it goes on").isEqualTo("echoed");
        assertThat(stopInsideAWrite(writer, watch)).as("stopped inside a write").isTrue();
        writer.kill();
        assertThat(said(watch, "wait")).as("when it is killed").isEqualTo("reset");
        assertThat(said(watch, "again")).isEqualTo("UCX echoed");
        server.say("and you?");
        server.line("holds ");
      }
    }
  }
}
