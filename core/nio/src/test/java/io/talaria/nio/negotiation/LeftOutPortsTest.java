// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import java.net.InetSocketAddress;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code talaria.ports}: which connections are Talaria's, as each of the two sides sees it. */
@Timeout(120)
class LeftOutPortsTest {
  private static final long DEADLINE_NS = 60_000_000_000L;

  @TempDir Path dir;

  private final Deque<Scene> scenes = new ArrayDeque<>();
  private Path run;

  @BeforeEach
  void makeDirectory() throws Exception {
    run = Scene.privateDirectory(dir.resolve("run"));
  }

  @AfterEach
  void closeScenes() throws Exception {
    while (!scenes.isEmpty()) {
      scenes.pop().close();
    }
  }

  /** A process, but for being one, with these ports. */
  private Scene process(String ports, String except) {
    System.setProperty("talaria.ports", ports);
    System.setProperty("talaria.ports.except", except);
    try {
      scenes.push(new Scene(run, dir.resolve("shm")));
      return scenes.peek();
    } finally {
      System.clearProperty("talaria.ports");
      System.clearProperty("talaria.ports.except");
    }
  }

  private static String port(NetworkChannel listener) throws Exception {
    return Integer.toString(((InetSocketAddress) listener.getLocalAddress()).getPort());
  }

  /** Connects a client to a server's listener, and exchanges bytes until both show these. */
  private static void assertShown(
      Scene client, Reason ofClient, Scene server, ServerSocketChannel listener, Reason ofAccepted)
      throws Exception {
    SocketChannel connected = client.connect(listener);
    SocketChannel accepted = server.accept(listener);
    long start = System.nanoTime();
    while (client.shown(connected, Role.CLIENT) != ofClient
        && System.nanoTime() - start < DEADLINE_NS) {
      Scene.exchange(connected, accepted);
    }
    Scene.exchange(connected, accepted);
    assertThat(client.shown(connected, Role.CLIENT)).isEqualTo(ofClient);
    assertThat(server.shown(accepted, Role.ACCEPTED)).isEqualTo(ofAccepted);
    connected.close();
    accepted.close(); // the next one at this port is to be the only one
  }

  @Test
  void aListenerThatIsLeftOutAnnouncesNothing() throws Exception {
    Scene process = process("all", "1-65535");
    ServerSocketChannel listener = process.listen();
    assertThat(process.shown(listener, Role.LISTENER)).isEqualTo(Reason.PORT_LEFT_OUT);
    try (Stream<Path> files = Files.list(run)) {
      assertThat(files.filter(file -> file.getFileName().toString().startsWith("l-"))).isEmpty();
    }
    assertShown(process, Reason.PORT_LEFT_OUT, process, listener, Reason.PORT_LEFT_OUT);
  }

  @Test
  void aPortThatIsNamedIsAccelerated() throws Exception {
    Scene server = process("all", "none");
    ServerSocketChannel listener = server.listen();
    Scene client = process(port(listener), "none");
    assertShown(client, Reason.SAME_HOST, server, listener, Reason.SAME_HOST);
  }

  @Test
  void thePortsOfOneProcessAreEachTheirOwn() throws Exception {
    Scene server = process("all", "none");
    ServerSocketChannel one = server.listen();
    ServerSocketChannel other = server.listen();
    Scene client = process("all", port(other));
    assertShown(client, Reason.SAME_HOST, server, one, Reason.SAME_HOST);
    assertShown(client, Reason.PORT_LEFT_OUT, server, other, Reason.NO_OFFER);
    Scene opposite = process(port(other), "none");
    assertShown(opposite, Reason.PORT_LEFT_OUT, server, one, Reason.NO_OFFER);
    assertShown(opposite, Reason.SAME_HOST, server, other, Reason.SAME_HOST);
  }

  @Test
  void aClientOfAServerThatLeavesThePortOutIsPlain() throws Exception {
    Scene server = process("all", "1-65535");
    Scene client = process("all", "none");
    assertShown(client, Reason.PEER_NOT_ACCELERATED, server, server.listen(), Reason.PORT_LEFT_OUT);
  }
}
