// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.ChildSpec;
import io.talaria.it.harness.Event;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.JoinedNamespace;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.it.programs.Sink;
import io.talaria.it.programs.StreamClient;
import io.talaria.it.programs.Survivor;
import io.talaria.it.programs.WriteExit;
import io.talaria.nio.ConnectionInfo;
import io.talaria.nio.NioTransport;
import io.talaria.nio.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Connections between hosts, which are two network namespaces here: what a rule, a key and UCX make
 * of them. UCX is kept to its tcp, because there is no other network between the two. Needs root,
 * the command {@code ip} and UCX.
 */
@Timeout(value = 90, unit = TimeUnit.SECONDS)
@Tag("alone")
class HostsTest {
  private static final int MESSAGE_BYTES = 4 << 20;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(40);
  private static final int ROUNDS = 3;
  private static final int SPARE = 3;
  private static final String RESET = "(SocketException|IOException):Connection_reset(_by_peer)?";
  private static final String BROKEN_PIPE = "(SocketException|IOException):Broken_pipe";
  private static final Duration NOTICE = Duration.ofSeconds(10);

  @RegisterExtension final Lab lab = new Lab();

  private JoinedNamespace namespace;
  private Path key;
  private Path rules;

  @BeforeEach
  void makeHosts() throws Exception {
    Flavour.TALARIA.assume();
    assumeTrue(Settings.ucxInstalled(), "no UCX here");
    namespace = JoinedNamespace.make(lab);
    key = key("key", 1);
    String all = "connect " + namespace.innerAddress() + "/30 *\nbind * *\n";
    rules = Files.writeString(lab.scratch().resolve("rules"), all);
  }

  private Path key(String name, int content) throws IOException {
    byte[] secret = new byte[32];
    Arrays.fill(secret, (byte) content);
    Path file = Files.write(lab.scratch().resolve(name), secret);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private ChildSpec outside(ChildSpec child) {
    return between(
        child.under("env", "UCX_TLS=tcp", "UCX_NET_DEVICES=" + namespace.outerInterface()));
  }

  private ChildSpec inside(ChildSpec child) {
    String device = "UCX_NET_DEVICES=" + namespace.innerInterface();
    return between(child.under(namespace.inside("env", "UCX_TLS=tcp", device)));
  }

  private ChildSpec between(ChildSpec child) {
    return child
        .property("talaria.rules", rules)
        .property("talaria.key", key)
        .property("talaria.ucx.tcp", true);
  }

  private Exchange exchange() {
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    inside(exchange.serverSpec()).arg("bind", "0.0.0.0");
    outside(exchange.clientSpec()).arg("host", namespace.innerAddress());
    return exchange;
  }

  /** Lets both use the connection until both directions have switched. */
  private static ConnectionInfo untilFast(Child server, Child client, String command, String event)
      throws Exception {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!(fast(server) && fast(client)) && System.nanoTime() < deadlineNs) {
      server.send(command);
      client.send(command);
      server.await(event);
      client.await(event);
    }
    Transports.await(server, NioTransport.UCX, Reason.BETWEEN_HOSTS);
    return Transports.await(client, NioTransport.UCX, Reason.BETWEEN_HOSTS);
  }

  private static boolean fast(Child child) throws IOException {
    return Transports.of(child).stream().anyMatch(c -> c.transport() == NioTransport.UCX);
  }

  @ParameterizedTest
  @ValueSource(strings = {"selector", "blocking"})
  void aRuleAndAKeyMakeItFastAndEachByteArrives(String io) throws Exception {
    Exchange exchange = exchange();
    exchange.serverSpec().arg("io", io).arg("bytes", MESSAGE_BYTES);
    exchange.clientSpec().arg("io", io).arg("bytes", MESSAGE_BYTES);
    exchange.run();
    ConnectionInfo connection = untilFast(exchange.server(), exchange.client(), "again", "talked");
    assertThat(connection.detail()).startsWith("ucx tcp");
    exchange.end(); // once more, all of it by UCX
  }

  /** The end of the control connection overtakes the bytes, which go another way. */
  @ParameterizedTest
  @CsvSource({
    "close-exit, selector, 16777216, false",
    "exit, blocking, 16777216, false",
    "close-exit, blocking, 1048576, true",
    "exit, selector, 1048576, true",
  })
  void whoWritesAndLeavesLosesNothing(String leave, String io, int bytes, boolean late)
      throws Exception {
    Child reader =
        inside(lab.child(Flavour.TALARIA, Sink.class))
            .arg("role", "server")
            .arg("bind", "0.0.0.0")
            .arg("io", io)
            .arg("hold", late ? "yes" : "no")
            .arg("min", bytes)
            .arg("max", bytes)
            .start();
    Child writer =
        outside(lab.child(Flavour.TALARIA, WriteExit.class))
            .arg("host", namespace.innerAddress())
            .arg("port", reader.await("listening").port())
            .arg("io", io)
            .arg("leave", leave)
            .arg("min", bytes)
            .arg("max", bytes)
            .start();
    untilFast(reader, writer, "greet", "greeted");
    reader.send("go");
    writer.send("go");
    if (late) {
      writer.awaitExit(0);
      reader.send("read");
    }
    Event drained = reader.await("drained");
    assertThat(drained.number("received")).isEqualTo(bytes);
    assertThat(drained.text("end")).isEqualTo("eof");
    writer.awaitExit(0);
    lab.stop(reader);
  }

