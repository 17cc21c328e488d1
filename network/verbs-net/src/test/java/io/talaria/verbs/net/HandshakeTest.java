// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.verbs.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.nio.authentication.KeyProof;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Peers that do not do as they should: they are closed, in time, and nobody else notices. */
@ExtendWith(Provider.class)
@Timeout(300)
class HandshakeTest {
  @TempDir Path directory;

  private Path key(String name, int fill) throws IOException {
    byte[] bytes = new byte[32];
    Arrays.fill(bytes, (byte) fill);
    return keyFile(directory.resolve(name), bytes);
  }

  /** A key file that only this user may read. */
  static Path keyFile(Path file, byte... bytes) throws IOException {
    return Files.setPosixFilePermissions(
        Files.write(file, bytes), PosixFilePermissions.fromString("rw-------"));
  }

  private NetOptions.Builder keyed(String name, int fill) throws IOException {
    return Pair.options().keyFile(key(name, fill));
  }

  /** Reads until the other side closes; gives what it has said after so many bytes. */
  private static String untilClosed(SocketChannel channel, int skip) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(4096);
    try {
      while (channel.read(all) >= 0 && all.hasRemaining()) {
        Thread.onSpinWait();
      }
    } catch (IOException e) {
      // A reset is an end, too.
    }
    return new String(
        all.array(), skip, Math.max(0, all.position() - skip), StandardCharsets.ISO_8859_1);
  }

  private static void write(SocketChannel channel, ByteBuffer frame) throws IOException {
    while (frame.hasRemaining()) {
      int ignored = channel.write(frame);
    }
  }

  private static ByteBuffer challenge(SocketChannel channel) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(Frame.HEADER_BYTES);
    while (frame.hasRemaining()) {
      assertThat(channel.read(frame)).isPositive();
    }
    return frame.flip();
  }

  private static ByteBuffer offer(boolean proved) {
    return Frame.write(Frame.OFFER, new byte[32], new byte[Offer.BYTES], proved, proved);
  }

  @Test
  void bothSidesNeedTheSameKey() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), keyed("b", 1), (c, m) -> Pair.answer(c, 5))) {
      Connection connection = pair.connect((c, m) -> c.attach(m.longAt(0)));
      Pair.send(connection, 1, 2);
      Pair.await("an answer", () -> Long.valueOf(5).equals(connection.attachment()));
    }
    try (Pair pair = new Pair(keyed("c", 1), keyed("d", 2), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessage("the peer refuses: the proof is wrong: both sides need the same key file");
    }
    try (Pair pair = new Pair(Pair.options(), keyed("e", 2), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .hasMessage("one side has a key, this one has not: give both the same key file");
    }
    try (Pair pair = new Pair(keyed("f", 2), Pair.options(), (c, m) -> {})) {
      assertThatThrownBy(() -> pair.connect((c, m) -> {}))
          .hasMessage("this side has a key, the other has not: give both the same key file");
      assertThatThrownBy(
              () -> pair.right.listen(new InetSocketAddress("192.0.2.1", 0), (c, m) -> {}))
          .hasMessageContaining("is not of the loopback interface");
      assertThatThrownBy(
              () -> pair.right.connect(new InetSocketAddress("192.0.2.1", 7), (c, m) -> {}))
          .hasMessageContaining("is not of the loopback interface");
    }
    assertThatThrownBy(
            () -> Pair.options().keyFile(keyFile(directory.resolve("short"), new byte[31])))
        .hasMessageContaining("has 31 bytes, it must have 32 to 4096");
    Path open = keyFile(directory.resolve("open"), new byte[32]);
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r-----"));
    assertThatThrownBy(() -> Pair.options().keyFile(open))
        .hasMessageContaining("is open to others; run: chmod 600");
  }

  @Test
  void anUnsignedOfferIsRefused() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), (c, m) -> {});
        SocketChannel channel = SocketChannel.open(pair.address)) {
      ByteBuffer ignored = challenge(channel);
      write(channel, offer(false).flip());
      assertThat(untilClosed(channel, 0)).contains("this side has a key, the other has not");
      Pair.await("the count", () -> pair.right.metrics().refused() == 1);
    }
  }

  @Test
  void aReplayedOfferIsRefused() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), (c, m) -> {})) {
      byte[] recorded;
      try (SocketChannel channel = SocketChannel.open(pair.address)) {
        // A sound offer, as somebody on the way could record it.
        Recorder recorder = new Recorder(pair.address);
        Connection connection = pair.left.connect(recorder.address(), (c, m) -> {});
        assertThat(connection.isOpen()).isTrue();
        recorded = recorder.recorded();
        ByteBuffer ignored = challenge(channel);
        write(channel, ByteBuffer.wrap(recorded));
        assertThat(untilClosed(channel, 0)).contains("the proof is wrong");
        connection.close();
        recorder.close();
      }
    }
  }

  /** What a peer sends behind its offer. */
  private interface Forgery {
    byte[] proof(byte[] challenge, byte[] offer);
  }

  private static byte[] bytes(ByteBuffer from) {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    return bytes;
  }

  private static byte[] filled(int fill) {
    byte[] bytes = new byte[32];
    Arrays.fill(bytes, (byte) fill);
    return bytes;
  }

  private static KeyProof keyProof(String protocol, int version, byte[] challenge, byte[] offer) {
    byte[] caller = Arrays.copyOfRange(offer, 12, 44);
    byte[] answerer = Arrays.copyOfRange(challenge, 12, 44);
    return new KeyProof(protocol, version, filled(1), caller, answerer);
  }

  private static byte[] rightProof(byte[] challenge, byte[] offer) {
    return keyProof("Talaria verbs-net by TCP", 2, challenge, offer).proof(true, challenge, offer);
  }

  private static String prove(Pair pair, int proofBytes, Forgery forgery) throws IOException {
    try (SocketChannel channel = SocketChannel.open(pair.address)) {
      byte[] challenge = bytes(challenge(channel));
      byte[] body = new byte[Offer.BYTES];
      ByteBuffer frame = Frame.write(Frame.OFFER, KeyProof.nonce(), body, true, true).flip();
      frame.putShort(8, (short) (frame.limit() + proofBytes));
      byte[] offer = bytes(frame);
      ByteBuffer all = ByteBuffer.allocate(offer.length + proofBytes).put(offer);
      write(channel, all.put(forgery.proof(challenge, offer)).flip());
      return untilClosed(channel, Frame.HEADER_BYTES);
    }
  }

  @Test
  void aProofThatIsOfAnythingElseIsRefused() throws Exception {
    try (Pair pair = new Pair(keyed("a", 1), (c, m) -> {})) {
      byte[][] recorded = new byte[1][];
      assertThat(prove(pair, 32, (challenge, offer) -> recorded[0] = rightProof(challenge, offer)))
          .as("the right one")
          .contains("the peer offers nonsense: an MTU of 0 bytes");
      byte[] otherNonce = new byte[Frame.HEADER_BYTES];
      List<Forgery> forgeries =
          List.of(
              (challenge, offer) -> recorded[0],
              (challenge, offer) -> rightProof(otherNonce, offer),
              (challenge, offer) -> rightProof(challenge, Arrays.copyOf(offer, 50)),
              // Of the other side.
              (challenge, offer) ->
                  keyProof("Talaria verbs-net by TCP", 2, challenge, offer)
                      .proof(false, challenge, offer),
              // With another queue pair.
              (challenge, offer) ->
                  keyProof("Talaria verbs-net by TCP", 2, challenge, offer)
                      .proof(true, challenge, changed(offer, Frame.HEADER_BYTES + 8)),
              // Of another protocol or version.
              (challenge, offer) ->
                  keyProof("Talaria verbs-net by RDMA CM", 2, challenge, offer)
                      .proof(true, challenge, offer),
              (challenge, offer) ->
                  keyProof("Talaria verbs-net by TCP", 1, challenge, offer)
                      .proof(true, challenge, offer));
      for (int i = 0; i < forgeries.size(); i++) {
        assertThat(prove(pair, 32, forgeries.get(i)))
            .as("forgery %d", i)
            .contains("the proof is wrong");
      }
      for (int length : new int[] {0, 1, 31, 33, 64}) {
        assertThat(prove(pair, length, (c, offer) -> Arrays.copyOf(rightProof(c, offer), length)))
            .as("a proof of %d bytes", length)
            .contains("the proof is wrong");
      }
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  private static byte[] changed(byte[] bytes, int at) {
    byte[] changed = bytes.clone();
    changed[at] ^= 1;
    return changed;
  }

  @Test
  void theOneThatConnectsFindsItsOwnProofReflected() throws Exception {
    try (ServerSocketChannel server =
            ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        VerbsNode node = VerbsNode.open(keyed("a", 1).build())) {
      Thread mirror = Thread.ofVirtual().start(() -> reflect(server));
      assertThatThrownBy(
              () -> node.connect((InetSocketAddress) server.getLocalAddress(), (c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessage("the proof is wrong: both sides need the same key file");
      mirror.join();
    }
  }

  /** Sends back the offer with its proof, as an answer. */
  private static void reflect(ServerSocketChannel server) {
    try (SocketChannel channel = server.accept()) {
      byte[] none = new byte[0];
      write(channel, Frame.write(Frame.CHALLENGE, KeyProof.nonce(), none, false, true).flip());
      ByteBuffer offer = ByteBuffer.allocate(Frame.HEADER_BYTES + Offer.BYTES + 32);
      while (offer.hasRemaining()) {
        assertThat(channel.read(offer)).isPositive();
      }
      write(channel, offer.put(6, Frame.ANSWER).flip());
      assertThat(untilClosed(channel, 0)).isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aFrameThatIsTooLongIsRefusedBeforeItIsRead() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {});
        SocketChannel channel = SocketChannel.open(pair.address)) {
      ByteBuffer ignored = challenge(channel);
      ByteBuffer frame = offer(false).flip();
      frame.putShort(8, (short) 513);
      write(channel, frame.limit(Frame.prefixBytes()));
      assertThat(untilClosed(channel, 0)).contains("a frame of 513 bytes, but there are 44 to 512");
    }
  }

  @Test
  void anotherVersionAndAnotherProtocolAreRefusedByName() throws Exception {
    try (Pair pair = new Pair(Pair.options(), (c, m) -> {})) {
      try (SocketChannel channel = SocketChannel.open(pair.address)) {
        ByteBuffer ignored = challenge(channel);
        ByteBuffer frame = offer(false).flip();
        frame.putShort(4, (short) 0);
        write(channel, frame);
        assertThat(untilClosed(channel, 0))
            .contains("version 0 of the protocol, this side version 2");
      }
      try (SocketChannel channel = SocketChannel.open(pair.address)) {
        ByteBuffer ignored = challenge(channel);
        write(
            channel, ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
        assertThat(untilClosed(channel, 0))
            .contains("does not speak this protocol: it begins with");
      }
      try (SocketChannel channel = SocketChannel.open(pair.address)) {
        ByteBuffer ignored = challenge(channel);
        write(channel, offer(false).flip());
        assertThat(untilClosed(channel, 0)).contains("the peer offers nonsense: an MTU of 0 bytes");
      }
      Pair.await("the count", () -> pair.right.metrics().refused() == 3);
      assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
    }
  }

  @Test
  void aSilentPeerIsClosedInTime() throws Exception {
    // The other side also has to send its challenge within this time.
    try (Pair pair = new Pair(Pair.options().handshakeMs(5_000), (c, m) -> {});
        SocketChannel silent = SocketChannel.open(pair.address);
        SocketChannel slow = SocketChannel.open(pair.address)) {
      ByteBuffer ignored = challenge(slow);
      write(slow, offer(false).flip().limit(20));
      assertThat(untilClosed(silent, 0)).hasSize(Frame.HEADER_BYTES);
      assertThat(untilClosed(slow, 0)).isEmpty();
      Pair.await("the count", () -> pair.right.metrics().refused() == 2);
    }
    assertThat(Optional.of(NetOptions.builder().build().handshakeMs())).contains(5000);
  }

  @Test
  void aServerThatSaysNothingIsGivenUp() throws Exception {
    try (ServerSocketChannel mute =
            ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        VerbsNode node = VerbsNode.open(Pair.options().handshakeMs(300).build())) {
      assertThatThrownBy(
              () -> node.connect((InetSocketAddress) mute.getLocalAddress(), (c, m) -> {}))
          .isInstanceOf(ExchangeException.class)
          .hasMessage("the peer has not finished the handshake within 300 ms");
      assertThat(node.metrics().connections()).isZero();
    }
  }

  @Test
  void aNodeThatIsFullSaysSo() throws Exception {
    for (int threads = 1; threads <= 2; threads++) {
      NetOptions.Builder full =
          Pair.options().connections(1).sendThreads(threads).receiveThreads(threads);
      try (Pair pair = new Pair(Pair.options(), full, (c, m) -> {})) {
        Connection connection = pair.connect((c, m) -> {});
        assertThatThrownBy(() -> pair.connect((c, m) -> {}))
            .hasMessage(
                "the peer refuses: the node has all its 1 connections: close some, or open it with"
                    + " more");
        connection.close();
        CloseReason ignored = Pair.closed(connection);
        Pair.await("its place", () -> pair.right.metrics().connections() == 0);
        assertThat(pair.connect((c, m) -> {}).isOpen()).isTrue();
      }
    }
  }
}
