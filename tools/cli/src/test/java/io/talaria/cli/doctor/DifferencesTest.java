// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.cli.doctor.Differences.Difference;
import io.talaria.cli.doctor.Differences.End;
import io.talaria.nio.Reason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What two processes lack, as far as their options tell. */
class DifferencesTest {
  private static End end(String word, String namespace, String... options) {
    List<String> words = new ArrayList<>(List.of("java", "-javaagent:/x/talaria.jar"));
    words.addAll(List.of(options));
    return new End(
        word,
        new ProcessFacts(7, "java", 1000, namespace, true, words, true, Path.of("/nowhere")),
        null);
  }

  private static List<String> found(End client, End server) {
    return Differences.between(client, server).stream()
        .filter(difference -> !difference.text().contains("counters file"))
        .map(Difference::text)
        .toList();
  }

  @Test
  void inOneNamespaceThePropertyDoesNotMatter() {
    assertThat(
            found(
                end("client", "net:[1]", "-Dtalaria.namespaces=shared"), end("server", "net:[1]")))
        .isEmpty();
  }

  @Test
  void twoThatKeepTheirsAreInDifferentOnes() {
    assertThat(found(end("client", "net:[1]"), end("server", "net:[2]")))
        .containsExactly(Reason.OTHER_NAMESPACE.sentence());
  }

  @Test
  void itIsNamedWhichDoesNotShare() {
    assertThat(
            found(
                end("client", "net:[1]", "-Dtalaria.namespaces=shared"), end("server", "net:[2]")))
        .containsExactly(
            "they are in different network namespaces, and talaria.namespaces is shared in the"
                + " client and own in the server");
  }

  @Test
  void twoThatShareDoNotDiffer() {
    String shared = "-Dtalaria.namespaces=shared";
    assertThat(found(end("client", "net:[1]", shared), end("server", "net:[2]", shared))).isEmpty();
  }

  @Test
  void spacesInAListOfTransportsDoNotMatter() {
    End client = end("client", "net:[1]", "-Dtalaria.transports=ucx, shm");
    assertThat(found(client, end("server", "net:[1]"))).isEmpty();
  }

  @Test
  void withoutShmItsDirectoryDoesNotMatter() {
    String ucx = "-Dtalaria.transports=ucx";
    End client = end("client", "net:[1]", ucx, "-Dtalaria.shm.dir=/a");
    End server = end("server", "net:[1]", ucx, "-Dtalaria.shm.dir=/b");
    assertThat(found(client, server)).isEmpty();
  }
}
