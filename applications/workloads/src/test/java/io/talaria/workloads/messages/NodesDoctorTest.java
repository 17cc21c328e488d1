// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.messages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.talaria.cli.harness.Json;
import io.talaria.messaging.Node;
import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.Nodes;
import io.talaria.messaging.Transport;
import io.talaria.workloads.TalariaCommand;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code doctor --nodes} says of nodes that are reached, and of those that are not. */
@Timeout(120)
class NodesDoctorTest {
  private static final String CLUSTER = "doctor-" + ProcessHandle.current().pid();

  @TempDir Path folder;

  private static NodeOptions options(int id) {
    return NodeOptions.of(id).cluster(CLUSTER);
  }

  /** A port where nobody listens, most likely. */
  private static int nobody() throws Exception {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static TalariaCommand.Ended doctor(Path file, String... more) {
    String[] words = {"doctor", "--nodes", file.toString(), "--cluster", CLUSTER};
    String[] all = new String[words.length + more.length];
    System.arraycopy(words, 0, all, 0, words.length);
    System.arraycopy(more, 0, all, words.length, more.length);
    return TalariaCommand.run(all);
  }

  @Test
  void eachNodeIsShownWithItsTransportOrWhyNot() throws Exception {
    Path file = folder.resolve("nodes");
    try (Node here = Nodes.start(options(3));
        Node there = Nodes.start(options(7).transports(Transport.TCP).listen("127.0.0.1", 0))) {
      int port = nobody();
      String both = "3 127.0.0.1:1\n7 127.0.0.1:" + there.port() + "\n";
      Files.writeString(file, both);
      TalariaCommand.Ended well = doctor(file).well();
      assertThat(well.out())
          .containsPattern("3 +127.0.0.1:1 +shm +same user, same host")
          .containsPattern("7 +127.0.0.1:" + there.port() + " +tcp +")
          .contains("2 of 2 nodes are reached");
      Files.writeString(file, both + "9 127.0.0.1:" + port + "\n");
      TalariaCommand.Ended one = doctor(file);
      assertThat(one.status()).isEqualTo(1);
      assertThat(one.out())
          .containsPattern(
              "9 +127.0.0.1:" + port + " +- +node 9 at 127.0.0.1:" + port + ": Connection refused")
          .contains("2 of 3 nodes are reached");
      JsonNode json = Json.parse(doctor(file, "--json").out().replace("\n", ""));
      assertThat(json.path("reached").asInt()).isEqualTo(2);
      assertThat(json.path("nodes").get(0).path("transport").asText()).isEqualTo("shm");
      assertThat(json.path("nodes").get(2).path("transport").isNull()).isTrue();
      assertThat(here.counters().dropped() + there.counters().dropped()).as("sent").isZero();
    }
  }

  @Test
  void wrongUseIsTold() throws Exception {
    Path none = folder.resolve("none");
    TalariaCommand.Ended ended = doctor(none);
    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.err()).contains("directory of nodes " + none + " cannot be read");
    Path empty = Files.writeString(folder.resolve("empty"), "# nobody\n");
    assertThat(doctor(empty).err()).contains("names no node: a line ID HOST:PORT each");
    Path broken = Files.writeString(folder.resolve("broken"), "3 localhost:1 # here\n\n7 there\n");
    TalariaCommand.Ended line = doctor(broken);
    assertThat(line.status()).isEqualTo(1);
    assertThat(line.err()).contains(broken + ", line 3: '7 there' is not of the form ID HOST:PORT");
    Path twice = Files.writeString(folder.resolve("twice"), "3 a:1\n\n7 b:1\n3 c:1 # again\n");
    TalariaCommand.Ended doubled = doctor(twice);
    assertThat(doubled.status()).isEqualTo(1);
    assertThat(doubled.err()).contains(twice + ": lines 1 and 4 are both of node 3");
    TalariaCommand.Ended alone = TalariaCommand.run("doctor", "--cluster", "shop");
    assertThat(alone.status()).isEqualTo(2);
    assertThat(alone.err()).contains("--cluster needs --nodes");
  }
}
