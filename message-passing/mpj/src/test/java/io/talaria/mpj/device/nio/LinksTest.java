// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.datatype.BaseType;
import io.talaria.mpj.datatype.DensePayload;
import io.talaria.mpj.device.CommunicationException;
import io.talaria.mpj.device.Device;
import io.talaria.mpj.device.Operation;
import io.talaria.mpj.device.Payload;
import io.talaria.mpj.device.RankGoneException;
import io.talaria.mpj.device.frame.FrameInput;
import io.talaria.mpj.device.frame.Peers;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Waiting;
import io.talaria.nio.authentication.KeyProof;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who comes to a rank's listener, and is not a rank of its job, or ceases to behave as one. */
@Timeout(120)
class LinksTest {
  private static final byte[] SECRET =
      "the secret of this job, 32 bytes".getBytes(StandardCharsets.UTF_8);

  private Links links;
  private Engine engine;

  @BeforeEach
  void rankZeroOfTwo() throws Exception {
    Links.Options options = options(SECRET);
    links = new Links(0, 2, options);
    engine = new Engine(new TransportDevice(links, 0, 2, 1000, 1 << 20, null), Waiting.ASLEEP);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static Links.Options options(byte[] secret) {
    return new Links.Options().secret(secret).bufferBytes(16384).graceNs(0);
  }

  private InetSocketAddress address() {
    return RankAddress.read(links.rankAddress()).get(0);
  }

  private void refused(int count) throws Exception {
    long until = System.nanoTime() + 60_000_000_000L;
    while (links.refused() < count && System.nanoTime() < until) {
      Thread.sleep(5);
    }
    assertThat(links.refused()).isGreaterThanOrEqualTo(count);
  }

  /** Sends, and returns how many bytes came back before the end. */
  private int send(byte[] bytes) throws Exception {
    try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(bytes);
      int came = 0;
      try {
        while (socket.getInputStream().read() >= 0) {
          came++;
        }
      } catch (SocketException e) {
        // Reset: unread bytes of ours were there.
      }
      return came;
    }
  }

