// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What systemd or inetd hands over as the standard input. */
class InheritedChannelTest {
  @TempDir Path directory;

  static List<String> javas() {
    return Child.javas();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void acceleratesWhatAnInheritedListenerAccepts(String java) throws Exception {
    Child plain = run(java, List.of(), "listener", "false");
    Child accelerated = run(java, List.of("-javaagent:" + Child.AGENT), "listener", "true");
    assertThat(accelerated.out())
        .isEqualTo(plain.out())
        .containsExactly("same = true", "accepts = 1", "end = -1");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void leavesAnInheritedConnectionAsItIs(String java) throws Exception {
    Child plain = run(java, List.of(), "connection");
    Child withAgent = run(java, List.of("-javaagent:" + Child.AGENT), "connection");
    assertThat(withAgent.out()).isEqualTo(plain.out()).containsExactly("selects = 1", "reads = 3");
  }

  /** Whose addresses may be those of other connections here. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void leavesAListenerOfAnotherNetworkNamespaceAsItIs(boolean another) throws Exception {
    Assumptions.assumeTrue(
        ProcessHandle.current().info().user().equals(Optional.of("root")),
        "not root: no network namespace can be made");
    Assumptions.assumeTrue(
        new ProcessBuilder("sh", "-c", "command -v python3 unshare").start().waitFor() == 0,
        "the commands python3 and unshare are not there");
    String words = another ? "[\"unshare\", \"--net\"] + sys.argv[1:]" : "sys.argv[1:]";
    Path starter = directory.resolve("java");
    Files.writeString(
        starter,
        "#!/bin/sh\nexec python3 -c 'import os, socket, sys\n"
            + "listener = socket.socket()\n"
            + "listener.bind((\"127.0.0.1\", 0))\n"
            + "listener.listen(5)\n"
            + "os.dup2(listener.fileno(), 0)\n"
            + "words = "
            + words
            + "\nos.execvp(words[0], words)' '"
            + Child.javas().get(0)
            + "' \"$@\"\n");
    Files.setPosixFilePermissions(starter, PosixFilePermissions.fromString("rwx------"));
    Child child = run(starter.toString(), List.of("-javaagent:" + Child.AGENT), "given");
    assertThat(child.out())
        .containsExactly("package = " + (another ? "sun.nio.ch" : "io.talaria.nio.channel"));
  }

  private Child run(String java, List<String> options, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(options);
    all.add("--add-opens");
    all.add("java.base/sun.nio.ch=ALL-UNNAMED");
    Child child = Child.run(java, all, Map.of(), InheritedMain.class, arguments);
    assertThat(child.status()).as("%s", child).isZero();
    return child;
  }
}
