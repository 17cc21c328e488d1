// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Bridge;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.ClassPath;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Podman;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.ZooKeeperUser;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What docs/recipes.md says, as it is written there. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RecipesTest {
  private static final int TRIES = 200;
  private static final String ZOOKEEPER_SCRIPT = "/usr/share/zookeeper/bin/zkServer.sh";

  @RegisterExtension final Lab lab = new Lab();

  private static String page() throws IOException {
    return Files.readString(Path.of(System.getProperty("talaria.test.root"), "docs", "recipes.md"));
  }

  /** The value of a property in the section of a recipe. */
  private static String property(String section, String name) throws IOException {
    return setting(section, "JAVA_TOOL_OPTIONS[^`]*?-D" + Pattern.quote(name) + "=([^\\s\"]+)");
  }

  /** What the group of a pattern matches in the section of a recipe. */
  private static String setting(String section, String pattern) throws IOException {
    String page = page();
    int start = page.indexOf("\n## " + section + "\n");
    assertThat(start).as(section).isNotNegative();
    int end = page.indexOf("\n## ", start + 1);
    Matcher found = Pattern.compile(pattern).matcher(page.substring(start, end));
    assertThat(found.find()).as("%s in %s", pattern, section).isTrue();
    return found.group(1);
  }

  private static List<ConnectionInfo> connections(Path dir) throws IOException {
    return CountersReader.readDirectory(dir).processes().stream()
        .flatMap(process -> process.connections().stream())
        .filter(connection -> connection.role() != Role.LISTENER)
        .toList();
  }

  /** Runs the exchange until both ends of its connection are in shared memory. */
  private static void accelerated(Exchange exchange, Path dir) throws Exception {
    exchange.run();
    for (int i = 0; i < TRIES; i++) {
      List<ConnectionInfo> both = connections(dir);
      if (both.size() == 2 && both.stream().allMatch(c -> c.transport() == NioTransport.SHM)) {
        exchange.end();
        return;
      }
      exchange.again();
    }
    throw new AssertionError("not accelerated: " + connections(dir));
  }

  /** The directories of the unit, below one of this test's in place of the root. */
  @Test
  void servicesOfSystemdMeetInTheirRuntimeDirectory() throws Exception {
    Pair.BOTH.assume();
    String section = "A service of systemd";
    Path root = lab.shmDir().getParent();
    Path dir = Path.of(root + property(section, "talaria.dir"));
    Path memory = Path.of(root + property(section, "talaria.shm.dir"));
    Files.createDirectories(dir.getParent());
    Files.createDirectories(memory.getParent());
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.property("talaria.dir", dir).property("talaria.shm.dir", memory);
    }
    accelerated(exchange, dir);
  }

  /** Each container has its own /tmp, /dev/shm and process ids; they share the volume. */
  @Test
  void containersOfAPodMeetInTheirVolume() throws Exception {
    Pair.BOTH.assume();
    assumeTrue(Proc.root(), "not root: no container can be played");
    containers(new Exchange(lab, Pair.BOTH), "Two containers of one pod");
  }

  /** The same, and each has a network of its own on a bridge. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"Containers of Docker Compose", "Pods of one node"})
  void containersOnABridgeMeetInTheirVolume(String section) throws Exception {
    Pair.BOTH.assume();
    assumeTrue(Settings.fast() == NioTransport.SHM, "only shared memory joins namespaces");
    Bridge bridge = Bridge.make(lab);
    String server = "10.213.81.3";
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    String namespaces = "talaria.namespaces";
    exchange
        .serverSpec()
        .arg("bind", "0.0.0.0")
        .property(namespaces, property(section, namespaces))
        .under(bridge.member(server + "/24").inside());
    exchange
        .clientSpec()
        .arg("host", server)
        .property(namespaces, property(section, namespaces))
        .under(bridge.member("10.213.81.2/24").inside());
    containers(exchange, section);
  }

  /** The same with containers of an engine, and its bridge and volume. */
  @Test
  void containersOfPodmanMeetInTheirVolume() throws Exception {
    Pair.BOTH.assume();
    assumeTrue(Settings.fast() == NioTransport.SHM, "only shared memory joins namespaces");
    String section = "Containers of Docker Compose";
    String directory = setting(section, "talaria:(/\\S+)");
    String user = "--user=" + setting(section, "user: \"(\\d+)\"");
    // Podman takes a size for a quota of the disk, which tmpfs has not.
    Podman podman = Podman.make(lab, setting(section, "o: size=[^,]+,(\\S+)"));
    String server = podman.address(3);
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    String volume = podman.volume(directory);
    exchange
        .serverSpec()
        .arg("bind", "0.0.0.0")
        .under(podman.container("server", user, volume, "--ip=" + server));
    exchange
        .clientSpec()
        .arg("host", server)
        .under(podman.container("client", user, volume, "--ip=" + podman.address(2)));
    ClassPath classes = ClassPath.readableByAll(lab);
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.classPath(classes);
      for (String each : List.of("talaria.namespaces", "talaria.dir", "talaria.shm.dir")) {
        side.property(each, property(section, each));
      }
    }
    String counters = property(section, "talaria.dir");
    accelerated(
        exchange, podman.volume().resolve(Path.of(directory).relativize(Path.of(counters))));
  }

  private void containers(Exchange exchange, String section) throws Exception {
    String dir = property(section, "talaria.dir");
    Path volume = lab.shmDir().getParent();
    for (ChildSpec side : List.of(exchange.serverSpec(), exchange.clientSpec())) {
      side.property("talaria.dir", dir)
          .property("talaria.shm.dir", property(section, "talaria.shm.dir"))
          .under(
              "unshare",
              "--mount",
              "--pid",
              "--fork",
              "--kill-child",
              "--mount-proc",
              "sh",
              "-c",
              "mount -t tmpfs tmpfs /mnt && mkdir /mnt/talaria"
                  + " && mount --bind \"$0\" /mnt/talaria"
                  + " && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /tmp"
                  + " && exec \"$@\"",
              volume.toString());
    }
    accelerated(exchange, volume.resolve(Path.of("/mnt/talaria").relativize(Path.of(dir))));
  }

  /**
   * ZooKeeper's own zkServer.sh, from Debian's package, with the line of the page. It reads its
   * settings from a file beside it, which is this test's, as it is the package's there.
   */
  @Test
  @Tag("long")
  void theStartScriptOfZooKeeperTakesTheAgent() throws Exception {
    Pair.BOTH.assume();
    Path script = Path.of(System.getenv().getOrDefault("TALARIA_TEST_ZKSERVER", ZOOKEEPER_SCRIPT));
    assumeTrue(Files.isRegularFile(script), "no " + script + " (Debian: zookeeper)");
    Matcher line =
        Pattern.compile("`(\\w+)=(-javaagent:\\S+) bin/zkServer\\.sh start`").matcher(page());
    assertThat(line.find()).isTrue();
    Path home = Files.createDirectory(lab.scratch().resolve("zookeeper"));
    Path bin = Files.createDirectory(home.resolve("bin"));
    Files.copy(script, bin.resolve("zkServer.sh"));
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    Files.writeString(
        home.resolve("zoo.cfg"),
        "dataDir="
            + home.resolve("data")
            + "\nclientPort="
            + port
            + "\nadmin.enableServer=false\n");
    Files.writeString(
        bin.resolve("zkEnv.sh"),
        "ZOOCFGDIR=" + home + "\nZOOCFG=" + home + "/zoo.cfg\nZOO_LOG_DIR=" + home + "/log\n");
    ProcessBuilder builder =
        new ProcessBuilder("bash", bin.resolve("zkServer.sh").toString(), "start-foreground")
            .redirectErrorStream(true)
            .redirectOutput(home.resolve("out").toFile());
    builder.environment().put("JAVA", Settings.ownJava().resolve("bin/java").toString());
    builder.environment().put("CLASSPATH", System.getProperty("talaria.test.classpath"));
    builder.environment().put("JMXDISABLE", "true");
    builder
        .environment()
        .put(
            line.group(1),
            line.group(2)
                    .replace("/opt/talaria/talaria.jar", Settings.agent().orElseThrow().toString())
                + " -Dtalaria.dir="
                + lab.talariaDir()
                + " -Dtalaria.shm.dir="
                + lab.shmDir());
    Process server = builder.start();
    try {
      Child client =
          lab.child(Pair.BOTH.client(), ZooKeeperUser.class)
              .arg("port", port)
              .arg("rounds", 100)
              .start();
      client.await("used", Duration.ofSeconds(90));
      Transports.await(client, NioTransport.SHM, Reason.SAME_HOST);
      client.send("close");
      client.await("closed");
      lab.stop(client);
    } catch (IOException | AssertionError e) {
      throw new AssertionError(Files.readString(home.resolve("out")), e);
    } finally {
      server.destroy();
      assertThat(server.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
