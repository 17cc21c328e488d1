// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.FreePort;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Ss;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Launch;
import io.talaria.it.programs.ZooKeeperSurvivor;
import io.talaria.nio.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three ZooKeeper servers in a quorum and a client whose server is killed, with the agent on none,
 * on one and on both sides. The links of the quorum are {@code java.net.Socket}s, so only those of
 * clients are Talaria's.
 */
class ZooKeeperQuorumTest {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int SERVERS = 3;

  @RegisterExtension final Lab lab = new Lab();

  static List<Pair> pairs() {
    return Pair.coexistingAtLength();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  @Timeout(value = 240, unit = TimeUnit.SECONDS)
  void sessionOutlivesItsServer(Pair pair) throws Exception {
    pair.assume();
    Map<Integer, Child> servers = quorum(pair.server());
    Child client =
        lab.child(pair.client(), ZooKeeperSurvivor.class)
            .arg("servers", addresses(servers))
            .arg("rounds", Settings.scaled(500))
            .start();
    int port = client.await("begun", LIMIT).port();
    Child victim = servers.remove(port);
    Transports.expect(pair, victim, client);

    victim.kill();
    int next = client.await("survived", LIMIT).port();
    Child heir = servers.get(next);
    Transports.expect(pair, heir, client);
    Ss.expect(pair, heir, client);
    for (Map.Entry<Integer, Child> server : servers.entrySet()) {
      client.send("127.0.0.1:" + server.getKey());
      client.await("reread", LIMIT);
      expectClientsOnly(server.getKey(), server.getValue());
    }
    client.send("close");
    client.await("closed");
    lab.stop(client);
    lab.stop(servers.values().toArray(new Child[0]));
  }

  /** What servers say to each other is none of Talaria's. */
  private static void expectClientsOnly(int port, Child server) throws IOException {
    assertThat(Transports.of(server))
        .allMatch(c -> c.role() == Role.ACCEPTED && c.local().getPort() == port);
  }

  private static String addresses(Map<Integer, Child> servers) {
    return servers.keySet().stream()
        .map(port -> "127.0.0.1:" + port)
        .collect(Collectors.joining(","));
  }

  /** The servers by the ports of their clients. */
  private Map<Integer, Child> quorum(Flavour flavour) throws IOException {
    List<String> members = new ArrayList<>();
    for (int id = 1; id <= SERVERS; id++) {
      members.add(
          "server." + id + "=127.0.0.1:" + FreePort.any() + ":" + FreePort.any() + ":participant");
    }
    Map<Integer, Child> servers = new TreeMap<>();
    for (int id = 1; id <= SERVERS; id++) {
      int port = FreePort.any();
      Path dir = Files.createDirectory(lab.scratch().resolve("zookeeper-" + id));
      Files.writeString(dir.resolve("myid"), Integer.toString(id));
      List<String> lines = new ArrayList<>(members);
      lines.addAll(
          List.of(
              "dataDir=" + dir,
              "clientPort=" + port,
              "clientPortAddress=127.0.0.1",
              "tickTime=1000",
              "initLimit=30",
              "syncLimit=30",
              "maxSessionTimeout=60000",
              "admin.enableServer=false"));
      Path config = Files.write(lab.scratch().resolve("zookeeper-" + id + ".cfg"), lines);
      servers.put(
          port,
          lab.child(flavour, Launch.class)
              .property("zookeeper.forceSync", "no")
              .option("-XX:TieredStopAtLevel=1")
              .arg("main", "org.apache.zookeeper.server.quorum.QuorumPeerMain")
              .arg("0", config)
              .start());
    }
    return servers;
  }
}
