// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.mpj;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernels of {@code bench mpj} on MPJ Express. */
@Tag("long")
@Timeout(600)
class KernelsOfExpressTest {
  @TempDir Path folder;

  @Test
  void theSameKernelsRunOnMpjExpress() throws Exception {
    JsonNode json =
        MpjRun.bench(
            folder, "ep cg is ft mg fdtd --quick --devices shm --against express,express-nio");
    assertThat(json.path("missing")).as(json.path("missing").toString()).isEmpty();
  }
}
