// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.negotiation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.nio.Reason;
import io.talaria.nio.Role;
import io.talaria.nio.hosts.HostSettings;
import io.talaria.nio.negotiation.Wire.Hello;
import io.talaria.nio.process.Host;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

/**
 * The catalogue of reasons: each of them comes about, and is shown where docs/reasons.md says.
 *
 * <p>{@link #produce} has a case for each, or this class does not compile. A case does what makes
 * the reason come about, and returns where one can see it; only what is seen there is compared.
 */
@Timeout(180)
class ReasonsTest {
  private static final int PORT = 7031;
  private static final int NOBODY = 65_534;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final long DEADLINE_NS = 60_000_000_000L;

  @TempDir Path dir;

  private final FakeTransport transport = new FakeTransport();
  private Scene scene;

  /** The listener's, if that is not in the same one. */
  private Scene elsewhere;

  /** Where a reason can be seen. */
  @FunctionalInterface
  private interface Shown {
    Reason now() throws Exception;
  }

  /** What a listener does with a session. */
  @FunctionalInterface
  private interface Answer {
    void to(RawSession session) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void comesAboutAndIsShown(Reason reason) throws Exception {
    scene = new Scene(dir);
    try {
      Shown shown = produce(reason);
      long start = System.nanoTime();
      while (shown.now() != reason && System.nanoTime() - start < DEADLINE_NS) {
        Thread.sleep(1);
      }
      assertThat(shown.now()).isEqualTo(reason);
    } finally {
      scene.close();
      if (elsewhere != null) {
        elsewhere.close();
      }
    }
  }

  private Shown produce(Reason reason) throws Exception {
    return switch (reason) {
      case PENDING, TIMED_OUT -> atAListenerThat(session -> {});
      case SAME_HOST -> betweenTwoOfThisHost();
      case ANNOUNCED -> ofTheListener();
      case PEER_NOT_ACCELERATED -> ofTheClient(scene.connect(scene.listenPlainly()));
      case NOT_LOCAL -> toAnotherAddress();
      case NO_OFFER -> fromAPlainClient();
      case NOT_MATCHED -> ofTheClient(scene.connect(scene.listen())); // nobody accepts it
      case OTHER_NAMESPACE -> rejected(hello -> with(hello, hello.bootId(), "net:[1]"));
      case OTHER_BOOT -> rejected(hello -> with(hello, "another", hello.networkNamespace()));
      case VERSION_MISMATCH -> rejected(ReasonsTest::ofTheNextVersion);
      case REFUSED -> rejected(hello -> hello); // the listener has another transport
      case OTHER_USER -> atAnotherUsersListener();
      case CLOSED_EARLY -> ofAConnectionThatEndsAlready();
      case BUSY -> atAListenerThatReadsNothing();
      case NO_RUNTIME_DIR -> in(dir.resolve("no/run"), dir.resolve("shm"));
      case INSECURE_DIR -> in(openToAll(), dir.resolve("shm"));
      case NO_SHM_DIR -> in(dir.resolve("run"), dir.resolve("no/shm"));
      case SHM_FULL -> of(ScarceProcess.withoutSpace(dir));
      case MAP_FAILED -> of(ScarceProcess.withoutAddresses(dir));
      case LIMIT -> of(new Node(dir.resolve("node"), transport, new ScarceProvider()));
      case PROTOCOL -> atAListenerThat(session -> session.write(ByteBuffer.allocate(4)));
      case PEER_LOST -> atAListenerThat(RawSession::close);
      case INTERNAL -> withATransportThatFails();
      case NO_UCX -> withoutItsClasses();
      case BETWEEN_HOSTS -> throw new TestAbortedException("needs two hosts: HostsTest of it");
      case NO_RULE -> ofTheHostPair("connect 10.0.0.0/8 *", 1);
      case HOSTS_OFF -> withoutRulesOrKey();
      case NO_RENDEZVOUS -> of(new HostPair(dir).connect()); // nobody listens
      case NOT_AUTHENTICATED -> ofTheHostPair(HostPair.ALL, 2);
      case UCX_TCP_ONLY -> thatUcxReachesByTcp();
      case OTHER_SHM_DIR -> atAListenerWithSharedMemoryElsewhere();
      case PORT_LEFT_OUT -> whoLeavesAllPortsOut();
      case NOT_EARNED -> whoHasCarriedNothingYet();
      case NOT_DIRECT ->
          throw new TestAbortedException("needs two namespaces: SharedNamespacesTest of it");
      case NO_PROC -> throw new TestAbortedException("needs a namespace: NoProcTest of agent");
      case NO_JDK_NET -> throw new TestAbortedException("needs an image: RunTimeImageTest of it");
    };
  }

