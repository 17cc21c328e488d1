// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.mpj.examples.EndedJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The kernels, which verify themselves. */
@Timeout(600)
class KernelsTest {
  private static void verified(String kernel, int ranks, String... rest) throws Exception {
    // They compute: the optimizing compiler is worth its time.
    List<String> words =
        new ArrayList<>(
            List.of("-np", "" + ranks, "-XX:TieredStopAtLevel=4", "-XX:CompileThresholdScaling=1"));
    words.add("io.talaria.mpj.kernels." + kernel);
    words.addAll(List.of(rest));
    assertThat(EndedJob.out(words))
        .startsWith(kernel.toUpperCase(Locale.ROOT))
        .contains(ranks + " ranks")
        .containsAnyOf(", verified\n", ", equal to the bit\n");
  }

  @Test
  void gaussianNumbers() throws Exception {
    verified("Ep", 3, "S");
  }

  @Test
  void conjugateGradients() throws Exception {
    verified("Cg", 1, "S");
    verified("Cg", 3, "S");
  }

  @Test
  void sortedIntegers() throws Exception {
    verified("Is", 1, "S");
    verified("Is", 3, "S");
  }

  @Test
  void fourierTransforms() throws Exception {
    verified("Ft", 1, "S");
    verified("Ft", 4, "S");
  }

  @Test
  void multigrid() throws Exception {
    verified("Mg", 1, "S");
    verified("Mg", 4, "S");
  }

  @Test
  void finiteDifferences() throws Exception {
    verified("Fdtd", 1, "100", "60", "200");
    verified("Fdtd", 3, "100", "61", "200");
  }

  @Tag("long")
  @Test
  void largerOnes() throws Exception {
    for (String kernel : List.of("Ep", "Cg", "Is", "Ft", "Mg")) {
      for (int ranks : new int[] {1, 2, 4}) {
        verified(kernel, ranks, "W");
        verified(kernel, ranks, "A");
      }
    }
    verified("Fdtd", 2);
    verified("Fdtd", 4);
  }
}
