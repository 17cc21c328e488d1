// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

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
  private static final List<MpjImplementation> ALL = List.of(MpjImplementation.values());

  /** One of those that run the same program. */
  private static final List<MpjImplementation> EACH_PROGRAM =
      List.of(
          MpjImplementation.SHM,
          MpjImplementation.OMPI_OB1,
          MpjImplementation.MPICH,
          MpjImplementation.EXPRESS);

  @TempDir Path folder;

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
    for (String kernel : List.of("ep", "cg", "is", "ft", "mg", "fdtd")) {
      List<String> ids = List.of(kernel + "/S/1-ranks", kernel + "/S", kernel + "/S/4-ranks");
      MpjRun.assertMeasured(json, ids, "ompi-ob1", "ompi-ucx", "mpich");
    }
    for (String kernel : List.of("ft", "mg")) {
      MpjRun.assertCommunicated(json, kernel, "shm", "ompi-ob1", "ompi-ucx", "mpich");
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
    for (MpjPattern pattern : patterns) {
      String id = pattern + (pattern.sizes().equals(List.of(0)) ? "" : "/64") + suffix;
      String[] able =
          implementations.stream()
              .filter(each -> each.does(pattern, ranks))
              .map(MpjImplementation::label)
              .toArray(String[]::new);
      MpjRun.assertMeasured(json, List.of(id), able);
    }
  }
}