  @Test
  void whatIsNotOfARankIsClosedAndCounted() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 20; i++) {
      byte[] junk = new byte[56 + random.nextInt(500)];
      random.nextBytes(junk);
      assertThat(send(junk)).isZero();
    }
    refused(20);
    assertThat(links.lastRefusal()).contains("127.0.0.1").contains("not of a rank");
  }

  @Test
  void whoConnectsInSilenceKeepsNoRankOut() throws Exception {
    List<Socket> silent = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      silent.add(new Socket(address().getAddress(), address().getPort()));
    }
    refused(200 - 64);
    rankOne().close();
    fails("the connection ended");
    for (Socket socket : silent) {
      socket.close();
    }
  }

  @Test
  void aRankIsReachedWhileItsVirtualThreadsCompute() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    int carriers =
        Integer.getInteger(
            "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    for (int i = 0; i < carriers; i++) {
      Thread.ofVirtual()
          .start(
              () -> {
                while (!over.get()) {
                  Thread.onSpinWait();
                }
              });
    }
    try {
      rankOne().close();
    } finally {
      over.set(true);
    }
    fails("the connection ended");
  }

  @Test
  void allRanksOfAJobMayConnectAtOnce() throws Exception {
    int size = 200;
    Links many = new Links(0, size, options(SECRET));
    List<SocketChannel> ranks = new ArrayList<>();
    try (Engine zero =
        new Engine(new TransportDevice(many, 0, size, 1000, 1 << 20, null), Waiting.ASLEEP)) {
      assertThat(zero.rank()).isZero();
      InetSocketAddress there = RankAddress.read(many.rankAddress()).get(0);
      for (int rank = 1; rank < size; rank++) {
        SocketChannel channel = SocketChannel.open(there);
        channel.configureBlocking(false);
        ranks.add(channel);
      }
      // When the last has been answered, all are known there.
      for (int rank : new int[] {size - 1, 1}) {
        Handshake handshake = new Handshake(ranks.get(rank - 1), SECRET);
        assertThat(handshake.connect(rank, 0)).as("rank %d", rank).isEqualTo(Handshake.WELCOME);
      }
      assertThat(many.refused()).isZero();
    } finally {
      for (SocketChannel channel : ranks) {
        channel.close();
      }
    }
  }

  @Test
  void aLookAtManyConnectionsTakesNoWakeUp() throws Exception {
    int size = 10; // The selector is asked for more than eight.
    Peers nobody =
        new Peers() {
          @Override
          public void arrived(int rank, FrameInput input) {}

          @Override
          public void fetched(long id) {}

          @Override
          public void gone(int rank, RankGoneException why) {}
        };
    List<SocketChannel> ranks = new ArrayList<>();
    try (Links many = new Links(0, size, options(SECRET))) {
      InetSocketAddress there = RankAddress.read(many.rankAddress()).get(0);
      for (int rank = 1; rank < size; rank++) {
        SocketChannel channel = SocketChannel.open(there);
        channel.configureBlocking(false);
        ranks.add(channel);
        assertThat(new Handshake(channel, SECRET).connect(rank, 0)).isEqualTo(Handshake.WELCOME);
      }
      while (many.open() < size - 1) {
        int ignored = many.round(nobody);
      }
      many.sleep(100_000_000); // Takes the wake-ups of those that have connected.
      assertThat(many.arm()).isTrue();
      many.wake();
      int ignored = many.round(nobody); // As by another thread, before this one sleeps.
      long start = System.nanoTime();
      many.sleep(30_000_000_000L);
      assertThat(System.nanoTime() - start).isLessThan(20_000_000_000L);
      many.disarm();
    } finally {
      for (SocketChannel channel : ranks) {
        channel.close();
      }
    }
  }

  @Test
  void whoEndsInTheMiddleIsCounted() throws Exception {
    try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
      socket.getOutputStream().write(new byte[10]);
    }
    refused(1);
    assertThat(links.lastRefusal()).contains("closed the connection");
  }

  private static ByteBuffer hello(int version) {
    int flags = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 0;
    return ByteBuffer.allocate(56)
        .putLong(0x54616c4d504a6e31L)
        .putInt(version)
        .putInt(1)
        .putInt(0)
        .putInt(flags);
  }

  @Test
  void anotherVersionIsNamed() throws Exception {
    assertThat(send(hello(1).array())).isEqualTo(48);
    refused(1);
    assertThat(links.lastRefusal()).contains("version 1, this rank 2");
  }

  @Test
  void aProofThatIsNoneIsRefusedWithoutAnother() throws Exception {
    byte[] words = Arrays.copyOf(hello(2).array(), 56 + 32);
    assertThat(send(words)).as("challenge only").isEqualTo(48);
    refused(1);
    assertThat(links.lastRefusal()).contains("has not the secret");
  }

  /** What a peer sends instead of PROOF, and how it differs from the right one. */
  private interface Forgery {
    byte[] proof(byte[] hello, byte[] challenge, InetSocketAddress own, InetSocketAddress other);
  }

  private static byte[] proof(
      String protocol, int version, byte[] hello, byte[] challenge, boolean caller, byte[] ends) {
    byte[] callerNonce = Arrays.copyOfRange(hello, 24, 56);
    byte[] answererNonce = Arrays.copyOfRange(challenge, 16, 48);
    return new KeyProof(protocol, version, SECRET, callerNonce, answererNonce)
        .proof(caller, hello, challenge, ends);
  }

  private static byte[] rightProof(
      byte[] hello, byte[] challenge, InetSocketAddress own, InetSocketAddress other) {
    return proof("Talaria MPJ", 2, hello, challenge, true, KeyProof.addresses(own, other));
  }

  /** Says hello, and writes a proof for the challenge. */
  private static void sendProof(Socket socket, Forgery forgery) throws Exception {
    socket.setSoTimeout(60_000);
    byte[] hello = hello(2).put(KeyProof.nonce()).array();
    socket.getOutputStream().write(hello);
    byte[] challenge = socket.getInputStream().readNBytes(48);
    InetSocketAddress own = (InetSocketAddress) socket.getLocalSocketAddress();
    InetSocketAddress other = (InetSocketAddress) socket.getRemoteSocketAddress();
    socket.getOutputStream().write(forgery.proof(hello, challenge, own, other));
  }

  /** How many bytes came back for a proof. */
  private int prove(Forgery forgery) throws Exception {
    try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
      sendProof(socket, forgery);
      socket.shutdownOutput();
      try {
        return socket.getInputStream().readNBytes(36).length;
      } catch (SocketException e) {
        return 0; // Reset: unread bytes of ours were there.
      }
    }
  }

  private static InetSocketAddress moved(InetSocketAddress address) {
    return new InetSocketAddress(address.getAddress(), address.getPort() ^ 1);
  }

  @Test
  void aProofThatIsOfAnythingElseIsRefused() throws Exception {
    byte[][] recorded = new byte[1][];
    assertThat(
            prove(
                (hello, challenge, own, other) ->
                    recorded[0] = rightProof(hello, challenge, own, other)))
        .as("the right one")
        .isEqualTo(36);
    List<Forgery> forgeries =
        List.of(
            // Replayed.
            (hello, challenge, own, other) -> recorded[0],
            // For other nonces.
            (hello, challenge, own, other) ->
                rightProof(hello(2).put(new byte[32]).array(), challenge, own, other),
            (hello, challenge, own, other) ->
                rightProof(hello, Arrays.copyOf(Arrays.copyOf(challenge, 16), 48), own, other),
            // Of the other side.
            (hello, challenge, own, other) ->
                proof("Talaria MPJ", 2, hello, challenge, false, KeyProof.addresses(own, other)),
            // For other addresses.
            (hello, challenge, own, other) -> rightProof(hello, challenge, moved(own), other),
            (hello, challenge, own, other) -> rightProof(hello, challenge, own, moved(other)),
            (hello, challenge, own, other) -> rightProof(hello, challenge, other, own),
            (hello, challenge, own, other) ->
                rightProof(hello, challenge, new InetSocketAddress("192.0.2.1", 7), other),
            (hello, challenge, own, other) ->
                proof("Talaria MPJ", 2, hello, challenge, true, new byte[0]),
            // Of another protocol or version.
            (hello, challenge, own, other) ->
                proof(
                    "Talaria verbs-net", 2, hello, challenge, true, KeyProof.addresses(own, other)),
            (hello, challenge, own, other) ->
                proof("Talaria MPJ", 1, hello, challenge, true, KeyProof.addresses(own, other)));
    for (int i = 0; i < forgeries.size(); i++) {
      assertThat(prove(forgeries.get(i))).as("forgery %d", i).isZero();
      refused(i + 1);
      assertThat(links.lastRefusal()).contains("has not the secret");
    }
    // Cut off.
    assertThat(prove((h, c, own, other) -> Arrays.copyOf(rightProof(h, c, own, other), 31)))
        .isZero();
    refused(forgeries.size() + 1);
    assertThat(links.lastRefusal()).contains("closed the connection");
  }

  @Test
  void aConnectorFindsItsOwnProofReflected() throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(loopback(0))) {
      InetSocketAddress there = (InetSocketAddress) server.getLocalAddress();
      try (SocketChannel channel = SocketChannel.open(there)) {
        channel.configureBlocking(false);
        Thread mirror = Thread.ofVirtual().start(() -> reflect(server));
        assertThatThrownBy(() -> new Handshake(channel, SECRET).connect(1, 0))
            .isInstanceOf(Handshake.RefusedException.class)
            .hasMessageContaining("has not the secret");
        mirror.join();
      }
    }
  }

  /** An acceptor that has no secret: it sends back the nonce, then the proof. */
  private static void reflect(ServerSocketChannel server) {
    try (SocketChannel channel = server.accept()) {
      ByteBuffer hello = read(channel, 56);
      ByteBuffer challenge = ByteBuffer.allocate(48);
      challenge.put(hello.slice(0, 12)).put(hello.slice(20, 36)).flip();
      channel.write(challenge);
      ByteBuffer verdict = ByteBuffer.allocate(36).putInt(Handshake.WELCOME);
      channel.write(verdict.put(read(channel, 32)).flip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ByteBuffer read(SocketChannel channel, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    while (buffer.hasRemaining()) {
      assertThat(channel.read(buffer)).isPositive();
    }
    return buffer.flip();
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Test
  void aRankOfAnotherJobIsRefusedByBoth() throws Exception {
    Links.Options options = options("another secret".getBytes(StandardCharsets.UTF_8));
    Links other = new Links(1, 2, options);
    try (Engine stranger =
        new Engine(new TransportDevice(other, 1, 2, 1000, 1 << 20, null), Waiting.ASLEEP)) {
      other.rankAddresses(List.of(links.rankAddress(), other.rankAddress()));
      assertThatThrownBy(() -> receive(stranger, 0))
          .isInstanceOf(RankGoneException.class)
          .hasMessageContaining("rank 0 is gone")
          .hasMessageContaining("secret of this job");
    }
    refused(1);
    assertThat(links.lastRefusal()).contains("has not the secret");
  }

  private static void receive(Engine engine, int from) {
    // Sends first, so that a connection is made.
    Operation send = new Operation();
    send.send(payload(), from, 5, 0);
    engine.isend(send);
    RuntimeException failure =
        engine.receive(new byte[8], BaseType.BYTE, 0, 8, from, 5, 0, op -> op.failure);
    if (failure != null) {
      throw failure;
    }
  }

  private static Payload payload() {
    return new DensePayload().set(new byte[8], BaseType.BYTE, 0, 8);
  }

  /** A connection of rank 1, which has proved itself. */
  private SocketChannel rankOne() throws Exception {
    SocketChannel channel = SocketChannel.open(address());
    channel.configureBlocking(false);
    assertThat(new Handshake(channel, SECRET).connect(1, 0)).isEqualTo(Handshake.WELCOME);
    return channel;
  }

  private void fails(String why) {
    RuntimeException failure =
        engine.receive(new byte[8], BaseType.BYTE, 0, 8, 1, 5, 0, op -> op.failure);
    assertThat(failure)
        .isInstanceOf(RankGoneException.class)
        .hasMessageContaining("rank 1 is gone")
        .hasMessageContaining(why);
    // And whatever comes later, at once.
    assertThatThrownBy(() -> engine.send(new byte[8], BaseType.BYTE, 0, 8, 1, 5, 0, false))
        .isInstanceOf(RankGoneException.class);
    assertThatThrownBy(() -> engine.probe(1, 5, 0, new Operation()))
        .isInstanceOf(RankGoneException.class);
  }

  @Test
  void aRankThatEndsFailsWhatWaitsForIt() throws Exception {
    rankOne().close();
    fails("the connection ended");
    assertThat(links.refused()).isZero();
  }

  /** Both connect, the one that ends has the connection that counts, and that never comes. */
  @Test
  void aRankThatEndsBeforeItConnectsFailsWhatWaitsForIt() throws Exception {
    Links own = new Links(1, 2, options(SECRET));
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(loopback(0));
        Engine one =
            new Engine(new TransportDevice(own, 1, 2, 1000, 1 << 20, null), Waiting.ASLEEP)) {
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      String zero = RankAddress.write(port, List.of(InetAddress.getLoopbackAddress()));
      own.rankAddresses(List.of(zero, own.rankAddress()));
      Operation send = one.isend(new byte[8], BaseType.BYTE, 0, 8, 0, 1, 0, true);
      try (SocketChannel channel = server.accept()) {
        channel.configureBlocking(false);
        Handshake handshake = new Handshake(channel, SECRET);
        assertThat(handshake.accept(2)).isEqualTo(1);
        handshake.answer(Handshake.CROSSED);
        channel.configureBlocking(true);
        assertThat(channel.read(ByteBuffer.allocate(1))).as("the end").isNegative();
      }
      one.ended(0, "it was killed");
      long until = System.nanoTime() + 60_000_000_000L;
      while (!one.test(send)) {
        assertThat(System.nanoTime()).as("still waits").isLessThan(until);
      }
      assertThat(send.failure)
          .isInstanceOf(RankGoneException.class)
          .hasMessageContaining("it was killed");
    }
  }

  /** Most often the answer cannot be written then. */
  @Test
  void aRankThatEndsBeforeItIsAnsweredFailsWhatWaitsForIt() throws Exception {
    try (Socket socket = new Socket(address().getAddress(), address().getPort())) {
      socket.setSoLinger(true, 0); // Closed by a reset, right behind the proof.
      sendProof(socket, LinksTest::rightProof);
    }
    fails("the connection failed");
  }

  @Test
  void anOversizedFrameEndsTheConnection() throws Exception {
    try (SocketChannel channel = rankOne()) {
      channel.write(frame(1 << 20, 1, 0, 100));
      fails("a frame of 1048576 bytes; 4096 are allowed");
    }
  }

  @Test
  void aFrameThatLiesEndsTheConnection() throws Exception {
    try (SocketChannel channel = rankOne()) {
      channel.write(frame(32, 1, 0, 100));
      fails("a frame of 0 bytes for a message of 100");
    }
  }

  @Test
  void aContextThatIsNoneEndsTheConnection() throws Exception {
    try (SocketChannel channel = rankOne()) {
      channel.write(frame(32, 3, 1 << 30, 100));
      fails("context 1073741824");
    }
  }

  @Test
  void anAnswerToNothingEndsTheConnection() throws Exception {
    for (int kind : new int[] {4, 5, 8}) {
      try (SocketChannel channel = rankOne()) {
        channel.write(frame(32, kind, 0, 0));
        fails("it sent");
      }
      engine.close();
      rankZeroOfTwo();
    }
  }

  private static ByteBuffer frame(int length, int kind, int context, long bytes) {
    ByteBuffer frame = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
    frame.putInt(length).putInt(kind).putInt(context).putInt(5).putLong(bytes).putLong(99);
    return frame.flip();
  }

  private void failsWithItsCause(ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(CommunicationException.class)
        .hasMessage(
            "a thread that makes connections of rank 0 failed:"
                + " java.lang.NoClassDefFoundError: some/Class")
        .hasCauseInstanceOf(NoClassDefFoundError.class);
  }

  private void errorsInThreadsOfConnections() {
    links.onNews(
        () -> {
          throw new NoClassDefFoundError("some/Class");
        });
  }

  private void receiveFromAnybody() {
    engine.receive(new byte[8], BaseType.BYTE, 0, 8, Device.ANY_SOURCE, 5, 0, op -> op.failure);
  }

  @Test
  void anErrorOfTheThreadThatConnectsFailsTheRankNowAndLater() throws Exception {
    Links other = new Links(1, 2, options(SECRET));
    try (Engine one =
        new Engine(new TransportDevice(other, 1, 2, 1000, 1 << 20, null), Waiting.ASLEEP)) {
      assertThat(one.rank()).isEqualTo(1);
      links.rankAddresses(List.of(links.rankAddress(), other.rankAddress()));
      errorsInThreadsOfConnections();
      failsWithItsCause(() -> receive(engine, 1));
      failsWithItsCause(this::receiveFromAnybody);
    }
  }

  @Test
  void anErrorOfAThreadThatAcceptsFailsTheRank() throws Exception {
    errorsInThreadsOfConnections();
    try (SocketChannel channel = rankOne()) {
      failsWithItsCause(this::receiveFromAnybody);
      channel.configureBlocking(true);
      assertThat(channel.read(ByteBuffer.allocate(1))).as("the end").isNegative();
    }
  }

  @Test
  void anExceptionOfTheHandshakeFailsTheRankThatConnects() throws Exception {
    Links other = new Links(1, 2, options(null));
    try (Engine one =
        new Engine(new TransportDevice(other, 1, 2, 1000, 1 << 20, null), Waiting.ASLEEP)) {
      other.rankAddresses(List.of(links.rankAddress(), other.rankAddress()));
      assertThatThrownBy(() -> receive(one, 0))
          .isInstanceOf(CommunicationException.class)
          .hasMessageStartingWith("a thread that makes connections of rank 1 failed: ")
          .hasCauseInstanceOf(NullPointerException.class);
    }
  }

  @Test
  void anErrorFailsVirtualThreadsThatWait() throws Exception {
    errorsInThreadsOfConnections();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    receiveFromAnybody();
                  } catch (RuntimeException e) {
                    thrown.set(e);
                  }
                });
    SocketChannel channel = rankOne();
    waiter.join(); // before the channel's end, which must not be what it is told
    channel.close();
    assertThat(thrown.get())
        .isInstanceOf(CommunicationException.class)
        .hasMessageStartingWith("the thread that makes progress for rank 0 failed: ")
        .hasRootCauseInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void networksAreReadBitByBit() throws Exception {
    InetAddress address = InetAddress.ofLiteral("10.1.200.7");
    assertThat(Network.holds("10.1.0.0/16", address)).isTrue();
    assertThat(Network.holds("10.1.192.0/18", address)).isTrue();
    assertThat(Network.holds("10.1.0.0/17", address)).isFalse();
    assertThat(Network.holds("0.0.0.0/0", address)).isTrue();
    assertThat(Network.holds("fd00::/8", address)).isFalse();
    for (String bad : List.of("10.1.0.0/33", "10.1/x", "host", "")) {
      assertThatThrownBy(() -> Network.check(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
