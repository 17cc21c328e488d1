// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Bridge;
import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Namespace;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.ConnectBoth;
import io.talaria.it.programs.Relay;
import io.talaria.it.programs.SamePort;
import io.talaria.it.programs.Survivor;
import io.talaria.it.programs.Talk;
import io.talaria.it.programs.TwoZones;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.counters.reader.CountersReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Network namespaces that share memory on purpose, joined by a bridge as containers are: their
 * connections are accelerated if they end where their addresses say, and only then. Needs root and
 * the command {@code ip}.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class SharedNamespacesTest {
  private static final String PROPERTY = "talaria.namespaces";
  private static final String SHARED = "shared";
  private static final String CLIENT = "10.213.78.2";
  private static final String SERVER = "10.213.78.3";
  private static final String MIDDLE = "10.213.78.4";
  private static final int TRIES = 400;
  private static final String HAPROXY = "/usr/sbin/haproxy";

  @RegisterExtension final Lab lab = new Lab();

  private Bridge bridge;
  private Namespace client;
  private Namespace server;

  @BeforeEach
  void join() throws Exception {
    Pair.BOTH.assume();
    assumeTrue(Settings.fast() == NioTransport.SHM, "only shared memory joins namespaces");
    bridge = Bridge.make(lab);
    client = bridge.member(CLIENT + "/24");
    server = bridge.member(SERVER + "/24");
  }

  private Exchange exchange(Pair pair) {
    Exchange exchange = new Exchange(lab, pair);
    exchange.serverSpec().arg("bind", "0.0.0.0").property(PROPERTY, SHARED).under(server.inside());
    exchange.clientSpec().arg("host", SERVER).property(PROPERTY, SHARED).under(client.inside());
    return exchange;
  }

  static List<Pair> pairs() {
    return Stream.concat(Stream.of(Pair.BOTH), Pair.withOldJava().stream()).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pairs")
  void acrossABridgeConnectionsAreAccelerated(Pair pair) throws Exception {
    pair.assume();
    exchange(pair).run().expectTransport().end();
  }

  @Test
  void threadsThatBlockAreAcceleratedToo() throws Exception {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange
        .serverSpec()
        .arg("bind", SERVER)
        .arg("io", "blocking")
        .property(PROPERTY, SHARED)
        .under(server.inside());
    exchange
        .clientSpec()
        .arg("host", SERVER)
        .arg("io", "blocking")
        .property(PROPERTY, SHARED)
        .under(client.inside());
    exchange.run().expectTransport().end();
  }

  @Test
  void withoutThePropertyInTheClientNothingIsAsked() throws Exception {
    Exchange exchange = exchange(Pair.BOTH);
    exchange.clientSpec().property(PROPERTY, null);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NOT_LOCAL);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  @Test
  void withoutThePropertyInTheServerItDeclines() throws Exception {
    Exchange exchange = exchange(Pair.BOTH);
    exchange.serverSpec().property(PROPERTY, null);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.OTHER_NAMESPACE);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  @Test
  void whereNobodyListensForItTheServerIsRemote() throws Exception {
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("bind", SERVER).under(server.inside());
    exchange.clientSpec().arg("host", SERVER).property(PROPERTY, SHARED).under(client.inside());
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NOT_LOCAL);
    exchange.end();
  }

  /** A connection that does not leave a namespace has nothing to do with the other one. */
  @Test
  void theLoopbackAddressOfAnotherNamespaceIsNotMeant() throws Exception {
    Child other =
        lab.child(Flavour.TALARIA, Survivor.class)
            .arg("role", "server")
            .property(PROPERTY, SHARED)
            .under(server.inside())
            .start();
    int port = other.await("listening").port();
    Exchange exchange = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    exchange.serverSpec().arg("port", port).under(client.inside());
    exchange.clientSpec().property(PROPERTY, SHARED).under(client.inside());
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.OTHER_NAMESPACE);
    exchange.end();
    lab.stop(other);
  }

  // ---- process ids

  private ChildSpec contained(ChildSpec spec, Namespace in) {
    return spec.under(in.inside("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"));
  }

  private List<ConnectionInfo> connections() throws IOException {
    return CountersReader.readDirectory(lab.talariaDir()).processes().stream()
        .flatMap(process -> process.connections().stream())
        .filter(connection -> connection.role() != Role.LISTENER)
        .toList();
  }

  private ConnectionInfo end(Role role) throws IOException {
    return connections().stream().filter(c -> c.role() == role).findFirst().orElseThrow();
  }

  private boolean woken() throws IOException {
    return end(Role.CLIENT).wakeupsSent() > 0 && end(Role.ACCEPTED).wakeupsReceived() > 0;
  }

  /** Where neither sees the processes of the other, sleepers are woken all the same. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"blocking", "selector"})
  void sleepersOfAnotherProcessIdNamespaceAreWoken(String io) throws Exception {
    lab.allowLeaks(); // this namespace cannot tell that those processes have ended
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    contained(exchange.serverSpec(), server)
        .arg("bind", SERVER)
        .arg("io", io)
        .property(PROPERTY, SHARED);
    contained(exchange.clientSpec(), client)
        .arg("host", SERVER)
        .arg("io", io)
        .property(PROPERTY, SHARED);
    exchange.run();
    for (int i = 0; connections().stream().anyMatch(c -> c.transport() != NioTransport.SHM); i++) {
      assertThat(i).as(Transports.describe(connections())).isLessThan(TRIES);
      exchange.again();
    }
    // The accepting side reads first, and sleeps if it begins earlier than the other writes.
    for (int i = 0; !woken(); i++) {
      assertThat(i).as(Transports.describe(connections())).isLessThan(TRIES);
      exchange.again();
    }
    assertThat(connections()).allMatch(c -> c.reason() == Reason.SAME_HOST);
    exchange.end();
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"blocking", "selector"})
  void aKilledPeerEndsItsConnections(String io) throws Exception {
    lab.expectLeftovers();
    Child accepting = survivor("server", io).arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    Child connecting = survivor("client", io).under(client.inside()).start();
    connecting.send("connect " + port + " " + SERVER);
    connecting.await("opened");
    Transports.await(connecting, NioTransport.SHM, Reason.SAME_HOST);
    accepting.kill();
    assertThat(connecting.await("ended").text("in"))
        .matches("eof|(SocketException|IOException):Connection_reset(_by_peer)?");
    lab.stop(connecting);
  }

  private ChildSpec survivor(String role, String io) {
    return lab.child(Flavour.TALARIA, Survivor.class)
        .arg("role", role)
        .arg("io", io)
        .arg("min", 1L << 40)
        .arg("max", 1L << 40)
        .property(PROPERTY, SHARED);
  }

  /** Their process-id namespaces are gone, so a process of another one removes it. */
  @Test
  void whatKilledContainersHaveLeftIsRemoved() throws Exception {
    Child accepting = contained(survivor("server", "selector"), server).arg("bind", SERVER).start();
    int port = accepting.await("listening").port();
    Child connecting = contained(survivor("client", "selector"), client).start();
    connecting.send("connect " + port + " " + SERVER);
    connecting.await("opened");
    long deadlineNs = System.nanoTime() + Child.PATIENCE.toNanos();
    while (connections().stream().filter(SharedNamespacesTest::fast).count() < 2) {
      long lateNs = System.nanoTime() - deadlineNs;
      assertThat(lateNs).as(Transports.describe(connections())).isNegative();
      Thread.sleep(20);
    }
    for (Child each : List.of(accepting, connecting)) {
      List<ProcessHandle> inside =
          ProcessHandle.of(each.pid()).orElseThrow().descendants().toList();
      each.kill();
      for (ProcessHandle handle : inside) {
        handle.onExit().get(60, TimeUnit.SECONDS);
      }
    }
    assertThat(CountersReader.readDirectory(lab.talariaDir()).processes()).isNotEmpty();
    lab.expectLeftovers(); // which are of other namespaces than the sweeper's
  }

  private static boolean fast(ConnectionInfo connection) {
    return connection.transport() == NioTransport.SHM;
  }

  /**
   * A process that stands still in the middle of a proof ends neither connections nor the session.
   */
  @Test
  void aServerThatStandsStillKeepsConnectionsOnTcp() throws Exception {
    lab.expectLeftovers();
    Child accepting =
        survivor("server", "selector").arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    Child connecting = survivor("client", "selector").under(client.inside()).start();
    String connect = "connect " + port + " " + SERVER;
    connecting.send(connect);
    connecting.await("opened");
    Transports.await(connecting, NioTransport.SHM, Reason.SAME_HOST);
    Proc.run("kill", "-STOP", Long.toString(accepting.pid()));
    try {
      connecting.send(connect);
      connecting.await("opened");
      Transports.awaitPlain(connecting, Reason.NOT_DIRECT);
    } finally {
      Proc.run("kill", "-CONT", Long.toString(accepting.pid()));
    }
    connecting.send(connect);
    connecting.await("opened");
    Transports.awaitAll(connecting, SharedNamespacesTest::fast, 2, "accelerated");
    Transports.awaitPlain(connecting, Reason.NOT_DIRECT);
    assertThat(connecting.poll("ended")).isNull();
    connecting.kill();
    accepting.kill();
  }

  // ---- wrong ends

  /** Two bridges have the same addresses, of Ethernet too, and both connections the same ports. */
  @Test
  void sameAddressesOnTwoBridgesAreToldApart() throws Exception {
    Bridge other = Bridge.make(lab);
    Namespace twinOfClient = other.member(CLIENT + "/24");
    Namespace twinOfServer = other.member(SERVER + "/24");
    for (Namespace each : List.of(client, twinOfClient)) {
      each.ip("link", "set", "eth0", "address", "02:42:0a:d5:4e:02");
    }
    for (Namespace each : List.of(server, twinOfServer)) {
      each.ip("link", "set", "eth0", "address", "02:42:0a:d5:4e:03");
    }
    Exchange here = new Exchange(lab, new Pair(Flavour.PLAIN, Flavour.TALARIA));
    Exchange there = new Exchange(lab, new Pair(Flavour.TALARIA, Flavour.PLAIN));
    there.serverSpec().arg("bind", SERVER).property(PROPERTY, SHARED).under(twinOfServer.inside());
    there.clientSpec().arg("host", SERVER).arg("from", 40_001).under(twinOfClient.inside());
    there.run();
    here.serverSpec().arg("bind", SERVER).arg("port", there.port()).under(server.inside());
    here.clientSpec()
        .arg("host", SERVER)
        .arg("from", 40_001)
        .property(PROPERTY, SHARED)
        .under(client.inside());
    here.run();
    Transports.awaitPlain(here.client(), Reason.NOT_DIRECT);
    Transports.awaitPlain(there.server(), Reason.NO_OFFER);
    here.end();
    there.end();
  }

  private Child forward(Namespace in, String bind, int port, String to) throws IOException {
    return lab.child(Flavour.PLAIN, Relay.class)
        .arg("bind", bind)
        .arg("port", port)
        .arg("host", to)
        .under(in.inside())
        .start();
  }

  @Test
  void aProxyBetweenIsNotPassedBy() throws Exception {
    Namespace middle = bridge.member(MIDDLE + "/24");
    Child accepting = talk("server").arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    Child proxy = forward(middle, MIDDLE, port, SERVER);
    proxy.await("listening");
    Child connecting =
        talk("client").arg("host", MIDDLE).arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
    lab.stop(proxy);
  }

  /** The same with one of other people's, which has the kernel move the bytes. */
  @Test
  void haProxyBetweenIsNotPassedBy() throws Exception {
    assumeTrue(Files.isExecutable(Path.of(HAPROXY)), "no " + HAPROXY + " (Debian: haproxy)");
    Namespace middle = bridge.member(MIDDLE + "/24");
    Child accepting = talk("server").arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    Path settings =
        Files.writeString(
            lab.scratch().resolve("haproxy.cfg"),
            """
            defaults
              mode tcp
              option splice-request
              option splice-response
              timeout connect 10s
              timeout client 60s
              timeout server 60s
            listen talk
              bind %s:%d
              server one %s:%d
            """
                .formatted(MIDDLE, port, SERVER, port));
    String number = lab.scratch().resolve("haproxy.pid").toString();
    // It returns when it listens.
    middle.run(HAPROXY, "-D", "-f", settings.toString(), "-p", number);
    lab.afterwards(() -> Proc.run("sh", "-c", "kill $(cat \"$0\")", number));
    Child connecting =
        talk("client").arg("host", MIDDLE).arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
  }

  /** Both ends have the same addresses and ports, but a router could do anything between. */
  @Test
  void aRouterBetweenIsNotTrusted() throws Exception {
    Bridge beyond = Bridge.make(lab);
    Namespace far = beyond.member("10.213.80.3/24");
    Namespace router = bridge.member(MIDDLE + "/24");
    beyond.join(router, "eth1", "10.213.80.4/24");
    router.run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1");
    client.ip("route", "add", "10.213.80.0/24", "via", MIDDLE);
    far.ip("route", "add", "10.213.78.0/24", "via", "10.213.80.4");
    Child accepting = talk("server").arg("bind", "10.213.80.3").under(far.inside()).start();
    int port = accepting.await("listening").port();
    Child connecting =
        talk("client").arg("host", "10.213.80.3").arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
  }

  /** A router that answers for its neighbours, so that the client has no gateway. */
  @Test
  void aRouterThatAnswersForTheServerIsNotTrusted() throws Exception {
    Bridge beyond = Bridge.make(lab);
    Namespace far = beyond.member("10.213.80.3/24");
    Namespace router = bridge.member(MIDDLE + "/24");
    beyond.join(router, "eth1", "10.213.80.4/24");
    router.run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1");
    router.run("sysctl", "-q", "-w", "net.ipv4.conf.eth0.proxy_arp=1");
    router.run("sysctl", "-q", "-w", "net.ipv4.conf.eth1.proxy_arp=1");
    client.ip("route", "add", "10.213.80.0/24", "dev", "eth0");
    far.ip("route", "add", "10.213.78.0/24", "dev", "eth0");
    Child accepting = talk("server").arg("bind", "10.213.80.3").under(far.inside()).start();
    int port = accepting.await("listening").port();
    Child connecting =
        talk("client").arg("host", "10.213.80.3").arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
  }

  /** What a second table says of the route cannot be seen. */
  @Test
  void aSecondTableOfRoutesIsNotTrusted() throws Exception {
    client.ip("route", "add", "10.213.78.0/24", "dev", "eth0", "table", "100");
    client.ip("rule", "add", "from", "all", "lookup", "100");
    Child accepting = talk("server").arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    Child connecting =
        talk("client").arg("host", SERVER).arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
  }

  @Test
  void addressesOfIpv6StayOnTcp() throws Exception {
    client.ip("address", "add", "fd00:78::2/64", "dev", "eth0", "nodad");
    server.ip("address", "add", "fd00:78::3/64", "dev", "eth0", "nodad");
    Exchange exchange = exchange(Pair.BOTH);
    exchange.serverSpec().arg("bind", "::");
    exchange.clientSpec().arg("host", "fd00:78::3");
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NOT_LOCAL);
    exchange.end();
  }

  /** The port of a connection that has been reset is used again at once, again and again. */
  @Test
  void aPortThatIsUsedAgainIsAnotherConnection() throws Exception {
    Child accepting =
        lab.child(Flavour.TALARIA, SamePort.class)
            .arg("role", "server")
            .arg("bind", SERVER)
            .property(PROPERTY, SHARED)
            .under(server.inside())
            .start();
    int port = accepting.await("listening").port();
    Child connecting =
        lab.child(Flavour.TALARIA, SamePort.class)
            .arg("host", SERVER)
            .arg("port", port)
            .arg("from", 40_002)
            .arg("rounds", 2000)
            .property(PROPERTY, SHARED)
            .under(client.inside())
            .start();
    connecting.await("used", Duration.ofSeconds(90));
    assertThat(Transports.acceleratedInBytes(connecting)).isPositive();
    lab.stop(connecting, accepting);
  }

  private ChildSpec talk(String role) {
    return lab.child(Flavour.TALARIA, Talk.class)
        .arg("role", role)
        .arg("first", role.equals("client") ? "me" : "you")
        .arg("bytes", 64 << 10)
        .arg("rounds", 8)
        .arg("io", "selector")
        .property(PROPERTY, SHARED);
  }

  /** Talks until the client knows that it stays on TCP, and a little longer. */
  private void talkOnTcp(Child accepting, Child connecting) throws Exception {
    accepting.await("talked");
    connecting.await("talked");
    Transports.awaitPlain(connecting, Reason.NOT_DIRECT);
    Transports.awaitPlain(accepting, Reason.NO_OFFER, Reason.NOT_DIRECT);
    for (String command : List.of("again", "end")) {
      accepting.send(command);
      connecting.send(command);
    }
    accepting.await("ended");
    connecting.await("ended");
    assertThat(Transports.acceleratedInBytes(accepting)).isZero();
    lab.stop(accepting, connecting);
  }

  /** The server sees its own address, and the client another one. */
  @Test
  void aTranslatedAddressIsNotTheServers() throws Exception {
    assumeTrue(
        Stream.of("/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft")
            .anyMatch(path -> Files.isExecutable(Path.of(path))),
        "the command nft is not installed: nothing translates addresses");
    Child accepting = talk("server").arg("bind", SERVER).under(server.inside()).start();
    int port = accepting.await("listening").port();
    client.run("nft", "add table ip nat");
    client.run("nft", "add chain ip nat out { type nat hook output priority -100 ; }");
    client.run(
        "nft",
        "add rule ip nat out ip daddr " + MIDDLE + " tcp dport " + port + " dnat to " + SERVER);
    Child connecting =
        talk("client").arg("host", MIDDLE).arg("port", port).under(client.inside()).start();
    talkOnTcp(accepting, connecting);
  }

  private Child meeting(Namespace in, String bind, int from, String host, int port)
      throws IOException {
    return lab.child(Flavour.TALARIA, ConnectBoth.class)
        .arg("bind", bind)
        .arg("from", from)
        .arg("host", host)
        .arg("port", port)
        .property(PROPERTY, SHARED)
        .under(in.inside())
        .start();
  }

  /** No side accepts, so neither has what the other offers. */
  @Test
  void twoThatConnectToEachOtherAtOnceStayOnTcp() throws Exception {
    Child one = meeting(client, CLIENT, 40_004, SERVER, 40_005);
    Child other = meeting(server, SERVER, 40_005, CLIENT, 40_004);
    for (Child each : List.of(one, other)) {
      each.await("used", Duration.ofSeconds(90));
      assertThat(Transports.acceleratedInBytes(each)).isZero();
    }
    lab.stop(one, other);
  }

  @Test
  void twoOfOneNamespaceThatConnectAtOnceStayOnTcp() throws Exception {
    Child one = meeting(client, "127.0.0.1", 40_006, "127.0.0.1", 40_007);
    Child other = meeting(client, "127.0.0.1", 40_007, "127.0.0.1", 40_006);
    for (Child each : List.of(one, other)) {
      each.await("used", Duration.ofSeconds(90));
      assertThat(Transports.acceleratedInBytes(each)).isZero();
    }
    lab.stop(one, other);
  }

  @Test
  void aConnectionOfASocketWithItselfStaysOnTcp() throws Exception {
    Child self = meeting(client, CLIENT, 40_008, CLIENT, 40_008);
    self.await("used", Duration.ofSeconds(90));
    assertThat(Transports.acceleratedInBytes(self)).isZero();
    lab.stop(self);
  }

  /** Two interfaces have one link-local address, so that addresses and ports are not enough. */
  @Test
  void connectionsOfOneLinkLocalAddressAreToldApartByTheirInterfaces() throws Exception {
    bridge.join(client, "eth1", "10.213.79.2/24");
    for (String device : List.of("eth0", "eth1")) {
      client.ip("address", "add", "fe80::78/64", "dev", device, "nodad");
    }
    Child using =
        lab.child(Flavour.TALARIA, TwoZones.class)
            .arg("address", "fe80::78")
            .under(client.inside())
            .start();
    using.await("used", Duration.ofSeconds(90));
    assertThat(Transports.acceleratedInBytes(using)).isPositive();
    lab.stop(using);
  }
}