  private Shown ofTheClient(SocketChannel client) {
    return () -> scene.shown(client, Role.CLIENT);
  }

  private static Shown of(Reason seen) {
    return () -> seen;
  }

  // ---- between hosts

  private static Shown of(FakeChannel channel) {
    return () -> channel.reason;
  }

  private Shown ofTheHostPair(String rules, int key) throws Exception {
    HostPair pair =
        new HostPair(
            dir, HostPair.settings(dir, HostPair.ALL, 1), HostPair.settings(dir, rules, key));
    pair.server.announce(pair.port);
    return of(pair.connect());
  }

  private Shown withoutRulesOrKey() throws Exception {
    HostSettings none = HostPair.fromProperties("/no/rules", "/no/key");
    HostPair pair = new HostPair(dir, none, none);
    assertThat(none.problem()).isEqualTo("there is no file /no/rules");
    return of(pair.connect());
  }

  private Shown thatUcxReachesByTcp() throws Exception {
    HostPair pair = new HostPair(dir);
    pair.clientTransport.worthless = Reason.UCX_TCP_ONLY;
    pair.server.announce(pair.port);
    FakeChannel client = pair.connect();
    pair.accept(client);
    return of(client);
  }

  /** What a connection of a node's is told. */
  private static Shown of(Node client) {
    FakeChannel channel = new FakeChannel(FakeChannel.key(1, PORT));
    client.negotiator.connected(channel);
    return () -> channel.reason;
  }

  // ---- connections and listeners as programs make them

  private Shown betweenTwoOfThisHost() throws Exception {
    ServerSocketChannel listener = scene.listen();
    SocketChannel client = scene.connect(listener);
    SocketChannel server = scene.accept(listener);
    return () -> {
      Scene.exchange(client, server);
      return scene.shown(client, Role.CLIENT);
    };
  }

  private Shown ofTheListener() throws Exception {
    ServerSocketChannel listener = scene.listen();
    return () -> scene.shown(listener, Role.LISTENER);
  }

  private Shown toAnotherAddress() throws Exception {
    Optional<InetAddress> address = Scene.outerAddress();
    assumeTrue(address.isPresent(), "this host has loopback addresses only");
    return ofTheClient(scene.connectFromLoopback(scene.listenPlainly(address.get())));
  }

  private Shown fromAPlainClient() throws Exception {
    ServerSocketChannel listener = scene.listen();
    scene.connectPlainly(listener);
    SocketChannel server = scene.accept(listener);
    return () -> scene.shown(server, Role.ACCEPTED);
  }

  private Shown withoutItsClasses() throws Exception {
    System.setProperty("talaria.transports", "ucx");
    try {
      return in(dir.resolve("run"), dir.resolve("shm"));
    } finally {
      System.clearProperty("talaria.transports");
    }
  }

  private Shown whoLeavesAllPortsOut() throws Exception {
    System.setProperty("talaria.ports.except", "1-65535");
    try {
      return in(dir.resolve("run"), dir.resolve("shm"));
    } finally {
      System.clearProperty("talaria.ports.except");
    }
  }

  private Shown whoHasCarriedNothingYet() throws Exception {
    String before = System.setProperty("talaria.upgrade.after", "1");
    try {
      return in(dir.resolve("run"), dir.resolve("shm"));
    } finally {
      if (before == null) {
        System.clearProperty("talaria.upgrade.after");
      } else {
        System.setProperty("talaria.upgrade.after", before);
      }
    }
  }

  private Shown atAListenerWithSharedMemoryElsewhere() throws Exception {
    scene.close();
    Path run = Scene.privateDirectory(dir.resolve("one run-time directory"));
    scene = new Scene(run, dir.resolve("here"));
    elsewhere = new Scene(run, dir.resolve("elsewhere"));
    ServerSocketChannel listener = elsewhere.listen();
    SocketChannel client = scene.connect(listener);
    SocketChannel server = elsewhere.accept(listener);
    return () -> {
      Scene.exchange(client, server);
      return scene.shown(client, Role.CLIENT);
    };
  }

  private Shown in(Path run, Path shm) throws Exception {
    scene.close();
    scene = new Scene(run, shm);
    return ofTheClient(scene.connect(scene.listenPlainly()));
  }

