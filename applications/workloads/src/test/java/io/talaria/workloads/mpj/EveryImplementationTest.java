// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The patterns of {@code bench mpj} by all that is installed here. */
@Tag("long")
@Timeout(1_200)
class EveryImplementationTest {
  @TempDir Path folder;

  private static final List<MpjImplementation> ALL = List.of(MpjImplementation.values());

  /** One of those that run the same program. */
  private static final List<MpjImplementation> EACH_PROGRAM =
      List.of(
          MpjImplementation.SHM,
          MpjImplementation.OMPI_OB1,
          MpjImplementation.MPICH,
          MpjImplementation.EXPRESS);

  /** All patterns, small: many JVMs, one after another. */
  @Test
  void everyProgramDoesWhatItCan() throws Exception {
    assertMeasured(
        "--devices shm --against ompi-ob1,mpich,express ", MpjPattern.usual(), EACH_PROGRAM, 2, "");
  }

  /** What differs between those that run the same program is how its ranks find each other. */
  @Test
  void everyImplementationPassesMessages() throws Exception {
    assertMeasured(
        "half rate bcast overlap ",
        List.of(MpjPattern.HALF, MpjPattern.RATE, MpjPattern.BCAST, MpjPattern.OVERLAP),
        ALL,
        2,
        "");
  }

  /** What is done by any number of ranks is done by the same program. */
  @Test
  void everyImplementationDoesItByThreeRanks() throws Exception {
    assertMeasured("allgather ", List.of(MpjPattern.ALLGATHER), ALL, 3, "/3-ranks");
  }

  /** Windows, which MPJ Express has none of. */
  @Test
  void everyImplementationWithWindowsAccessesThem() throws Exception {
    assertMeasured(
        "put get fetch ", List.of(MpjPattern.PUT, MpjPattern.GET, MpjPattern.FETCH), ALL, 2, "");
  }

  /** The kernels in C divide their data by the number of ranks, as those in Java do. */
  @Test
  void everyKernelRunsInCByOneTwoAndFourRanks() throws Exception {
    JsonNode json =
        MpjRun.bench(
            folder, "ep cg is ft mg fdtd --quick --devices shm --against ompi-ob1,ompi-ucx,mpich");
    JsonNode absent = json.path("options").path("absent");
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
    for (String kernel : List.of("ep", "cg", "is", "ft", "mg", "fdtd")) {
      for (String suffix : List.of("/1-ranks", "", "/4-ranks")) {
        for (String implementation : List.of("ompi-ob1", "ompi-ucx", "mpich")) {
          if (!absent.has(implementation)) {
            String id = kernel + "/S" + suffix;
            assertThat(MpjRun.figure(json, id, implementation))
                .as(id + implementation)
                .isPositive();
          }
        }
      }
    }
    for (String id : List.of("ft/S/communication", "mg/S/communication")) {
      for (String implementation : List.of("shm", "ompi-ob1", "ompi-ucx", "mpich")) {
        if (!absent.has(implementation)) {
          assertThat(MpjRun.figure(json, id, implementation)).isBetween(0.0, 100.0);
        }
      }
    }
  }

  private void assertMeasured(
      String words,
      List<MpjPattern> patterns,
      List<MpjImplementation> implementations,
      int ranks,
      String suffix)
      throws Exception {
    JsonNode json = MpjRun.bench(folder, words + "--sizes 64" + MpjRun.SHORT + "--ranks " + ranks);
    JsonNode absent = json.path("options").path("absent");
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
    for (MpjPattern pattern : patterns) {
      String id = pattern + (pattern.sizes().equals(List.of(0)) ? "" : "/64") + suffix;
      for (MpjImplementation implementation : implementations) {
        if (implementation.does(pattern, ranks) && !absent.has(implementation.label())) {
          assertThat(MpjRun.figure(json, id, implementation.label()))
              .as(id + implementation)
              .isPositive();
        }
      }
    }
  }
}
