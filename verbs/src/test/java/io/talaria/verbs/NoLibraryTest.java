// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A host without the libraries: each is named, with the cure. */
class NoLibraryTest {
  private static List<String> lines(String property, String file) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-D" + property + "=" + file,
                "-cp",
                System.getProperty("java.class.path"),
                ObstacleMain.class.getName())
            .redirectErrorStream(true)
            .start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      return said.lines().toList();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void libibverbsIsNamedWithTheCure() throws Exception {
    String file = "/no/such/libibverbs.so.1";
    List<String> lines = lines(Verbs.LIBRARY_PROPERTY, file);
    String sentence =
        "libibverbs ("
            + file
            + ", from the property talaria.verbs.library) is not a file."
            + " Correct the property or remove it.";
    assertThat(lines).filteredOn(line -> line.equals("verbs: " + sentence)).hasSize(2);
    // RDMA CM is of no use without it.
    assertThat(lines).filteredOn(line -> line.equals("channel: " + sentence)).hasSize(2);
  }

  @Test
  void librdmacmIsNamedWithTheCure() throws Exception {
    String file = "/no/such/librdmacm.so.1";
    assertThat(lines(Verbs.CM_LIBRARY_PROPERTY, file))
        .filteredOn(
            line ->
                line.equals(
                    "rdmacm: librdmacm ("
                        + file
                        + ", from the property talaria.rdmacm.library) is not a file."
                        + " Correct the property or remove it."))
        .hasSize(2);
  }
}