  private Path openToAll() throws Exception {
    Path open = Files.createDirectory(dir.resolve("open"));
    return Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  // ---- clients of a listener that says what it likes

  private Shown atAListenerThat(Answer answer) throws Exception {
    ServerSocketChannel listener = scene.listenPlainly();
    RawSession.Listener announced = scene.announce(listener);
    SocketChannel client = scene.connect(listener);
    RawSession session = announced.accept();
    session.expect(Wire.HELLO);
    answer.to(session);
    return ofTheClient(client);
  }

  private Shown ofAConnectionThatEndsAlready() throws Exception {
    ServerSocketChannel listener = scene.listenPlainly();
    RawSession.Listener announced = scene.announce(listener);
    SocketChannel client = scene.connect(listener);
    RawSession session = announced.accept();
    session.expect(Wire.HELLO);
    session.write(RawSession.welcome(Host.pid()));
    int id = Wire.id(session.expectBehindTransport(Wire.OFFER));
    client.shutdownOutput();
    session.write(Wire.answer(id, NOTHING));
    return ofTheClient(client);
  }

  /** A client whose handshake is changed on its way to a listener; the answer goes back. */
  private Shown rejected(UnaryOperator<Hello> change) throws Exception {
    Node server = announced();
    ServerSocketChannel listener = scene.listenPlainly();
    RawSession.Listener announced = scene.announce(listener);
    SocketChannel client = scene.connect(listener);
    RawSession fromClient = announced.accept();
    Hello hello = Wire.hello(fromClient.expect(Wire.HELLO));
    try (RawSession toServer = RawSession.dial(server.announced(PORT))) {
      toServer.write(Wire.hello(change.apply(hello)));
      Reason why = Wire.reason(toServer.expect(Wire.REJECT));
      assertThat(server.negotiator.counters().totals().refused()).containsEntry(why, 1L);
      fromClient.write(Wire.reject(why));
    }
    return ofTheClient(client);
  }

  private static Hello with(Hello hello, String bootId, String networkNamespace) {
    return new Hello(
        hello.version(),
        hello.pid(),
        bootId,
        networkNamespace,
        hello.shares(),
        hello.transport(),
        hello.payload());
  }

  /** Of another version only the start is known. */
  private static Hello ofTheNextVersion(Hello hello) {
    return new Hello(Wire.VERSION + 1, hello.pid(), "", "", false, "", NOTHING);
  }

  private Node announced() throws Exception {
    Node server = new Node(dir.resolve("node"), transport);
    assertThat(server.announce(PORT)).isEqualTo(Reason.ANNOUNCED);
    return server;
  }

  /** The listener's directory becomes another user's, so that this process is the stranger. */
  private Shown atAnotherUsersListener() throws Exception {
    Node server = announced();
    Path announcement = server.announced(PORT).getFileName();
    Path moved = Files.move(server.directory, dir.resolve("moved"));
    Files.createSymbolicLink(server.directory, directoryOfAnother());
    RawSession.dial(moved.resolve(announcement)).awaitEnd();
    return () ->
        server.negotiator.counters().totals().refused().keySet().stream().findAny().orElse(null);
  }

  private Path directoryOfAnother() throws Exception {
    Path root = Path.of("/");
    if (!Files.getOwner(root).equals(Files.getOwner(dir))) {
      return root;
    }
    Path given = Files.createDirectory(dir.resolve("given"));
    return Files.setAttribute(given, "unix:uid", NOBODY);
  }

  // ---- offers that are never answered

  private Shown offered(Answer then) throws Exception {
    Path run = Scene.privateDirectory(dir.resolve("node"));
    try (RawSession.Listener announced = new RawSession.Listener(run, PORT)) {
      Shown shown = of(new Node(run, transport));
      RawSession session = announced.accept();
      session.expect(Wire.HELLO);
      session.write(RawSession.welcome(1));
      session.expect(Wire.OFFER);
      then.to(session);
      return shown;
    }
  }

  private Shown atAListenerThatReadsNothing() throws Exception {
    return offered(
        session -> {
          for (int i = 0; i < 20_000; i++) {
            transport.peers.get(0).send(ByteBuffer.allocate(1000));
          }
        });
  }

  private Shown withATransportThatFails() throws Exception {
    return offered(
        session -> {
          transport.onMessage =
              message -> {
                throw new IllegalStateException("as the test wants");
              };
          session.write(Wire.transport(ByteBuffer.allocate(1)));
        });
  }
}