  /** A client that is still streaming sees its servers killed, one after the other. */
  @ParameterizedTest
  @ValueSource(strings = {"selector", "blocking"})
  void theEndOfAKilledServerIsNoticedAndLeavesNothing(String io) throws Exception {
    Child client = streams(outside(lab.child(Flavour.TALARIA, Survivor.class)), "client", io);
    int descriptors = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Child server = streams(inside(lab.child(Flavour.TALARIA, Survivor.class)), "server", io);
      client.send("connect " + server.await("listening").port() + " " + namespace.innerAddress());
      client.await("opened");
      awaitFast(server, client);
      long killedNs = System.nanoTime();
      server.kill();
      Event ended = client.await("ended", Duration.ofSeconds(30));
      assertThat(Duration.ofNanos(ended.nanoTime() - killedNs)).as("%s", ended).isLessThan(NOTICE);
      assertThat(ended.text("in")).as("%s", ended).matches("eof|" + RESET);
      assertThat(ended.text("out")).as("%s", ended).matches(BROKEN_PIPE + "|" + RESET);
      if (round == 0) {
        descriptors = Proc.descriptors(client); // with UCX loaded and a worker or two
      }
    }
    long startNs = System.nanoTime();
    while ((Proc.descriptors(client) > descriptors + SPARE || !Transports.of(client).isEmpty())
        && System.nanoTime() - startNs < LIMIT_NS) {
      Thread.sleep(20);
    }
    assertThat(Proc.descriptors(client)).isLessThanOrEqualTo(descriptors + SPARE);
    assertThat(Transports.of(client)).isEmpty();
    lab.stop(client);
  }

  private static Child streams(ChildSpec child, String role, String io) throws IOException {
    return child
        .arg("role", role)
        .arg("bind", "0.0.0.0")
        .arg("io", io)
        .arg("min", 1L << 40)
        .arg("max", 1L << 40)
        .start();
  }

  private static void awaitFast(Child server, Child client) throws Exception {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!(fast(server) && fast(client)) && System.nanoTime() < deadlineNs) {
      Thread.sleep(5);
    }
    Transports.await(server, NioTransport.UCX, Reason.BETWEEN_HOSTS);
    Transports.await(client, NioTransport.UCX, Reason.BETWEEN_HOSTS);
  }

  @Test
  void theEndOfAKilledClientIsNoticed() throws Exception {
    Child server =
        streams(inside(lab.child(Flavour.TALARIA, Survivor.class)), "server", "selector");
    int port = server.await("listening").port();
    Child client =
        outside(lab.child(Flavour.TALARIA, StreamClient.class))
            .arg("host", namespace.innerAddress())
            .arg("port", port)
            .arg("io", "selector")
            .arg("min", 1L << 40)
            .arg("max", 1L << 40)
            .start();
    server.await("opened");
    awaitFast(server, client);
    long killedNs = System.nanoTime();
    client.kill();
    Event ended = server.await("ended", Duration.ofSeconds(30));
    assertThat(Duration.ofNanos(ended.nanoTime() - killedNs)).isLessThan(NOTICE);
    lab.stop(server);
  }

  @Test
  void anotherKeyStaysPlain() throws Exception {
    Exchange exchange = exchange();
    exchange.clientSpec().property("talaria.key", key("other", 2));
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NOT_AUTHENTICATED);
    Transports.awaitPlain(exchange.server(), Reason.NO_OFFER);
    exchange.end();
  }

  @Test
  void noRuleForTheClientStaysPlain() throws Exception {
    Exchange exchange = exchange();
    Path others =
        Files.writeString(lab.scratch().resolve("others"), "connect 10.9.0.0/16 *\nbind * *\n");
    exchange.clientSpec().property("talaria.rules", others);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NO_RULE);
    exchange.end();
  }

  @Test
  void noRuleForTheServerStaysPlain() throws Exception {
    Exchange exchange = exchange();
    Path others = Files.writeString(lab.scratch().resolve("others"), "bind * 1\n");
    exchange.serverSpec().property("talaria.rules", others);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.NO_RENDEZVOUS);
    exchange.end();
  }

  @Test
  void tcpAloneGainsNothing() throws Exception {
    Exchange exchange = exchange();
    exchange.clientSpec().property("talaria.ucx.tcp", false);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.UCX_TCP_ONLY);
    exchange.end();
  }

  @Test
  void aKeyThatOthersCanReadIsNotUsed() throws Exception {
    Exchange exchange = exchange();
    Path open = key("open", 1);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    exchange.clientSpec().property("talaria.key", open);
    exchange.run();
    Transports.awaitPlain(exchange.client(), Reason.HOSTS_OFF);
    exchange.end();
  }
}
