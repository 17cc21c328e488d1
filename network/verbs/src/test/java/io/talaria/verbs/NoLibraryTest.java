// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.testsupport.ChildProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A host without the libraries: each is named, with the hint. */
class NoLibraryTest {
  private static final String EXAMPLES = "io.talaria.verbs.examples.Examples";

  private static List<String> lines(String property, String file) throws Exception {
    return run(0, "-D" + property + "=" + file, UnavailableReasonMain.class.getName());
  }

  /** What a JVM of its own says, which must end so. */
  private static List<String> run(int status, String option, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(ChildProcess.jdkProgram("java")));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", option));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(words));
    ChildProcess ended =
        ChildProcess.command(command.toArray()).oneOutput().run(Duration.ofMinutes(1));
    assertThat(ended.exitStatus()).as(ended.toString()).isEqualTo(status);
    return ended.out();
  }

  @Test
  void libibverbsIsNamedWithTheHint() throws Exception {
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
  void librdmacmIsNamedWithTheHint() throws Exception {
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

  @Test
  void examplesEndWithTheSentenceAnd69() throws Exception {
    String file = "/no/such/libibverbs.so.1";
    assertThat(run(69, "-D" + Verbs.LIBRARY_PROPERTY + "=" + file, EXAMPLES, "ping-pong"))
        .anySatisfy(line -> assertThat(line).startsWith("talaria: libibverbs (" + file));
  }

  @Test
  void examplesOnADeviceThatIsNotThereNameIt() throws Exception {
    Optional<String> unavailableReason = Loopback.prepare();
    assumeTrue(unavailableReason.isEmpty(), () -> unavailableReason.orElseThrow());
    assertThat(run(69, "-Dnothing", EXAMPLES, "--simulated", "--device", "mlx9_9"))
        .anySatisfy(line -> assertThat(line).startsWith("talaria: ").contains("mlx9_9", "loop0"));
  }
}
