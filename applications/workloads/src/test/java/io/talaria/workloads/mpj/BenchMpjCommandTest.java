// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static io.talaria.workloads.mpj.MpjRun.figure;
import static io.talaria.workloads.mpj.MpjRun.measure;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.workloads.TalariaCommand;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The benchmark {@code bench mpj}, from end to end, with real ranks. */
@Timeout(280)
class BenchMpjCommandTest {
  @TempDir Path folder;

  private JsonNode bench(String words) throws Exception {
    return MpjRun.bench(folder, words);
  }

  @Test
  void aSmallCaseGivesFiguresAndTheRatioThatIsAskedFor() throws Exception {
    JsonNode json =
        bench("half half bcast --devices shm --against ompi-ob1,sockets --sizes 8,8,4K --quick");
    assertThat(json.path("format").asText()).isEqualTo("talaria-bench-mpj-2");
    for (String id : new String[] {"half/8", "half/4096", "bcast/8", "bcast/4096"}) {
      assertThat(figure(json, id, "shm")).isPositive();
      if (!json.path("options").path("absent").has("ompi-ob1")) {
        assertThat(figure(json, id, "ompi-ob1")).isPositive();
      }
    }
    assertThat(figure(json, "half/8", "sockets")).isPositive();
    assertThat(measure(json, "half/8").path("iterations").path("shm"))
        .as("once, though named twice")
        .hasSize(1);
    assertThat(measure(json, "bcast/8").path("iterations").has("sockets")).isFalse();
    assertThat(json.path("missing")).isEmpty();
    // Not pinned: ratios, and nothing that they must be.
    assertThat(json.path("targetsMissed").asInt()).isZero();
    if (!json.path("options").path("absent").has("ompi-ob1")) {
      JsonNode ratio = measure(json, "half/8/shm:ompi-ob1");
      assertThat(ratio.path("iterations").path("shm").path(0).asDouble())
          .as("of the fastest blocks")
          .isEqualTo(
              figure(json, "half/8/fastest", "shm") / figure(json, "half/8/fastest", "ompi-ob1"));
      assertThat(figure(json, "half/8/fastest", "shm"))
          .isPositive()
          .isLessThanOrEqualTo(figure(json, "half/8", "shm"));
      assertThat(ratio.path("target").isObject()).isFalse();
    }
  }

  @Test
  void connectionsWithTheAgentAreAccelerated() throws Exception {
    JsonNode json =
        bench("half --devices nio,nio-agent --against sockets --sizes 8" + MpjRun.SHORT);
    for (String implementation : new String[] {"nio", "nio-agent", "sockets"}) {
      assertThat(figure(json, "half/8", implementation)).as(implementation).isPositive();
    }
    assertThat(measure(json, "half/8/nio-agent:sockets").path("unit").asText()).isEqualTo("×");
  }

  @Test
  void kernelsVerifyThemselvesAndGiveTheirSpeed() throws Exception {
    JsonNode json = bench("is fdtd --quick --ranks 2 --devices shm,nio-agent --against sockets");
    for (String id : new String[] {"is/S", "fdtd/S"}) {
      assertThat(figure(json, id, "shm")).as(id).isPositive();
      assertThat(figure(json, id, "nio-agent")).as(id).isPositive();
    }
    assertThat(json.path("missing")).isEmpty();
  }

  /** {@link EveryImplementationTest} runs all of them, by all MPI in C. */
  @Test
  void kernelsRunInCAsWell() throws Exception {
    JsonNode json = bench("is ft --quick --ranks 2 --devices shm --against ompi-ob1");
    MpjRun.assertMeasured(json, List.of("is/S", "ft/S"), "shm", "ompi-ob1");
    MpjRun.assertCommunicated(json, "ft", "shm", "ompi-ob1");
  }

  /** {@link EveryImplementationTest} measures the others, also on other devices. */
  @Test
  void windowsAreMeasured() throws Exception {
    JsonNode json = bench("put fetch --sizes 1K --devices shm --against ompi-ob1" + MpjRun.SHORT);
    MpjRun.assertMeasured(json, List.of("put/1024", "fetch"), "shm", "ompi-ob1");
  }

  @Test
  void whatIsHiddenByComputingIsAPartOfTheWhole() throws Exception {
    JsonNode json =
        bench("overlap --quick --same-distance --devices shm,shm-progress --against ompi-ob1");
    JsonNode found = measure(json, "overlap/1048576");
    assertThat(found.path("unit").asText()).isEqualTo("%");
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
    for (JsonNode iterations : found.path("iterations")) {
      assertThat(iterations.path(0).asDouble(-1)).isBetween(0.0, 100.0);
    }
    assertThat(found.path("iterations").path("shm")).hasSize(1);
    assertThat(found.path("iterations").path("shm-progress")).hasSize(1);
  }

  @Test
  void aJobsStartAndTheMemoryOfItsRanks() throws Exception {
    JsonNode json =
        bench("start memory allocated --quick --ranks 3 --devices shm --against ompi-ob1");
    assertThat(figure(json, "allocated/1024", "shm")).isBetween(0.0, 100.0);
    assertThat(figure(json, "start/3-ranks", "shm")).isGreaterThan(1e6);
    assertThat(figure(json, "memory/3-ranks", "shm")).isGreaterThan(1 << 20);
    assertThat(measure(json, "memory/3-ranks").path("unit").asText()).isEqualTo("B");
    assertThat(json.path("missing")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "haff                  | PATTERN: there is no 'haff', but half, rate, bytes",
        "--devices ibv         | there is no 'ibv', but shm, shm-progress, ucx, nio, nio-agent",
        "--against lam         | there is no 'lam', but ompi-ob1, ompi-ucx, mpich, express",
        "bcast --ranks 1       | --ranks must be from 2 to 16, not 1",
        "start --ranks 17      | --ranks must be from 2 to 16, not 17",
        "ft --ranks 0          | --ranks must be from 1 to 16, not 0",
        "ft --class B          | --class: there is no class B, but S, W, A",
        "doubles --sizes 12    | --sizes: doubles sends doubles, 12 bytes are no number of them",
        "--iterations 101          | --iterations must be from 1 to 100, not 101",
        "--quick --seconds 1   | --seconds does not go with --quick",
        "--busy 1 --same-distance | --same-distance does not go with --busy",
        "--json /nowhere/x     | --json: there is no folder /nowhere"
      })
  void wrongUsageIsTold(String words, String said) {
    String[] all =
        Stream.concat(Stream.of("bench", "mpj"), Arrays.stream(words.split(" ", -1)))
            .toArray(String[]::new);
    TalariaCommand.run(all).failed(2, said);
  }

  @Test
  void anAgentThatIsNamedMustBeThere() {
    TalariaCommand.run("bench", "mpj", "half", "--devices", "nio-agent", "--agent", "/nowhere/x")
        .failed(1, "no agent: /nowhere/x is not a file");
  }
}
