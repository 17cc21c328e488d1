// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The patterns of {@code bench mpj} by all that is installed here. */
@Tag("long")
@Timeout(1_200)
class EveryImplementationTest {
  @TempDir Path folder;

  /** All patterns by all that is installed here, small: many JVMs, one after another. */
  @Test
  void everyImplementationDoesWhatItCan() throws Exception {
    JsonNode json = MpjRun.bench(folder, "--sizes 64 --quick --ranks 2,3");
    JsonNode absent = json.path("options").path("absent");
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
    for (MpjPattern pattern : MpjPattern.usual()) {
      for (int ranks : pattern.collective() ? new int[] {2, 3} : new int[] {2}) {
        String id =
            pattern
                + (pattern == MpjPattern.BARRIER ? "" : "/64")
                + (ranks == 2 ? "" : "/" + ranks + "-ranks");
        for (MpjImplementation implementation : MpjImplementation.values()) {
          if (implementation.does(pattern, ranks) && !absent.has(implementation.label())) {
            assertThat(MpjRun.figure(json, id, implementation.label()))
                .as(id + implementation)
                .isPositive();
          }
        }
      }
    }
  }
}
