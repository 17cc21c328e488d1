// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many connections of a process, one after the other, with some that stand all the time: all bytes
 * arrive, also those that are under way when a side closes, selectors that sleep are woken, workers
 * are made anew when they have made their share of streams, and closed when the last of these is
 * gone, so that descriptors and mappings level off. A process that is killed meanwhile takes nobody
 * along.
 */
@Timeout(1_800)
class ManyStreamsTest {
  private static final Pattern HOLDS = Pattern.compile("holds mappings (\\d+) descriptors (\\d+)");
  private static final int MAX_MAPPINGS = 1_000;
  private static final int MAX_DESCRIPTORS = 400;

  /** One in the usual run, which does this on each binding. */
  private static final int KILLS = Math.max(1, Integer.getInteger("talaria.test.rounds", 150) / 50);

  private final long seed = Seed.next();

  @BeforeEach
  void possible() {
    assumeTrue(Variant.possible(), "no UCX here");
  }

  /** So that there are many connections in each second. */
  private static final String FEW_BYTES = "-Dtalaria.test.max.bytes=500";

  private static List<String> options(int streams, long guardSeconds, String... more) {
    List<String> options = new ArrayList<>(List.of(more));
    options.add("-Dtalaria.ucx.streams=" + streams);
    options.add("-Dtalaria.test.guard.seconds=" + guardSeconds);
    return options;
  }

  private static void assertLevel(String output) {
    Matcher holds = HOLDS.matcher(output);
    assertThat(holds.find()).as(output).isTrue();
    System.out.println(holds.group());
    assertThat(Integer.parseInt(holds.group(1))).as("mappings").isLessThan(MAX_MAPPINGS);
    assertThat(Integer.parseInt(holds.group(2))).as("descriptors").isLessThan(MAX_DESCRIPTORS);
  }

  private void alone(String name, int connections, int streams, long limitSeconds)
      throws Exception {
    alone(name, connections, streams, limitSeconds, Map.of());
  }

  private void alone(
      String name, int connections, int streams, long limitSeconds, Map<String, String> environment)
      throws Exception {
    try (Jvm jvm =
        new Jvm(
            name,
            "alone",
            options(streams, limitSeconds),
            environment,
            "alone",
            Integer.toString(connections),
            Long.toString(seed))) {
      String output = jvm.end(limitSeconds);
      assertThat(output).as(jvm.toString()).contains("UCX same-host ").doesNotContain("TCP limit");
      assertLevel(output);
    }
  }

  /** Each worker makes 50 streams: it is made anew some 40 times on each side. */
  @Test
  void workersAreMadeAnewAndClosed() throws Exception {
    alone("renewed", 2_000, 50, 240);
  }

  /** What UCX is done with sending need not be in the peer's memory there. */
  @Test
  void soTheyAreByUcxsTcp() throws Exception {
    alone("tcp", 500, 50, 240, Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo"));
  }

  /** As many as no worker could make, with the limit as it is. */
  @Test
  @Tag("long")
  void aHundredThousand() throws Exception {
    alone("many", 100_000, Limits.MAX_STREAMS, 1_700);
  }

  /**
   * At any moment, by UCX's tcp: of shared memory, a process that is killed in the middle of
   * writing into UCX's queue of another blocks it (docs/nio-ucx.md, known limits).
   */
  @Test
  void aKilledPeerTakesNobodyAlong() throws Exception {
    Random random = new Random(seed);
    Map<String, String> tcp = Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo");
    killed(
        tcp,
        name -> options(60, 240, FEW_BYTES),
        1_000_000,
        client -> Thread.sleep(3_000 + random.nextInt(3_000))); // any moment
  }

  /** By shared memory, with connections that stand, and nothing under way. */
  @Test
  void nobodyIsTakenAlongByAPeerThatIsKilledAtRest() throws Exception {
    killed(
        Map.of(),
        name ->
            name.equals("last") ? options(60, 240) : options(60, 240, "-Dtalaria.test.rests=true"),
        300,
        client -> {
          client.line("resting");
          Thread.sleep(200); // UCX's own messages, too
        });
  }

  private interface Moment {
    void await(Jvm client) throws Exception;
  }

  private void killed(
      Map<String, String> environment,
      Function<String, List<String>> options,
      int connections,
      Moment moment)
      throws Exception {
    try (Jvm server = new Jvm("killed", "server", options(40, 280), environment, "serve")) {
      String port = server.line("port ");
      for (int kill = 0; kill < KILLS; kill++) {
        String name = "killed" + kill;
        try (Jvm client = client(port, name, options.apply(name), environment, connections)) {
          moment.await(client);
          assertThat(client.isAlive()).as(client.toString()).isTrue();
          client.kill();
        }
      }
      try (Jvm client = client(port, "last", options.apply("last"), environment, 1_000)) {
        String output = client.end(240);
        assertThat(output).as(client.toString()).contains("UCX same-host ");
        assertLevel(output);
      }
      assertThat(server.isAlive()).as(server.toString()).isTrue();
      server.say("and you?");
      assertLevel("holds " + server.line("holds "));
    }
  }

  private Jvm client(
      String port,
      String name,
      List<String> options,
      Map<String, String> environment,
      int connections)
      throws Exception {
    return new Jvm(
        "killed",
        name,
        options,
        environment,
        "connect",
        port,
        Integer.toString(connections),
        Long.toString(seed));
  }
}
